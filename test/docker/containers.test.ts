import { expect, test } from 'bun:test'
import { compatCapabilities, connectDocker } from '../../src/docker/index.ts'
import { isInit } from '../../src/docker/init.ts'
import { until } from '../support/until.ts'
import { answer, fakeEngine } from './fake-engine.ts'
import { sandbox } from './sandbox.ts'

const { docker, labels, name, run, ended, options } = sandbox()
const label = Object.entries(labels)[0]!.join('=')

test('a container goes from created to running to exited', async () => {
  const id = await docker.createContainer({ ...options(), command: ['sleep', '60'] })
  expect(await docker.inspectContainer(id)).toMatchObject({
    id,
    state: 'created',
    image: 'busybox:latest',
    labels,
    startedAt: null,
    addresses: {},
  })
  await docker.startContainer(id)
  await docker.startContainer(id)
  const running = await docker.inspectContainer(id)
  expect(running).toMatchObject({ state: 'running', finishedAt: null, restartCount: 0 })
  expect(running!.addresses.bridge).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
  expect(Math.abs(Date.now() - running!.startedAt!.getTime())).toBeLessThan(10_000)

  expect(await docker.stopContainer(id, { timeoutSeconds: 1 })).toBe(true)
  expect(await docker.stopContainer(id)).toBe(true)
  expect(await docker.inspectContainer(id)).toMatchObject({ state: 'exited', exitCode: 143 })
})

test('waiting for an exit ends when the signal aborts', async () => {
  const id = await run('sleep 60')
  const signal = AbortSignal.timeout(50)
  expect(await docker.waitForExit(id, { signal }).catch((e) => e.name)).toBe('TimeoutError')
})

test('a container that takes more memory than it may is seen to be killed for it', async () => {
  // the engine hears of it apart from the exit; of one that ends as it starts it may not hear at all
  await until(async () => {
    const id = await run('head -c 200m /dev/zero | tail -c 150m')
    await docker.waitForExit(id)
    return (await docker.inspectEnded(id))!.oomKilled
  })
})

test('a command that does not exist fails the start in the words of the engine', async () => {
  const id = await docker.createContainer({ ...options(), command: ['/no/such'], init: false })
  const error = await docker.startContainer(id).catch((error) => error)
  expect(error.status).toBe(400)
  expect(error.message).toContain('/no/such')
  expect(await docker.inspectContainer(id)).toMatchObject({ state: 'created', exitCode: 127 })
})

test('the restart policy of a container that has just ended is set once the engine has noted that', async () => {
  const message = 'Cannot update container one: cannot update a stopped container: unknown'
  const answers: [number, string][] = [
    [500, JSON.stringify({ message })],
    [200, '{}'],
  ]
  const host = await fakeEngine(({ socket }) => answer(socket, ...answers.shift()!))
  await connectDocker({ host }).setRestartPolicy('one', { name: 'no' })
  expect(answers).toEqual([])
})

test('a process that dropped root is asked to stop, too', async () => {
  const users = 'root:x:0:0::/:/bin/sh\\nu:x:1:1::/:/bin/sh\\n'
  const waits = 'trap "exit 5" TERM; echo up; while :; do sleep 0.1; done'
  const id = await run(`printf '${users}' >/etc/passwd; exec su u -c '${waits}'`, {
    capabilities: compatCapabilities,
  })
  for await (const [line] of docker.containerLogs(id, { follow: true }))
    if (line?.text === 'up') break
  await docker.stopContainer(id)
  expect(await docker.inspectContainer(id)).toMatchObject({ exitCode: 5 })
})

test('an image’s own init is process 1, also from a shell; anything else runs below an init', () => {
  const own = ['/init', '/sbin/init --x', '/usr/lib/systemd/systemd', '/sbin/my_init -- a']
  for (const line of [...own, '/sbin/openrc-init', '/usr/bin/catatonit -g'])
    for (const argv of [line.split(' '), ['/bin/sh', '-c', line], ['bash', '-c', ` exec ${line}`]])
      expect(isInit(argv), argv.join(' ')).toBe(true)
  const others = ['init', '/app/init', '/initialize', 'node /init', '/usr/bin/tini -- /init', '']
  for (const line of others) expect(isInit(line.split(' ')), line).toBe(false)
  for (const script of ['/init; app', 'app && /init', '/init & app'])
    expect(isInit(['/bin/sh', '-c', script]), script).toBe(false)
  expect(isInit([])).toBe(false)
})

test('two removals at once both end when the container is gone', async () => {
  const id = await run('sleep 60')
  const removals = [1, 2, 3].map(() => docker.removeContainer(id, { force: true }))
  expect(await Promise.all(removals)).toContain(true)
  expect(await docker.inspectContainer(id)).toBeNull()
})

test('containers are found by label, stopped ones only when asked for', async () => {
  const own = { ...labels, 'test.found': name() }
  const filter = [label, `test.found=${own['test.found']}`]
  const ports = [{ container: 80, host: 0, address: '127.0.0.1' }]
  const up = await run('sleep 60', { labels: own, ports })
  const down = await run('true', { labels: own })
  await ended(down)
  const listed = await docker.listContainers({ labels: filter })
  expect(listed.map((container) => container.id)).toEqual([up])
  expect(listed[0]).toMatchObject({ state: 'running', labels: own, image: 'busybox:latest' })
  expect(listed[0]!.ports).toMatchObject([{ container: 80, protocol: 'tcp', address: '127.0.0.1' }])
  expect(listed[0]!.ports).toEqual((await docker.inspectContainer(up))!.ports)
  const all = await docker.listContainers({ labels: filter, all: true })
  expect(all.map((container) => container.id)).toEqual([down, up])
})

test('a container answers to its alias in its network', async () => {
  const network = name()
  const networkId = await docker.createNetwork({ name: network, labels })
  await run('sleep 60', { network, networkAliases: ['web'] })
  const asker = await run('nslookup web 127.0.0.11 || ping -c 1 web', { network })
  expect(await docker.waitForExit(asker)).toEqual({ exitCode: 0 })
  expect(await docker.removeNetwork(networkId).catch((error) => error.status)).toBe(403)
})
