import { describe, expect, test } from 'bun:test'
import type { Wait } from '../../src/runtime/component.ts'
import { restartLive, startStopped, stopLive } from '../../src/runtime/restart.ts'
import { listLive } from '../../src/runtime/revert.ts'
import { getLiveRelease, listInstances } from '../../src/runtime/store.ts'
import { freePort } from '../support/free-port.ts'
import { aComponent, aWorkload, broken } from './workload.ts'

const signal = new AbortController().signal

/** A `web`, and workers beside it. */
const webAndWorkers = (
  version: string,
  { port, volume, script }: { port?: number; volume?: string; script?: string } = {},
) => [
  aComponent(`${version} web`, { volume, ...(port && { port }) }),
  aComponent(`${version} worker`, {
    ...{ name: 'worker', replicas: 2, volume },
    ...(script && { script }),
  }),
]

const both = (step: string, version: string) => [
  ...[`${step} ${version} web`, `${step} ${version} worker`, `${step} ${version} worker`],
]

/** What was taken, in an order that doesn't depend on which of several was quicker. */
const sorted = (taken: string[]) => taken.toSorted()

const startsAfter = (component: string): Wait[] => [
  { component, condition: 'service_started', required: true },
]

describe('a release of several processes', () => {
  test('takes the place of another whole, each replica in a container of its own', async () => {
    const { roll, taken, db, docker, workload } = await aWorkload({ isSimulated: true })
    await roll('first', { components: webAndWorkers('first') })
    const rows = listInstances(db, workload.id)
    expect(rows.map(({ component, slot, state }) => [component, slot, state])).toEqual([
      ['web', 0, 'live'],
      ['worker', 0, 'live'],
      ['worker', 1, 'live'],
    ])
    const found = await Promise.all(rows.map((row) => docker.inspectContainer(row.containerId!)))
    const addresses = found.flatMap((one) => Object.values(one!.addresses))
    expect(new Set(addresses).size).toBe(3)
    expect(found.map((one) => one?.restartPolicy.name)).toEqual(Array(3).fill('unless-stopped'))

    taken.length = 0
    await roll('second', { components: webAndWorkers('second') })
    const committed = taken.indexOf('commit second')
    expect(taken.slice(0, committed)).toEqual([
      ...both('create', 'second'),
      ...both('start', 'second'),
      ...both('keep', 'second'),
    ])
    expect(sorted(taken.slice(committed + 1))).toEqual([
      ...both('remove', 'first'),
      ...both('stop', 'first'),
    ])
  })

  test('stops first only what holds what it needs, once its others are through their gates', async () => {
    const { roll, taken } = await aWorkload({ isSimulated: true })
    const port = freePort()
    await roll('first', { components: webAndWorkers('first', { port }) })
    taken.length = 0
    await roll('second', { components: webAndWorkers('second', { port }) })
    expect(taken.slice(3, 7)).toEqual([
      ...['start second worker', 'start second worker'],
      ...['stop first web', 'start second web'],
    ])
    const committed = taken.indexOf('commit second')
    expect(taken.slice(committed).filter((step) => step.startsWith('stop'))).toEqual(
      both('stop', 'first'),
    )
  })

  test('stops all first that share a volume with it', async () => {
    const { roll, taken, workload } = await aWorkload({ isSimulated: true })
    const volume = `${workload.id}-data`
    await roll('first', { components: webAndWorkers('first', { volume }) })
    taken.length = 0
    await roll('second', { components: webAndWorkers('second', { volume }) })
    expect(taken.slice(3, 6)).toEqual(both('stop', 'first'))
    expect(taken.slice(6, 9)).toEqual(both('start', 'second'))
  })

  test('starts what waits for one that needs a volume of it only after that one', async () => {
    const { roll, taken, workload } = await aWorkload({ isSimulated: true })
    const stack = (version: string) => [
      aComponent(`${version} cache`, { name: 'cache' }),
      aComponent(`${version} db`, { name: 'db', volume: `${workload.id}-data` }),
      { ...aComponent(`${version} migrate`, { name: 'migrate' }), waits: startsAfter('db') },
      { ...aComponent(`${version} web`, {}), waits: startsAfter('migrate') },
    ]
    await roll('first', { components: stack('first') })
    taken.length = 0
    await roll('second', { components: stack('second') })
    expect(taken.slice(4, 9)).toEqual([
      ...['start second cache', 'stop first db'],
      ...['start second db', 'start second migrate', 'start second web'],
    ])
  })

  test('starts again in the order of its start, also where one is newer than what waits for it', async () => {
    const { roll, taken, deps, docker, workload } = await aWorkload({ isSimulated: true })
    const stack = (version: string) => [
      aComponent(`${version} db`, { name: 'db' }),
      { ...aComponent('kept web', {}), waits: startsAfter('db') },
    ]
    await roll('first', { components: stack('first') })
    await roll('second', { components: stack('second'), keepsUnchanged: true })
    const live = listLive(deps, workload)
    for (const { id } of live) await docker.stopContainer(id, { timeoutSeconds: 0 })
    taken.length = 0
    await startStopped(deps, { workload, signal })
    expect(taken).toEqual(['start second db', 'start kept web'])
  })

  test('is undone whole where one of them fails, and only what was stopped starts again', async () => {
    const { roll, taken, after, config, db, docker, workload } = await aWorkload({
      isSimulated: true,
    })
    const port = freePort()
    await roll('first', { components: webAndWorkers('first', { port }) })
    const serves = async () => {
      const rows = listInstances(db, workload.id)
      expect(rows).toHaveLength(3)
      expect(getLiveRelease(db, workload.id)?.id).toBe('first')
      for (const { state, releaseId, containerId } of rows) {
        expect({ state, releaseId }).toEqual({ state: 'live', releaseId: 'first' })
        expect(await docker.inspectContainer(containerId!)).toMatchObject({ state: 'running' })
      }
    }
    const isOld = (step: string) => /^(start|stop) first/.test(step)

    taken.length = 0
    Object.assign(config, { settleTime: 60_000 }) // one that ends must not count as running before
    const components = webAndWorkers('second', { port, script: 'exit 3' })
    await expect(roll('second', { components })).rejects.toThrow(
      'the process worker exited with code 3',
    )
    expect(taken.filter(isOld)).toEqual([])
    await serves()

    taken.length = 0
    Object.assign(config, { settleTime: 0 })
    after('start third web', broken)
    const third = roll('third', { components: webAndWorkers('third', { port }) })
    await expect(third).rejects.toThrow('something broke')
    expect(taken.filter(isOld)).toEqual(['stop first web', 'start first web'])
    await serves()
  })

  test('fails when one ends while another is at its gate', async () => {
    const { roll, servesAlone, after, docker, db, workload } = await aWorkload({
      isSimulated: true,
    })
    await roll('first')
    const killOne = async () => {
      const worker = listInstances(db, workload.id).find(({ component }) => component === 'worker')!
      await docker.stopContainer(worker.containerId!, { timeoutSeconds: 0 })
    }
    after('keep second worker', killOne)
    const components = webAndWorkers('second')
    await expect(roll('second', { components })).rejects.toThrow(
      /the process worker exited with code 1\d\d/,
    )
    await servesAlone('first')
  })

  test('says in the log whose lines are whose, and in a failure whose command is wrong', async () => {
    const { roll, servesAlone, config } = await aWorkload()
    await roll('first')
    Object.assign(config, { settleTime: 60_000 })
    const lines: string[] = []
    const hooks = { log: (text: string) => void lines.push(text) }
    const talking = webAndWorkers('talking', { script: 'echo here; exit 3' })
    await expect(roll('talking', { components: talking, hooks })).rejects.toThrow('code 3')
    expect(lines.find((line) => line.endsWith('here'))).toMatch(/^worker\.[12] \| here$/)

    const components = webAndWorkers('second')
    components.push({
      ...aComponent('second mail', { name: 'mail' }),
      options: { ...components[0]!.options, command: ['nothing-of-this-name'] },
    })
    await expect(roll('second', { components })).rejects.toMatchObject({
      code: 'command_not_found',
      message: expect.stringContaining('the process mail'),
      hint: expect.stringContaining('the command of the process mail'),
    })
    await servesAlone('first')
  })

  test('is stopped and started again with all its containers', async () => {
    const { roll, deps, db, docker, workload } = await aWorkload({ isSimulated: true })
    const components = webAndWorkers('first')
    await roll('first', { components })
    const states = async () => {
      const rows = listInstances(db, workload.id)
      const found = await Promise.all(rows.map((row) => docker.inspectContainer(row.containerId!)))
      return rows.map(({ state }, at) => `${state} ${found[at]?.state}`)
    }
    await stopLive(deps, { workload, signal })
    expect(await states()).toEqual(Array(3).fill('stopped exited'))
    expect(await restartLive(deps, { workload, components, signal, stops: false })).toBe(true)
    expect(await states()).toEqual(Array(3).fill('live running'))
    const [, , last] = listInstances(db, workload.id)
    await docker.removeContainer(last!.containerId!, { force: true })
    expect(await restartLive(deps, { workload, components, signal, stops: true })).toBe(false)
  })
})
