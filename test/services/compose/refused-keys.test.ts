import { describe, expect, test } from 'bun:test'
import { refusalOf } from './refusal.ts'
import { fileWith, stackFrom, web } from './stack.ts'

const many = (count: number, entry: (n: number) => string) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => entry(n)))

describe('D1: power over the host is listed as a danger', () => {
  test.each([
    ['privileged: true', 'privileged', ''],
    ['network_mode: host', 'host_namespace', 'network'],
    ['pid: host', 'host_namespace', 'pid'],
    ['ipc: host', 'host_namespace', 'ipc'],
    ['devices: ["/dev/dri:/dev/dri:rw"]', 'device', '/dev/dri'],
    ['cap_add: [SYS_ADMIN]', 'capability', 'SYS_ADMIN'],
    ['cap_add: [SYS_NICE]', 'capability', 'SYS_NICE'],
    ['cap_add: [ALL]', 'capability', 'ALL'],
    ['extra_hosts: ["host:host-gateway"]', 'host_gateway', 'host'],
    ['security_opt: ["seccomp=unconfined"]', 'unconfined', 'seccomp'],
    ['security_opt: ["apparmor:unconfined"]', 'unconfined', 'apparmor'],
  ])('%s', (line, kind, value) => {
    const { dangers } = stackFrom(fileWith(line))
    expect(dangers).toMatchObject([{ service: 'web', kind, value }])
  })

  test('a file without any has none', () => {
    const lines = `privileged: false
network_mode: bridge
ipc: private
cap_add: [NET_BIND_SERVICE, IPC_LOCK]
security_opt: ["no-new-privileges:true"]`
    expect(stackFrom(fileWith(lines))).toMatchObject({ dangers: [], notes: [] })
  })

  test('of a directory of the host that comes from another service, for each that has it', () => {
    const text = `services:
  web: {image: a, volumes: ["/srv:/data"]}
  job: {image: a, volumes_from: ["web:ro"]}
`
    const { dangers, services } = stackFrom(text)
    expect(dangers.map(({ key }) => key)).toEqual(['web host_path /srv', 'job host_path /srv'])
    expect(services.get('job')!.binds).toEqual([{ source: '/srv', path: '/data', readOnly: true }])
  })
})

describe('D1: any other key is refused by its path and place', () => {
  test.each([
    'userns_mode: host',
    'uts: host',
    'cgroup: host',
    'cgroup_parent: /x',
    'runtime: nvidia',
    'group_add: [docker]',
    'oom_kill_disable: true',
    'MaskedPaths: []',
    'ReadonlyPaths: []',
    'device_cgroup_rules: ["c 1:3 mr"]',
    'Privileged: true',
    '__proto__: {privileged: true}',
  ])('%s', (line) => {
    const key = line.split(':')[0]!
    const refusal = refusalOf(() => web(line))
    expect(refusal).toStartWith(
      `compose.yaml, line 4, column 5: services.web.${key} isn’t supported.`,
    )
    expect(refusal).toMatch(/supported\. [A-Z].*\.$/)
  })

  test.each([
    ['network_mode: service:db', 'services.web.network_mode'],
    ['network_mode: none', 'services.web.network_mode'],
    ['pid: service:db', 'services.web.pid'],
    ['security_opt: ["seccomp=/etc/own.json"]', 'services.web.security_opt[0]'],
    ['scale: -1', 'services.web.scale'],
    ['links: ["db:a b"]', 'services.web.links[0]'],
    ['volumes_from: ["container:x:ro"]', 'services.web.volumes_from[0]'],
    ['deploy: {restart_policy: {condition: sometimes}}', 'restart_policy.condition'],
    ['sysctls: {kernel.core_pattern: x}', 'services.web.sysctls.kernel.core_pattern'],
    ['sysctls: {vm.max_map_count: 1}', 'services.web.sysctls.vm.max_map_count'],
    ['deploy: {replicas: some}', 'services.web.deploy.replicas'],
    ['deploy: {resources: {reservations: {devices: []}}}', 'reservations.devices'],
    ['logging: {driver: syslog}', 'services.web.logging.driver'],
    ['networks: {default: {ipv4_address: 10.0.0.5}}', 'networks.default.ipv4_address'],
    ['healthcheck: {test: [curl, x]}', 'services.web.healthcheck.test'],
    ['labels: {davit.owner: me}', 'services.web.labels'],
    ['labels: ["a\\nb=c"]', 'services.web.labels'],
    ['container_name: "a b; rm"', 'services.web.container_name'],
    ['hostname: -x', 'services.web.hostname'],
    ['user: "0; id"', 'services.web.user'],
    ['image: "a b"', 'The key image is repeated here'],
    ['mem_limit: 1k', 'services.web.mem_limit'],
    ['restart: sometimes', 'services.web.restart'],
    ['stop_grace_period: 10', 'services.web.stop_grace_period'],
    ['command: "a \'b"', 'services.web.command'],
    ['init: maybe', 'services.web.init'],
    ['tmpfs: ["/run:suid"]', 'services.web.tmpfs'],
    ['logging: {options: {max-size: 1b}}', 'services.web.logging.options.max-size'],
    ['logging: {options: {max-file: 0}}', 'services.web.logging.options.max-file'],
    ['devices: ["/etc/passwd"]', 'services.web.devices[0]'],
    ['devices: ["/dev/../etc"]', 'services.web.devices[0]'],
  ])('%s names %s', (line, key) => {
    expect(refusalOf(() => web(line))).toContain(key)
  })

  test.each([
    ['deploy: {resources: {limits: {pids: 4097}}}', 'limits.pids', '4096'],
    ['pids_limit: 1000000', 'services.web.pids_limit', '4096'],
    ['pids_limit: -1', 'services.web.pids_limit', '4096'],
    ['mem_limit: 5t', 'services.web.mem_limit', '4194304m'],
    ['deploy: {resources: {limits: {memory: 9000000g}}}', 'limits.memory', '4194304m'],
    ['deploy: {resources: {reservations: {memory: 513m}}}', 'reservations.memory', '512m'],
    ['cpus: 513', 'services.web.cpus', '512'],
    ['cpus: 0', 'services.web.cpus', '512'],
    ['stop_grace_period: 24h', 'services.web.stop_grace_period', '300s'],
    ['shm_size: 9t', 'services.web.shm_size', '4194304m'],
    ['tmpfs: ["/run:mode=0700,size=999999999g"]', 'services.web.tmpfs[0]', '4194304m'],
    ['volumes: [{type: tmpfs, target: /x, tmpfs: {size: 9t}}]', 'tmpfs.size', '4194304m'],
    ['ulimits: {nofile: 1048577}', 'services.web.ulimits.nofile', '1048576'],
    ['ulimits: {nofile: {soft: 1, hard: -1}}', 'services.web.ulimits.nofile.hard', '1048576'],
    ['ulimits: {rtprio: 99}', 'services.web.ulimits.rtprio', 'from 0 to 0'],
    ['healthcheck: {timeout: 25h}', 'services.web.healthcheck.timeout', '86400s'],
    [`volumes: ${many(51, (n) => `/data${n}`)}`, 'services.web.volumes', '50'],
    [`tmpfs: ${many(51, (n) => `/tmp${n}`)}`, 'services.web.tmpfs', '50'],
    [`ports: ${many(101, (n) => `${n + 1}`)}`, 'services.web.ports', '100'],
    [`expose: ${many(1001, (n) => `${n + 1}`)}`, 'services.web.expose', '1000'],
    [`extra_hosts: ${many(101, (n) => `h${n}:10.0.0.5`)}`, 'services.web.extra_hosts', '100'],
    [`labels: {a: ${'x'.repeat(32_768)}}`, 'services.web.labels', '32 KiB'],
    [`command: ["${'x'.repeat(32_769)}"]`, 'services.web.command', '32 KiB'],
    [`entrypoint: ["${'x'.repeat(32_769)}"]`, 'services.web.entrypoint', '32 KiB'],
  ])('beyond what a container may be given, in %p, %s says so and names %s', (line, key, most) => {
    const refusal = refusalOf(() => web(line))
    expect(refusal).toContain(key)
    expect(refusal).toContain(most)
  })

  test.each([
    ['secrets: {a: {external: true}}', 'secrets.a.external isn’t supported'],
    ['secrets: {a: {file: ./x}}', 'secrets.a.file isn’t among the given files'],
    ['include: [x]', 'include isn’t supported'],
    ['networks: {out: {external: true}}', 'networks.out is external'],
    ['networks: {x: {driver: host}}', 'networks.x.driver'],
    ['networks: {x: {internal: true}}', 'networks.x is internal'],
    ['configs: {x: {external: true}}', 'configs.x.external'],
  ])('%s: %s', (top, message) => {
    expect(refusalOf(() => web('', { top }))).toContain(message)
  })

  test.each([
    ['services: []', 'services must have keys'],
    ['services: {}', 'has no services'],
    ['services:', 'has no services'],
    ['- a', 'keys at the top level'],
    ['just text', 'keys at the top level'],
    ['services: {web: }', 'services.web must have keys below it'],
    ['services: {web: {}}', 'services.web.image must be an image'],
    ['services: {"a b": {image: x}}', 'has the name "a b"'],
    ['services: {web: {build: .}}', 'services.web.build isn’t supported'],
    ['services: {web: {image: a, profiles: [x]}}', 'has no services'],
    ['services: {web: {image: a, links: [db]}}', 'uses db, which isn’t a service'],
    ['services: {web: {image: [a]}}', 'services.web.image must be an image'],
    ['services: {web: {image: a/../b}}', 'services.web.image is "a/../b"'],
    ['services: {web: {image: ../b}}', 'services.web.image is "../b"'],
    ['services: {web: {image: a//b}}', 'services.web.image is "a//b"'],
    ['services: {web: {image: a/}}', 'services.web.image is "a/"'],
  ])('%s: %s', (text, message) => {
    expect(refusalOf(() => stackFrom(text))).toContain(message)
  })

  test('one file that is mounted again and again', () => {
    const volumes = Array.from({ length: 20 }, (_, n) => `./big:/big${n}`)
    const files = new Map([['big', 'x'.repeat(1_000_000)]])
    const mounted = () => web(`volumes: ${JSON.stringify(volumes)}`, { files })
    expect(refusalOf(mounted)).toContain('more than 8 MiB')
  })
})

test.each([
  [['/srv:/a', '/srv/x:/b'], ['/srv/x']],
  [['/srv/:/a', '/srv/x/y/:/b'], ['/srv/x/y']],
  [['/srv/../srv:/a', '/srv/./x:/b:ro'], ['/srv/x']],
  [['/srv:/a:ro', '/srv/x:/b'], []],
  [['/srv:/a', '/srv:/b', '/srv2:/c'], []],
  [['/:/a', '/srv:/b'], []],
])('of %j an admin allows apart what is inside a path that is written: %j', (volumes, nested) => {
  const [first, ...others] = volumes
  const text = (first: string[], other: string[]) =>
    `services: {web: {image: a, volumes: ${JSON.stringify(first)}}, x: {image: b, volumes: ${JSON.stringify(other)}}}`
  for (const file of [text(volumes, []), text([first!], others)])
    expect(
      stackFrom(file)
        .dangers.filter(({ kind }) => kind === 'nested_path')
        .map(({ value }) => value),
    ).toEqual(nested)
})
