import { expect, test } from 'bun:test'
import { containerOptions } from '../../src/deployments/steps/container.ts'
import type { Run } from '../../src/deployments/run.ts'
import { containerConfig } from '../../src/docker/container-config.ts'
import type { ContainerOptions } from '../../src/docker/index.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { AppError } from '../../src/errors.ts'
import { environmentForm } from '../../src/environments/forms.ts'
import { harmlessCapabilities } from '../../src/services/compose/dangers.ts'
import { planContainers } from '../../src/services/compose/containers.ts'
import { answer, fakeEngine } from '../docker/fake-engine.ts'
import { collect } from '../docker/sandbox.ts'
import { stackFrom } from '../services/compose/stack.ts'
import { tarContext } from '../support/images.ts'

/** All that Davit ever asks of an engine for a container that nobody allowed more. */
const allowedKeys = [
  ...['Privileged', 'CapDrop', 'CapAdd', 'SecurityOpt', 'IpcMode', 'PublishAllPorts', 'ExtraHosts'],
  ...['Memory', 'MemorySwap', 'MemoryReservation', 'ShmSize', 'NanoCpus', 'PidsLimit', 'Ulimits'],
  ...['Sysctls', 'ReadonlyRootfs', 'Mounts', 'Tmpfs', 'RestartPolicy', 'Init', 'LogConfig'],
  ...['OomScoreAdj', 'NetworkMode', 'PortBindings'],
]

const id = '0198c0de-0000-7000-8000-00000000cafe'
const network = `davit-${id}`

/** Random, and the same each time: a failure can be looked at again. */
function random(seed: number) {
  const next = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
  const upTo = (count: number) => Math.floor(next() * count)
  const pick = <Item>(items: readonly Item[]) => items[upTo(items.length)]!
  const some = <Item>(items: readonly Item[], most: number) =>
    Array.from({ length: upTo(most + 1) }, () => pick(items))
  return { upTo, pick, some }
}

type Random = ReturnType<typeof random>

const paths = ['/', '/data', '/var/run/docker.sock', '..', './x', '~', '/proc', '/etc', '/a b']
const names = ['data', 'other', `davit-${id}-x`, '../x', 'A', '__proto__', 'constructor', '']
const odd = [true, false, 0, -1, 1e9, '', 'host', 'none', null, [], {}, 'container:x', '${X}']
const capabilities = [
  'SYS_ADMIN',
  'ALL',
  'KILL',
  'NET_RAW',
  'CAP_SYS_PTRACE',
  'chown',
  'SYS_MODULE',
]

/** A value for a key of a service: often a good one, often what an attack would write. */
const values: Record<string, (r: Random) => unknown> = {
  privileged: (r) => r.pick([true, false, 'true', 'yes', 1]),
  network_mode: (r) => r.pick(['host', 'bridge', 'none', 'container:x', 'service:a']),
  pid: (r) => r.pick(['host', 'container:x', 'private', '']),
  ipc: (r) => r.pick(['host', 'private', 'shareable', 'container:x']),
  uts: (r) => r.pick(odd),
  userns_mode: (r) => r.pick(odd),
  cap_add: (r) => r.some([...capabilities, ...harmlessCapabilities], 3),
  cap_drop: (r) => r.some(['ALL', 'CHOWN', ...capabilities], 2),
  security_opt: (r) => r.some(['seccomp=unconfined', 'apparmor=unconfined', 'label:disable'], 2),
  devices: (r) => r.some(['/dev/sda', '/dev/fuse:/dev/fuse:rwm', '/etc/passwd'], 2),
  sysctls: (r) => ({ [r.pick(['net.core.somaxconn', 'kernel.core_pattern', 'vm.x'])]: r.upTo(9) }),
  ulimits: (r) => ({ [r.pick(['nofile', 'nproc', 'x'])]: r.pick([1, { soft: 1, hard: 2 }, 'x']) }),
  volumes: (r) =>
    r
      .some(names, 3)
      .map(
        (name) => `${r.pick([name, r.pick(paths)])}:${r.pick(paths)}${r.pick(['', ':ro', ':z'])}`,
      ),
  tmpfs: (r) => r.some(['/run', '/tmp:size=1m', '/run:suid', '/x:exec,dev'], 2),
  ports: (r) =>
    r.some(['80', '8080:80', '0.0.0.0:22:22', '127.0.0.1:9000:90', '1-70000', '53/udp'], 2),
  extra_hosts: (r) => r.some(['a:10.0.0.1', 'b:host-gateway', 'c'], 2),
  labels: (r) => ({ [r.pick(['a', 'davit.owner', 'davit.instance', 'x.y'])]: 'z' }),
  logging: (r) => ({ driver: r.pick(['json-file', 'syslog', 'none', 'gelf', 'local']) }),
  restart: (r) => r.pick(['always', 'no', 'on-failure:3', 'unless-stopped', 'x']),
  read_only: (r) => r.pick([true, false, 'x']),
  init: (r) => r.pick([true, false]),
  user: (r) => r.pick(['root', '0:0', '1000', '0; id']),
  mem_limit: (r) => r.pick(['64m', '1g', '1k', 0, -1]),
  shm_size: (r) => r.pick(['1m', '1g', -1]),
  cgroup_parent: (r) => r.pick(odd),
  runtime: (r) => r.pick(odd),
  oom_kill_disable: (r) => r.pick(odd),
  oom_score_adj: (r) => r.pick([-1000, 0]),
  volumes_from: (r) => r.pick(odd),
  group_add: (r) => r.pick(odd),
  links: (r) => r.pick(odd),
  command: (r) => r.pick(['sh -c "id"', ['a'], '$(id)']),
  environment: (r) => ({ [r.pick(names)]: r.pick(['x', 'a\nb', '${X}']) }),
}

function aFile(r: Random) {
  const service: Record<string, unknown> = { image: 'busybox' }
  const keys = Object.keys(values)
  for (const key of new Set(r.some(keys, 4))) service[key] = values[key]!(r)
  const volumes = Object.fromEntries(names.filter(Boolean).map((name) => [name, null]))
  return { services: { web: service }, volumes: r.pick([volumes, { data: null, other: null }]) }
}

/** The containers, or null where the file is refused as anything is that a user may read. */
function optionsOf(text: string): ContainerOptions | null {
  try {
    const context = { id, name: 'n', labels: { 'davit.owner': id }, network, publishAddress: '::1' }
    return planContainers(stackFrom(text), context)[0]!.options
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

const fixed = {
  Privileged: false,
  PublishAllPorts: false,
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges:true'],
  IpcMode: 'private',
  NetworkMode: network,
  OomScoreAdj: 500,
}
const ownVolume = new RegExp(`^davit-${id}-[a-z0-9_.-]+$`, 'i')

/** What of a container goes beyond the profile. */
function harmOf(options: ContainerOptions): string[] {
  const { HostConfig: host, NetworkingConfig, Labels } = containerConfig(options)
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  const set = Object.entries(host)
  const wrong = Object.entries(fixed).filter(([key, value]) => !same(Object(host)[key], value))
  return [
    ...set.map(([key]) => key).filter((key) => !allowedKeys.includes(key)),
    ...wrong.map(([key]) => key),
    ...host.CapAdd.filter((name) => !harmlessCapabilities.includes(name)),
    ...host.Mounts.filter(({ Type }) => Type !== 'volume').map(({ Type }) => Type),
    ...host.Mounts.map(({ Source }) => Source).filter((source) => !ownVolume.test(source)),
    ...Object.values(host.PortBindings)
      .flatMap((bindings) => bindings.map(({ HostIp }) => HostIp))
      .filter((address) => !['::1', '127.0.0.1'].includes(address)),
    ...(same(Object.keys(NetworkingConfig.EndpointsConfig), [network]) ? [] : ['networks']),
    ...(host.Memory > 0 && host.MemorySwap === host.Memory ? [] : ['memory']),
    ...(host.PidsLimit > 0 ? [] : ['processes']),
    ...(host.LogConfig.Type === 'json-file' ? [] : ['log driver']),
    ...(Labels['davit.owner'] === id ? [] : ['owner']),
  ]
}

test('what goes beyond the profile is seen', () => {
  const granted = {
    privileged: true,
    hostNetwork: true,
    binds: [{ source: '/', path: '/x', readOnly: false }],
  }
  const options = optionsOf('services: {web: {image: busybox}}')!
  expect(harmOf(options)).toEqual([])
  expect(harmOf({ ...options, granted, capabilities: ['ALL'] })).toEqual([
    ...['Privileged', 'NetworkMode', 'ALL', 'bind', '/', 'networks'],
  ])
})

test('no Compose file gets a container more than the profile: 2,000 of them', () => {
  const r = random(20_261_121)
  let taken = 0
  for (let i = 0; i < 2_000; i++) {
    const text = JSON.stringify(aFile(r))
    const options = optionsOf(text)
    if (!options) continue
    taken++
    const harm = harmOf(options)
    if (harm.length > 0) expect(harm, text).toEqual([])
  }
  expect(taken).toBeGreaterThan(250)
  expect(taken).toBeLessThan(1_750)
})

test('no settings of an environment get an app more than the profile: 10,000 of them', () => {
  const r = random(7)
  let taken = 0
  for (let i = 0; i < 10_000; i++) {
    const sent = {
      name: r.pick(['production', 'pr-1', '../x']),
      port: r.pick([0, 80, 65_535, -1, null]),
      memoryMb: r.pick([16, 512, 4_194_304, 0]),
      cpus: r.pick([0.05, 1, 512, 0]),
      volumes: r.some(names, 2).map((name) => `${r.pick([name, r.pick(paths)])}:${r.pick(paths)}`),
      privileged: true,
      capAdd: ['ALL'],
    }
    const checked = environmentForm.safeParse(sent)
    if (!checked.success) continue
    taken++
    const settings = Object.entries(checked.data).filter(([, value]) => value != null)
    const environment = { memoryMb: 512, cpus: 1, volumes: [], ...Object.fromEntries(settings) }
    const run = {
      project: { id, ownerId: id, name: r.pick(['$(id)', '../x', '漢', '--']) },
      environment: { ...environment, id, hostPort: 20_000 },
      deployment: { id },
      config: { publishAddress: '::1' },
      variables: [{ key: 'PATH', value: '$(id)', secret: false, buildTime: false }],
      instanceId: id,
    } as unknown as Run
    const port = checked.data.port ?? 3000
    const options = containerOptions(run, { image: 'busybox', port, network })
    const harm = harmOf(options)
    if (!/^[a-z0-9][a-z0-9-]+$/.test(options.name)) harm.push(options.name)
    if (harm.length > 0) expect(harm, JSON.stringify(sent)).toEqual([])
  }
  expect(taken).toBeGreaterThan(100)
})

test('a build asks the engine for no network, files or secrets of its own, whatever it is called with', async () => {
  const asked: string[] = []
  const host = await fakeEngine(({ line, socket }) => {
    if (line.includes('/build?')) asked.push(line)
    answer(socket, line.includes('/build?') ? 500 : 200, '{}')
  })
  const smuggled = {
    networkmode: 'host',
    remote: 'http://169.254.169.254/',
    cachefrom: '["x"]',
    extrahosts: 'a:127.0.0.1',
    securityopt: '["seccomp=unconfined"]',
    outputs: '[{"type":"local"}]',
    session: 'x',
  }
  for (const builder of ['buildkit', 'classic'] as const) {
    const build = connectDocker({ host }).buildImage({
      ...smuggled,
      context: tarContext({ Dockerfile: 'FROM busybox' }),
      dockerfile: 'Dockerfile&networkmode=host',
      tag: 'x&remote=http://a/',
      buildArgs: { A: '&networkmode=host' },
      ...(builder === 'classic' && { caps: { memoryBytes: 2 ** 28, cpus: 1, builds: 1 } }),
      builder,
    })
    await collect(build).catch(() => {})
  }
  const keys = asked.map((line) => [
    ...new URL(line.split(' ')[1]!, 'http://engine').searchParams.keys(),
  ])
  const always = ['buildargs', 'dockerfile', 'forcerm', 'labels', 'rm', 't']
  expect(keys.map((sent) => sent.toSorted())).toEqual([
    [...always, 'version'],
    [...always, 'cpuperiod', 'cpuquota', 'memory', 'memswap'].toSorted(),
  ])
})
