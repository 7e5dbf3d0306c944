import { expect, test } from 'bun:test'
import { inspectEnded } from '../../src/docker/container-inspect.ts'
import { connectEngine } from '../../src/docker/engine.ts'
import { sandbox } from './sandbox.ts'

const { docker, labels, name, run, options } = sandbox()

test('what a container was made of is told', async () => {
  const network = name()
  const volume = name()
  await docker.createNetwork({ name: network, labels })
  await docker.createVolume({ name: volume, labels })
  const id = await run('sleep 60', {
    network,
    networkAliases: ['web', 'www'],
    env: { GREETING: 'hello = you' },
    user: '1000:1000',
    workingDir: '/tmp',
    cpus: 0.5,
    pidsLimit: 50,
    volumes: [{ name: volume, path: '/data', readOnly: true }],
    tmpfs: [{ path: '/scratch', options: 'rw,size=1m' }],
    restart: { name: 'on-failure', maximumRetries: 3 },
    ports: [{ container: 80, host: 0, address: '127.0.0.1' }],
  })
  const container = (await docker.inspectContainer(id))!
  expect(container).toMatchObject({
    command: ['sh', '-c', 'sleep 60'],
    user: '1000:1000',
    workingDir: '/tmp',
    memoryLimit: 32 * 2 ** 20,
    cpus: 0.5,
    pidsLimit: 50,
    privileged: false,
    logDriver: 'json-file',
    restartPolicy: { name: 'on-failure', maximumRetries: 3 },
    mounts: [
      { type: 'volume', source: volume, destination: '/data', readOnly: true },
      { type: 'tmpfs', source: null, destination: '/scratch', readOnly: false },
    ],
    exposedPorts: [],
  })
  expect(container.env).toContain('GREETING=hello = you')
  expect(container.networks).toEqual([
    {
      name: network,
      address: container.addresses[network]!,
      gateway: expect.stringMatching(/^\d+\.\d+\.\d+\.1$/),
      mac: expect.stringMatching(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/),
      aliases: ['web', 'www'],
    },
  ])

  await docker.stopContainer(id, { timeoutSeconds: 0 })
  const stopped = (await docker.inspectContainer(id))!
  expect(stopped.networks).toMatchObject([{ name: network, address: null, gateway: null }])
  expect(stopped.ports).toEqual([])
  expect(stopped.exposedPorts).toEqual([])
})

test('an alias is reported though the id of the container begins with it', async () => {
  const network = name()
  await docker.createNetwork({ name: network, labels })
  const hexadecimal = [...'0123456789abcdef']
  const id = await run('sleep 60', { network, networkAliases: hexadecimal })
  const [joined] = (await docker.inspectContainer(id))!.networks
  expect(joined!.aliases).toEqual(hexadecimal)
})

test('what was not asked for is null, and a limit that is none too', async () => {
  const engine = connectEngine(undefined)
  const { Id } = await engine.request<{ Id: string }>('POST', '/containers/create', {
    query: { name: name() },
    body: {
      Image: 'busybox:latest',
      Labels: labels,
      Entrypoint: ['sleep'],
      Cmd: ['60'],
      ExposedPorts: { '80/tcp': {}, '53/udp': {} },
      HostConfig: {
        CpuQuota: 25_000,
        PidsLimit: -1,
        Binds: ['/tmp:/host:ro'],
        PortBindings: { '53/udp': [{ HostIp: '127.0.0.1' }] },
        LogConfig: { Type: 'none' },
      },
    },
  })
  expect(await docker.inspectContainer(Id)).toMatchObject({
    command: ['sleep', '60'],
    user: null,
    workingDir: null,
    memoryLimit: null,
    cpus: 0.25,
    pidsLimit: null,
    restartPolicy: { name: 'no' },
    logDriver: 'none',
    mounts: [{ type: 'bind', source: '/tmp', destination: '/host', readOnly: true }],
    exposedPorts: [{ container: 80, protocol: 'tcp' }],
  })
})

test('a restart gives it a new beginning, and starts one that does not run', async () => {
  const id = await run('trap "exit 0" TERM; sleep 60 & wait')
  const first = (await docker.inspectContainer(id))!.startedAt!
  expect(await docker.restartContainer(id, { timeoutSeconds: 2 })).toBe(true)
  const second = (await docker.inspectContainer(id))!
  expect(second.state).toBe('running')
  expect(second.startedAt!.getTime()).toBeGreaterThan(first.getTime())
  const created = await docker.createContainer({ ...options(), command: ['sleep', '60'] })
  expect(await docker.restartContainer(created)).toBe(true)
  expect((await docker.inspectContainer(created))!.state).toBe('running')
  expect(await docker.restartContainer(name())).toBe(false)
})

test('a container that is known to have ended is not believed to run since before', async () => {
  const id = await run('sleep 60')
  const engine = connectEngine(undefined)
  const path = `/containers/${id}/json`
  const running = await engine.request<object>('GET', path)
  await docker.stopContainer(id, { timeoutSeconds: 0 })
  const answers = [running, running]
  const late = {
    ...engine,
    request: async () => answers.shift() ?? engine.request('GET', path),
  } as typeof engine
  expect(await inspectEnded(late, id, { endedAt: new Date() })).toMatchObject({ state: 'exited' })
  expect(answers).toEqual([])
})
