import { expect, test } from 'bun:test'
import { containerConfig } from '../../src/docker/container-config.ts'
import { connectEngine } from '../../src/docker/engine.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, labels, name, options, run } = sandbox()
const engine = connectEngine(undefined)

// Every key of the engine's HostConfig with a value that is not empty. A key that turns up here
// after an upgrade of the engine is a privilege to look at before it is added.
const golden = {
  NetworkMode: 'bridge',
  IpcMode: 'private',
  CgroupnsMode: expect.stringMatching(/^(host|private)$/),
  CapDrop: ['ALL'],
  CapAdd: ['CHOWN', 'NET_BIND_SERVICE'],
  SecurityOpt: ['no-new-privileges:true'],
  Memory: 64 * 2 ** 20,
  MemorySwap: 64 * 2 ** 20,
  NanoCpus: 250_000_000,
  PidsLimit: 100,
  OomScoreAdj: 500,
  Init: true,
  ShmSize: 64 * 2 ** 20,
  Runtime: 'runc',
  RestartPolicy: { Name: 'unless-stopped', MaximumRetryCount: 0 },
  LogConfig: { Type: 'json-file', Config: { 'max-size': '2m', 'max-file': '5' } },
  PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
  Mounts: [{ Type: 'volume', Source: expect.any(String), Target: '/data' }],
  MaskedPaths: expect.arrayContaining(['/proc/kcore', '/proc/keys']),
  ReadonlyPaths: expect.arrayContaining(['/proc/sys', '/proc/sysrq-trigger']),
}

test('a container gets exactly the profile, as the engine reports it', async () => {
  const volume = name()
  await docker.createVolume({ name: volume, labels })
  const id = await docker.createContainer({
    ...options(),
    env: { A: 'b=c', LINES: 'one\ntwo' },
    ports: [{ container: 8080, host: 0, address: '127.0.0.1' }],
    memoryBytes: 64 * 2 ** 20,
    cpus: 0.25,
    pidsLimit: 100,
    capabilities: ['CHOWN', 'NET_BIND_SERVICE'],
    volumes: [{ name: volume, path: '/data' }],
    restart: { name: 'unless-stopped' },
    stopTimeout: 7,
    logs: { maxSize: '2m', maxFiles: 5 },
    oomScoreAdj: 500,
  })
  type Inspected = { HostConfig: Record<string, unknown>; Config: Record<string, unknown> }
  const { HostConfig, Config } = await engine.request<Inspected>('GET', `/containers/${id}/json`)
  const set = Object.entries(HostConfig).filter(([, value]) => !isEmpty(value))
  expect(Object.fromEntries(set)).toEqual(golden)
  expect(Config).toMatchObject({ Image: 'busybox:latest', Labels: labels, StopTimeout: 7 })
  expect(Config.Env).toContain('A=b=c')
  expect(Config.Env).toContain('LINES=one\ntwo')
})

test('the kernel holds the processes of a container to the profile', async () => {
  const line =
    'grep -E "^(NoNewPrivs|Seccomp|CapEff|CapBnd):" /proc/self/status; test ! -e /dev/sda'
  const id = await run(line)
  await docker.waitForExit(id)
  const status: Record<string, string> = {}
  for (const { text } of (await collect(docker.containerLogs(id))).flat()) {
    const [key = '', value = ''] = text.split(/:\s+/)
    status[key] = value
  }
  expect(status).toEqual({
    CapEff: '0000000000000000',
    CapBnd: '0000000000000000',
    NoNewPrivs: '1',
    Seccomp: '2',
  })
})

test('what the engine could be asked for beyond the profile is not passed on', () => {
  const smuggled = {
    ...options(),
    Privileged: true,
    privileged: true,
    Binds: ['/:/host'],
    HostConfig: { Privileged: true, PidMode: 'host' },
    volumes: [{ name: 'data', path: '/data', Type: 'bind', VolumeOptions: { DriverConfig: {} } }],
  }
  const { HostConfig } = containerConfig(smuggled)
  expect(HostConfig.Privileged).toBe(false)
  expect(HostConfig.IpcMode).toBe('private')
  expect(HostConfig).not.toContainAnyKeys(['Binds', 'PidMode', 'Devices', 'VolumesFrom'])
  expect(HostConfig.Mounts).toEqual([{ Type: 'volume', Source: 'data', Target: '/data' }])
})

test('a service gets what its template asks for, as the engine reports it', async () => {
  const id = await docker.createContainer({
    ...options(),
    platform: 'linux/amd64',
    command: ['sleep', '60'],
    entrypoint: [],
    user: '1000:1000',
    workingDir: '/srv',
    hostname: 'db',
    extraHosts: ['other:10.0.0.5'],
    ports: [{ container: 53, host: 0, address: '127.0.0.1', protocol: 'udp' }],
    reservedBytes: 16 * 2 ** 20,
    shmBytes: 2 ** 20,
    ulimits: [{ name: 'nofile', soft: 1024, hard: 2048 }],
    sysctls: { 'net.core.somaxconn': '1024' },
    tmpfs: [{ path: '/run', options: 'size=1m' }],
    readOnly: true,
    healthCheck: { test: ['CMD', 'true'], interval: 1500, retries: 2 },
    stopSignal: 'SIGINT',
  })
  type Inspected = { HostConfig: Record<string, unknown>; Config: Record<string, unknown> }
  const { HostConfig, Config } = await engine.request<Inspected>('GET', `/containers/${id}/json`)
  expect(HostConfig).toMatchObject({
    ExtraHosts: ['other:10.0.0.5'],
    PortBindings: { '53/udp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
    MemoryReservation: 16 * 2 ** 20,
    ShmSize: 2 ** 20,
    Ulimits: [{ Name: 'nofile', Soft: 1024, Hard: 2048 }],
    Sysctls: { 'net.core.somaxconn': '1024' },
    Tmpfs: { '/run': 'size=1m' },
    ReadonlyRootfs: true,
    Privileged: false,
  })
  expect(Config).toMatchObject({
    Cmd: ['sleep', '60'],
    User: '1000:1000',
    WorkingDir: '/srv',
    Hostname: 'db',
    Healthcheck: { Test: ['CMD', 'true'], Interval: 1_500_000_000, Retries: 2 },
    StopSignal: 'SIGINT',
  })
  expect(Config.Entrypoint ?? []).toEqual([])
})

test('power over the host comes only with what is granted by name', () => {
  const granted = {
    privileged: true,
    hostNetwork: true,
    hostPid: true,
    hostIpc: true,
    binds: [{ source: '/srv', path: '/data', readOnly: true }],
    devices: [{ host: '/dev/fuse', path: '/dev/fuse', permissions: 'rw' }],
  }
  const ports = [{ container: 80, host: 8080, address: '127.0.0.1' }]
  const config = containerConfig({ ...options(), ports, networkAliases: ['web'], granted })
  expect(config.HostConfig).toMatchObject({
    Privileged: true,
    NetworkMode: 'host',
    PidMode: 'host',
    IpcMode: 'host',
    PortBindings: {},
    Mounts: [{ Type: 'bind', Source: '/srv', Target: '/data', ReadOnly: true }],
    Devices: [{ PathOnHost: '/dev/fuse', PathInContainer: '/dev/fuse', CgroupPermissions: 'rw' }],
  })
  expect(config.NetworkingConfig.EndpointsConfig).toEqual({})
})

test('a path of the host in the place of a volume name is refused by the engine', async () => {
  const volumes = [{ name: '/etc', path: '/data' }]
  const call = docker.createContainer({ ...options(), volumes })
  expect(await call.catch((error) => error.status)).toBe(400)
})

const isEmpty = (value: unknown) =>
  !value ||
  (typeof value === 'object' && Object.keys(value).length === 0) ||
  (Array.isArray(value) && value.every((item) => item === 0))
