import { describe, expect, test } from 'bun:test'
import { refusalOf } from './refusal.ts'
import { fileWith, stackFrom, web } from './stack.ts'

describe('ports', () => {
  test('have one form, short or long', () => {
    const lines = `
ports:
  - 80
  - "8080:80"
  - "127.0.0.1:9000:90/udp"
  - "[::1]:9001:91"
  - "127.0.0.1::92"
  - target: 5432
    published: "15432"
    host_ip: 0.0.0.0
    protocol: tcp
    mode: host`
    expect(web(lines).ports).toEqual([
      { container: 80, host: null, protocol: 'tcp', loopback: false },
      { container: 80, host: 8080, protocol: 'tcp', loopback: false },
      { container: 90, host: 9000, protocol: 'udp', loopback: true },
      { container: 91, host: 9001, protocol: 'tcp', loopback: true },
      { container: 92, host: null, protocol: 'tcp', loopback: true },
      { container: 5432, host: 15432, protocol: 'tcp', loopback: false },
    ])
  })

  test.each([
    '22:22',
    '80:80',
    '443:443',
    '2375:80',
    '2376:80',
    '1023:80',
    '0:80',
    '65536:80',
    '8080:0',
    '8080:65536',
    '8080-8090:80-90',
    '3000-3005',
    '80/sctp',
    '192.168.1.1:8080:80',
    '8080:80:90:100',
    'abc',
    '-1:80',
  ])('D7: %s is refused', (port) => {
    expect(refusalOf(() => web(`ports: ["${port}"]`))).toContain('services.web.ports[0]')
  })

  test('D7: two services on one port of the host are refused', () => {
    const text =
      'services:\n  a: {image: a, ports: ["8080:1"]}\n  b: {image: b, ports: ["8080:2"]}\n'
    expect(refusalOf(() => stackFrom(text))).toContain('port 8080/tcp of the host twice')
    expect(stackFrom(text.replace('"8080:2"', '"8080:2/udp"')).services.size).toBe(2)
  })
})

describe('volumes', () => {
  const top = 'volumes: {data: , other: {driver: local}}'

  test('have one form, short or long, and a name of their own where the file gives none', () => {
    const lines = `
volumes:
  - data:/data
  - data:/again:ro,z
  - /var/cache/nginx
  - {type: volume, source: other, target: /other/, read_only: true}
  - {type: tmpfs, target: /run, tmpfs: {size: 64m, mode: 1777}}
tmpfs: [/tmp, "/var/tmp:size=1m,mode=0700"]`
    const service = web(lines, { top })
    expect(service.volumes).toEqual([
      { volume: 'data', path: '/data', readOnly: false },
      { volume: 'data', path: '/again', readOnly: true },
      { volume: 'web-var-cache-nginx', path: '/var/cache/nginx', readOnly: false },
      { volume: 'other', path: '/other', readOnly: true },
    ])
    expect(service.tmpfs).toEqual([
      { path: '/run', options: 'size=67108864,mode=1777' },
      { path: '/tmp', options: '' },
      { path: '/var/tmp', options: 'size=1m,mode=0700' },
    ])
  })

  test('whose content is given become files to write, never mounts of the host', () => {
    const files = new Map([
      ['./init.sql', 'select 1'],
      ['conf/a.xml', '<a/>'],
      ['./conf/sub/run.sh', '#!/bin/sh\n'],
    ])
    const lines = `
volumes:
  - ./init.sql:/docker-entrypoint-initdb.d/init.sql:ro
  - ./conf:/etc/app
  - {type: bind, source: ./x, target: /etc/x, content: "hello"}
configs: [plain, {source: other, target: /etc/other, mode: 0600}]`
    const top = 'configs: {plain: {content: a}, other: {file: ./conf/a.xml}}'
    const stack = stackFrom(fileWith(lines, top), { files })
    const service = stack.services.get('web')!
    expect(service.files).toEqual([
      { path: '/docker-entrypoint-initdb.d/init.sql', content: 'select 1', mode: 0o644 },
      { path: '/etc/app/a.xml', content: '<a/>', mode: 0o644 },
      { path: '/etc/app/sub/run.sh', content: '#!/bin/sh\n', mode: 0o755 },
      { path: '/etc/x', content: 'hello', mode: 0o644 },
      { path: '/plain', content: 'a', mode: 0o644 },
      { path: '/etc/other', content: '<a/>', mode: 0o600 },
    ])
    expect([...service.binds, ...service.volumes, ...stack.dangers]).toEqual([])
  })

  test.each(['./x:/y', '~:/y', '~/x:/y', '..:/y', '.:/y', '../../etc:/y', 'a/b:/y'])(
    'D2: %s is refused',
    (mount) => {
      expect(refusalOf(() => web(`volumes: ["${mount}"]`))).toContain('named volume')
    },
  )

  test.each([
    'data:y',
    'data:/',
    'data:/a/../..',
    'data:/x:rshared',
    'data:/x:ro:z',
    'un:/x',
    '$x:/x',
  ])('D2: %s is refused too', (mount) => {
    expect(refusalOf(() => web(`volumes: ["${mount}"]`, { top }))).toContain('volumes[0]')
  })

  test.each([
    ['/:/host', 'host_path', '/'],
    ['/var/run/docker.sock:/s', 'engine_socket', '/var/run/docker.sock'],
    ['/run//containerd/containerd.sock:/s:ro', 'engine_socket', '/run/containerd/containerd.sock'],
    ['/data/../etc:/x', 'host_path', '/etc'],
  ])('D2: %s is a danger, by its real path', (mount, kind, value) => {
    const { dangers } = stackFrom(fileWith(`volumes: ["${mount}"]`))
    expect(dangers).toMatchObject([{ service: 'web', kind, value, key: `web ${kind} ${value}` }])
  })

  test.each([
    'volumes: {data: {driver_opts: {type: none, o: bind, device: /}}}',
    'volumes: {data: {external: true}}',
    'volumes: {data: {driver: nfs}}',
    'volumes: {"../x": }',
  ])('D3, D4: %s is refused', (top) => {
    expect(refusalOf(() => web('volumes: []', { top }))).toContain('volumes.')
  })
})

describe('the environment', () => {
  test('has one form, and takes the values of the file’s variables by name', () => {
    const lookup = (name: string) => (name === 'GIVEN' ? 'v' : undefined)
    const list = web('environment: [A=b=c, GIVEN, GONE, "E="]', { lookup }).environment
    expect([...list]).toEqual([
      ['A', 'b=c'],
      ['GIVEN', 'v'],
      ['E', ''],
    ])
    const map = web('environment: {N: 5, T: true, GIVEN: , F: 1.5}', { lookup }).environment
    expect([...map]).toEqual([
      ['N', '5'],
      ['T', 'true'],
      ['GIVEN', 'v'],
      ['F', '1.5'],
    ])
  })

  test('D8: keeps line breaks and the names that JavaScript objects have of their own', () => {
    const { environment } = web('environment: {__proto__: "a\\nb", constructor: c}')
    expect([...environment]).toEqual([
      ['__proto__', 'a\nb'],
      ['constructor', 'c'],
    ])
  })

  test('comes from the files that are given, under what the service says itself', () => {
    const files = new Map([['.env', '# own\nA=1\nB="two words"\n']])
    const lines = 'env_file: [.env, {path: ./absent, required: false}]\nenvironment: {A: own}'
    expect([...web(lines, { files }).environment]).toEqual([
      ['A', 'own'],
      ['B', 'two words'],
    ])
    expect(refusalOf(() => web('env_file: .env'))).toContain('wants the file ".env"')
  })

  test.each(['["=x"]', '{"A=B": c}', '{"": c}', '{"a b": c}', '{A: [1]}', '{A: {b: c}}'])(
    'D8: %s is refused',
    (environment) => {
      expect(refusalOf(() => web(`environment: ${environment}`))).toContain('environment')
    },
  )

  test('D8: a value of 128 KB is refused, as is one with a NUL', () => {
    const big = web.bind(null, 'environment: [BIG]', { lookup: () => 'x'.repeat(128 * 1024) })
    expect(refusalOf(big)).toContain('32 KiB')
    const nul = web.bind(null, 'environment: [NUL]', { lookup: () => 'a\0b' })
    expect(refusalOf(nul)).toContain('NUL')
  })
})

const many = (count: number, entry: (n: number) => string) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => entry(n)))

describe('the other keys', () => {
  test('have one form', () => {
    const lines = `
command: sh -c "echo 'a b' $HOME" x\\ y ''
entrypoint: ["/bin/tini", --]
expose: ["80", 443/tcp]
container_name: site
hostname: web.local
user: "1000:1000"
working_dir: /srv
labels: ["a=b", c]
platform: linux/arm64
cap_add: [CAP_NET_RAW]
cap_drop: [all]
ulimits: {nproc: 65535, nofile: {soft: 1024, hard: 2048}}
shm_size: 1.5gb
extra_hosts: ["db:10.0.0.5", "v6=::1"]
stop_signal: SIGINT
stop_grace_period: 1m30s
sysctls: {net.core.somaxconn: 1024}
read_only: true
init: false
mem_limit: 512m
deploy: {resources: {limits: {cpus: "0.5", memory: 1g, pids: 99}, reservations: {memory: 64m}}}
restart: on-failure:5
logging: {driver: local, options: {max-size: 20m, max-file: "2"}}
networks: {back: {aliases: [www]}}`
    expect(web(lines, { top: 'networks: {back: }' })).toMatchObject({
      command: ['sh', '-c', "echo 'a b' $HOME", 'x y', ''],
      entrypoint: ['/bin/tini', '--'],
      expose: [80, 443],
      aliases: ['site', 'www'],
      hostname: 'web.local',
      user: '1000:1000',
      workingDir: '/srv',
      labels: new Map([
        ['a', 'b'],
        ['c', ''],
      ]),
      platform: 'linux/arm64',
      capAdd: ['NET_RAW'],
      capDrop: ['ALL'],
      ulimits: [
        { name: 'nproc', soft: 65535, hard: 65535 },
        { name: 'nofile', soft: 1024, hard: 2048 },
      ],
      shmBytes: 1.5 * 2 ** 30,
      extraHosts: ['db:10.0.0.5', 'v6:::1'],
      stopSignal: 'SIGINT',
      stopTimeout: 90,
      sysctls: new Map([['net.core.somaxconn', '1024']]),
      readOnly: true,
      init: false,
      memoryBytes: 2 ** 30,
      reservedBytes: 64 * 2 ** 20,
      cpus: 0.5,
      pids: 99,
      restart: { name: 'on-failure', maximumRetries: 5 },
      logs: { maxSize: '20480k', maxFiles: 2 },
    })
  })

  test('limits may stand beside the image, and those of deploy count over them', () => {
    const beside = web('cpus: 0.25\npids_limit: 50\nmem_limit: 64m')
    expect(beside).toMatchObject({ cpus: 0.25, pids: 50, memoryBytes: 64 * 2 ** 20 })
    const both = web('cpus: 2\npids_limit: 9\ndeploy: {resources: {limits: {cpus: "1", pids: 8}}}')
    expect(both).toMatchObject({ cpus: 1, pids: 8 })
  })

  test('a health check is read in each of its forms', () => {
    const health = (text: string) => web(`healthcheck: ${text}`).health
    expect(
      health('{test: curl -f x, interval: 1m, timeout: 500ms, start_period: 2s, retries: 3}'),
    ).toEqual({
      disabled: false,
      test: ['CMD-SHELL', 'curl -f x'],
      interval: 60_000,
      timeout: 500,
      startPeriod: 2000,
      retries: 3,
    })
    expect(health('{test: [CMD, a, b]}')).toMatchObject({ test: ['CMD', 'a', 'b'] })
    // each look is a process of the engine's, whose time nobody's limits count
    expect(health('{interval: 1ms}')).toMatchObject({ interval: 1000 })
    expect(health('{test: [CMD-SHELL, a b]}')).toMatchObject({ test: ['CMD-SHELL', 'a b'] })
    expect(health('{interval: 5s}')).toMatchObject({ test: null, interval: 5000 })
    expect(health('{test: [NONE]}')).toEqual({ disabled: true })
    expect(health('{disable: true}')).toEqual({ disabled: true })
    expect(web('').health).toBeNull()
  })

  test('depends_on is read in both forms', () => {
    const text = (dependsOn: string) =>
      `services:\n  web: {image: a, depends_on: ${dependsOn}}\n  db: {image: b}\n`
    const of = (dependsOn: string) => stackFrom(text(dependsOn)).services.get('web')!.dependsOn
    const started = { service: 'db', condition: 'service_started', restart: false, required: true }
    expect(of('[db]')).toEqual([started] as never)
    expect(of('{db: {condition: service_healthy, restart: true}}')).toEqual([
      { service: 'db', condition: 'service_healthy', restart: true, required: true },
    ])
    expect(of('{gone: {condition: service_started, required: false}}')).toHaveLength(1)
    expect(refusalOf(() => of('[gone]'))).toContain('names gone, which is no service')
    expect(refusalOf(() => of('{db: {condition: ready}}'))).toContain('service_healthy')
  })

  test('x- keys may stand anywhere', () => {
    expect(web('x-note: {a: b}', { top: 'x-more: 1\nversion: "3.8"\nname: site' }).image).toBe(
      'nginx:1.27',
    )
  })
})

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
  ])('%s', (line, kind, value) => {
    const { dangers } = stackFrom(fileWith(line))
    expect(dangers).toMatchObject([{ service: 'web', kind, value }])
  })

  test('a file without any has none', () => {
    const lines = 'privileged: false\nipc: private\ncap_add: [NET_BIND_SERVICE, IPC_LOCK]'
    expect(stackFrom(fileWith(lines)).dangers).toEqual([])
  })
})

describe('D1: any other key is refused by its path and place', () => {
  test.each([
    'userns_mode: host',
    'uts: host',
    'cgroup: host',
    'security_opt: ["seccomp=unconfined"]',
    'cgroup_parent: /x',
    'volumes_from: [db]',
    'runtime: nvidia',
    'links: [db]',
    'group_add: [docker]',
    'oom_kill_disable: true',
    'MaskedPaths: []',
    'ReadonlyPaths: []',
    'device_cgroup_rules: ["c 1:3 mr"]',
    'build: .',
    'tty: true',
    'profiles: [a]',
    'Privileged: true',
    '__proto__: {privileged: true}',
  ])('%s', (line) => {
    const key = line.split(':')[0]!
    expect(refusalOf(() => web(line))).toStartWith(
      `compose.yaml, line 4, column 5: services.web.${key} is not supported.`,
    )
  })

  test.each([
    ['network_mode: service:db', 'services.web.network_mode'],
    ['pid: service:db', 'services.web.pid'],
    ['sysctls: {kernel.core_pattern: x}', 'services.web.sysctls.kernel.core_pattern'],
    ['sysctls: {vm.max_map_count: 1}', 'services.web.sysctls.vm.max_map_count'],
    ['deploy: {replicas: 2}', 'services.web.deploy.replicas'],
    ['deploy: {resources: {reservations: {devices: []}}}', 'reservations.devices'],
    ['logging: {driver: syslog}', 'services.web.logging.driver'],
    ['networks: {default: {ipv4_address: 10.0.0.5}}', 'networks.default.ipv4_address'],
    ['healthcheck: {test: [curl, x]}', 'services.web.healthcheck.test'],
    ['labels: {davit.owner: me}', 'services.web.labels'],
    ['labels: ["a\\nb=c"]', 'services.web.labels'],
    ['container_name: "a b; rm"', 'services.web.container_name'],
    ['hostname: -x', 'services.web.hostname'],
    ['user: "0; id"', 'services.web.user'],
    ['image: "a b"', 'The key image stands here a second time'],
    ['mem_limit: 1k', 'services.web.mem_limit'],
    ['restart: sometimes', 'services.web.restart'],
    ['stop_grace_period: 10', 'services.web.stop_grace_period'],
    ['command: "a \'b"', 'services.web.command'],
    ['init: maybe', 'services.web.init'],
    ['tmpfs: ["/run:suid"]', 'services.web.tmpfs'],
    ['logging: {options: {max-size: 1g}}', 'services.web.logging.options.max-size'],
    ['logging: {options: {max-file: 99}}', 'services.web.logging.options.max-file'],
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
    ['secrets: {a: {file: x}}', 'secrets is not supported'],
    ['include: [x]', 'include is not supported'],
    ['networks: {out: {external: true}}', 'networks.out is of outside'],
    ['networks: {x: {driver: host}}', 'networks.x.driver'],
    ['networks: {x: {internal: true}}', 'networks.x is internal'],
    ['configs: {x: {external: true}}', 'configs.x.external'],
  ])('%s: %s', (top, message) => {
    expect(refusalOf(() => web('', { top }))).toContain(message)
  })

  test.each([
    ['services: []', 'services wants keys'],
    ['services: {}', 'names no service'],
    ['services:', 'names no service'],
    ['- a', 'keys at the top level'],
    ['just text', 'keys at the top level'],
    ['services: {web: }', 'services.web wants keys below it'],
    ['services: {web: {}}', 'services.web.image wants an image'],
    ['services: {"a b": {image: x}}', 'has the name "a b"'],
    ['services: {web: {image: [a]}}', 'services.web.image wants an image'],
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
    expect(refusalOf(mounted)).toContain('over 8 MiB')
  })
})
