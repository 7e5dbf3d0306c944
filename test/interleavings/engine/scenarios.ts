import type { Stage } from './stage.ts'
import { answer, aNetwork, look, make } from './stage.ts'
import { until } from '../../support/until.ts'

/** Says what an engine does; the answers of the fake and of the real one must be the same. */
export type Scenario = (stage: Stage) => Promise<unknown>

const forever = ['sleep', '600']

/** Until its program runs: a signal that comes earlier is lost. */
async function startFully({ docker }: Stage, id: string) {
  await docker.startContainer(id)
  const test = { command: ['pidof', 'sleep'], timeout: 5000 }
  const signal = new AbortController().signal
  await docker.untilHealthTestPasses(id, { test, timeout: 30_000, signal })
}

export const scenarios: Record<string, Scenario> = {
  'a container from its creation to its removal': async (s) => {
    const c = await make(s, { command: forever })
    const states: unknown[] = [await look(s, c), await s.docker.startContainer(c), await look(s, c)]
    states.push(await s.docker.startContainer(c), await look(s, c))
    states.push(await answer(s.docker.removeContainer(c)))
    states.push(await s.docker.stopContainer(c, { timeoutSeconds: 5 }), await look(s, c))
    states.push(
      await s.docker.stopContainer(c),
      await s.docker.restartContainer(c),
      await look(s, c),
    )
    states.push(await s.docker.removeContainer(c, { force: true }), await look(s, c))
    return [...states, await s.docker.removeContainer(c)]
  },

  'what is not there': async ({ docker, name, labels }) => {
    const none = name('none')
    return [
      await answer(docker.startContainer(none)),
      await answer(docker.waitForExit(none)),
      await answer(docker.setRestartPolicy(none, { name: 'no' })),
      await docker.stopContainer(none),
      await docker.restartContainer(none),
      await docker.removeContainer(none),
      await docker.inspectContainer(none),
      await docker.removeNetwork(none),
      await docker.removeVolume(none),
      await docker.removeImage(none),
      await docker.inspectImage(none),
      await docker.hasImage(none),
      await docker.listContainers({ labels: Object.entries(labels).map((l) => l.join('=')) }),
    ]
  },

  'a name that another container has': async (s) => {
    const first = await make(s, {})
    const second = await answer(make(s, {}))
    await s.docker.removeContainer(first)
    return [second, typeof (await make(s, {}))]
  },

  'an image that is not there': (s) => answer(make(s, { image: s.name('image') })),

  'a network that is not there': async (s) => {
    const c = await make(s, { network: s.name('net'), command: forever })
    return [await look(s, c), await answer(s.docker.startContainer(c)), await look(s, c)]
  },

  'a port that another container holds': async (s) => {
    const ports = [{ container: 80, host: s.port, address: '127.0.0.1' }]
    const one = await make(s, { command: forever, ports }, 'one')
    const two = await make(s, { command: forever, ports }, 'two')
    await s.docker.startContainer(one)
    const seen = [await answer(s.docker.startContainer(two)), await look(s, two)]
    await s.docker.stopContainer(one, { timeoutSeconds: 5 })
    seen.push(await s.docker.startContainer(two), await look(s, two))
    seen.push(await answer(s.docker.startContainer(one)), await look(s, one))
    return seen
  },

  'a command that is not there': async (s) => {
    const c = await make(s, { command: ['/no/such'], init: false })
    return [
      await answer(s.docker.startContainer(c)),
      await look(s, c),
      await s.docker.waitForExit(c),
    ]
  },

  'ends that are waited for': async (s) => {
    const seen: unknown[] = []
    for (const command of [['true'], ['false'], ['sh', '-c', 'sleep 0.3; exit 7']]) {
      const c = await make(s, { command }, `wait-${seen.length}`)
      seen.push(await s.docker.waitForExit(c))
      await s.docker.startContainer(c)
      seen.push(await s.docker.waitForExit(c), await look(s, c), await s.docker.waitForExit(c))
    }
    return seen
  },

  'the end of one that is removed': async (s) => {
    const c = await make(s, { command: forever })
    await s.docker.startContainer(c)
    const end = answer(s.docker.waitForExit(c))
    await Bun.sleep(100)
    await s.docker.removeContainer(c, { force: true })
    return end
  },

  'one that ignores the signal to stop': async (s) => {
    const c = await make(s, { command: ['sh', '-c', "trap '' TERM; while :; do sleep 1; done"] })
    await s.docker.startContainer(c)
    await Bun.sleep(300)
    return [await s.docker.stopContainer(c, { timeoutSeconds: 1 }), await look(s, c)]
  },

  'restarts by the engine': async (s) => {
    const command = ['sh', '-c', 'exit 3']
    const c = await make(s, { command, restart: { name: 'on-failure', maximumRetries: 2 } })
    await s.docker.startContainer(c)
    await until(async () => (await s.docker.inspectContainer(c))?.state === 'exited')
    const seen: unknown[] = [await look(s, c)]
    await s.docker.setRestartPolicy(c, { name: 'unless-stopped' })
    await s.docker.startContainer(c)
    await until(async () => ((await s.docker.inspectContainer(c))?.restartCount ?? 0) > 0)
    seen.push(await s.docker.startContainer(c)) // it starts by itself
    seen.push(await s.docker.stopContainer(c, { timeoutSeconds: 1 }))
    return [...seen, (await s.docker.inspectContainer(c))?.state]
  },

  'addresses that the engine chooses, and who gets one that is free': async (s) => {
    const network = await aNetwork(s)
    const [one, two] = [
      await make(s, { network, command: forever }, 'one'),
      await make(s, { network, command: forever }, 'two'),
    ]
    await s.docker.startContainer(one)
    await s.docker.startContainer(two)
    const last = async (id: string) =>
      (await s.docker.inspectContainer(id))?.addresses[network]?.split('.').at(-1)
    const seen = [await last(one), await last(two)]
    await s.docker.stopContainer(one, { timeoutSeconds: 5 })
    seen.push(await last(one))
    const three = await make(s, { network, command: forever }, 'three')
    await s.docker.startContainer(three)
    await s.docker.startContainer(one)
    return [...seen, await last(three), await last(one)].map((part) => part && Number(part) % 64)
  },

  'addresses that are asked for': async (s) => {
    const network = await aNetwork(s)
    const at = (last: number) => s.subnet.replace(/\d+\/26$/, String(64 + last))
    const on = (end: string, address?: string) =>
      make(s, { network, command: forever, ...(address && { address }) }, end)
    const [one, two] = [await on('one', at(9)), await on('two', at(9))]
    const use = async () => {
      const found = await s.docker.networkUse(network)
      const names: Record<string, string> = { [one]: 'one', [two]: 'two' }
      const addresses = found?.addresses.map(({ containerId, address, isFixed }) =>
        [names[containerId] ?? 'another', Number(address.split('.')[3]) - 64, isFixed].join(' '),
      )
      return { gateway: found?.gateway?.split('.')[3], addresses: addresses?.sort() }
    }
    const seen: unknown[] = [await use(), await s.docker.startContainer(one)]
    seen.push(await answer(s.docker.startContainer(two)), await look(s, two), await use())
    await s.docker.stopContainer(one, { timeoutSeconds: 5 })
    seen.push(await s.docker.startContainer(two), await answer(s.docker.startContainer(one)))
    seen.push(await look(s, one), await use(), await answer(on('far', '10.9.8.7')))
    const low = await on('low', at(2))
    await s.docker.startContainer(await on('auto'))
    seen.push(await answer(s.docker.startContainer(low)), await use())
    return [...seen, await s.docker.networkUse(s.name('none'))]
  },

  networks: async (s) => {
    const network = await aNetwork(s)
    const { docker, labels, subnet } = s
    const again = await answer(docker.createNetwork({ name: network, labels }))
    const over = await answer(docker.createNetwork({ name: s.name('over'), labels, subnet }))
    const c = await make(s, { network, command: forever })
    await docker.startContainer(c)
    const inUse = await answer(docker.removeNetwork(network))
    const other = await make(s, { command: forever }, 'other')
    const isOn = async () => (await docker.listJoined(network)).includes(other)
    await docker.connectNetwork(network, { containerId: other })
    const joins = [await isOn(), await docker.disconnectNetwork(network, { containerId: other })]
    joins.push(await isOn())
    await docker.connectNetwork(network, { containerId: other, aliases: ['db'] })
    const there = (await docker.inspectContainer(other))!.networks
    joins.push(there.find(({ name }) => name === network)!.aliases.includes('db'))
    await docker.disconnectNetwork(network, { containerId: other })
    await docker.stopContainer(c, { timeoutSeconds: 5 })
    const seen = [again, over, inUse, joins, await answer(docker.removeNetwork(network))]
    return [...seen, await answer(docker.startContainer(c)), await look(s, c)]
  },

  volumes: async (s) => {
    const { docker, labels, name } = s
    const volume = { name: name('data'), labels }
    await docker.createVolume(volume)
    await docker.createVolume(volume)
    const c = await make(s, { volumes: [{ name: volume.name, path: '/data' }] })
    const inUse = await answer(docker.removeVolume(volume.name))
    await docker.removeContainer(c, { volumes: true })
    const filter = Object.entries(labels).map((l) => l.join('='))
    const left = (await docker.listVolumes({ labels: filter })).length
    return [inUse, left, await docker.removeVolume(volume.name)]
  },

  'names of images': async (s) => {
    const { docker, name } = s
    const [one, two] = [`${name('img')}:one`, `${name('img')}:two`]
    await docker.tagImage('busybox:latest', one)
    await docker.tagImage('busybox:latest', two)
    const c = await make(s, { image: one })
    const long = `docker.io/library/${two}`
    const seen: unknown[] = [
      (await docker.inspectImage(long))?.tags.includes(two),
      (await docker.inspectImage(one)) !== null,
      await docker.removeImage(one),
    ]
    seen.push(await docker.hasImage(one), (await docker.inspectContainer(c))?.image === one)
    return [...seen, await docker.removeImage(two), await docker.removeImage(two)]
  },

  events: async (s) => {
    const over = new AbortController()
    const heard: string[] = []
    const opened = Promise.withResolvers<void>()
    const listening = (async () => {
      const filters = {
        type: ['container'],
        label: Object.entries(s.labels).map((l) => l.join('=')),
      }
      const options = { filters, signal: over.signal, opened: opened.resolve }
      for await (const { action, attributes } of s.docker.events(options))
        if (!action.startsWith('exec_')) heard.push(`${action} ${attributes.exitCode ?? ''}`.trim())
    })().catch(() => {})
    await opened.promise
    const c = await make(s, { command: forever })
    await startFully(s, c)
    await s.docker.stopContainer(c, { timeoutSeconds: 5 })
    await startFully(s, c)
    await s.docker.restartContainer(c, { timeoutSeconds: 5 })
    await s.docker.setRestartPolicy(c, { name: 'no' })
    await s.docker.removeContainer(c, { force: true })
    await until(() => heard.at(-1) === 'destroy')
    over.abort()
    await listening
    return heard
  },

  health: async (s) => {
    const check = (test: string) => ({
      test: ['CMD', test],
      interval: 200,
      timeout: 5000,
      retries: 2,
    })
    const well = await make(s, { command: forever, healthCheck: check('true') }, 'well')
    const ill = await make(s, { command: forever, healthCheck: check('false') }, 'ill')
    const seen = [(await s.docker.inspectContainer(well))?.health]
    await s.docker.startContainer(well)
    await s.docker.startContainer(ill)
    seen.push((await s.docker.inspectContainer(ill))?.health)
    const is = (id: string, health: string) => async () =>
      (await s.docker.inspectContainer(id))?.health === health
    await until(is(well, 'healthy'))
    await until(is(ill, 'unhealthy'))
    const options = { timeout: 1500, signal: new AbortController().signal }
    for (const [id, command] of [
      [well, 'true'],
      [ill, 'false'],
    ] as const) {
      const test = { command: [command], timeout: 1000 }
      seen.push((await s.docker.untilHealthTestPasses(id, { test, ...options })).passed as never)
    }
    await s.docker.stopContainer(well, { timeoutSeconds: 5 })
    return [...seen, (await s.docker.inspectContainer(well))?.health]
  },

  'a list': async (s) => {
    const { docker, labels } = s
    const filter = Object.entries(labels).map((l) => l.join('='))
    const one = await make(s, { command: forever, labels: { ...labels, part: 'one' } }, 'one')
    const two = await make(s, { command: ['false'], labels: { ...labels, part: 'two' } }, 'two')
    await docker.startContainer(one)
    await docker.startContainer(two)
    await until(async () => (await docker.inspectContainer(two))?.state === 'exited')
    const parts = async (all: boolean, label: string[] = []) =>
      (await docker.listContainers({ all, labels: [...filter, ...label] }))
        .map(({ labels: { part }, state, exitCode, health }) => ({ part, state, exitCode, health }))
        .sort((a, b) => a.part!.localeCompare(b.part!))
    return [
      await parts(false),
      await parts(true),
      await parts(true, ['part=two']),
      await parts(true, ['none']),
    ]
  },
}
