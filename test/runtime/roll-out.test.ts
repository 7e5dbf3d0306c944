import { describe, expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { reconcile } from '../../src/runtime/reconcile.ts'
import { startStopped } from '../../src/runtime/restart.ts'
import { getLiveRelease, listInstances } from '../../src/runtime/store.ts'
import { twoServers } from './two-servers.ts'
import { aComponent, aWorkload, broken } from './workload.ts'
import type { Options } from './workload.ts'

describe('a release takes the place of another', () => {
  test('that runs until the new one serves, where they share nothing', async () => {
    const { roll, taken, servesAlone } = await aWorkload({ isSimulated: true })
    await roll('first')
    await roll('second')
    expect(taken).toEqual([
      ...['create first', 'start first', 'keep first', 'commit first'],
      ...['create second', 'start second', 'keep second', 'commit second'],
      ...['stop first', 'remove first'],
    ])
    await servesAlone('second')
  })

  test.each([
    ['both hold a volume', { volume: 'data' }],
    ['it is asked for', { strategy: 'stop-first' }],
  ] as const)('that stops first where %s', async (_, options) => {
    const { roll, taken, servesAlone } = await aWorkload({ isSimulated: true })
    await roll('first', options)
    let downtime: number | null = null
    await roll('second', {
      ...options,
      hooks: { commit: (_, of) => void (downtime = of.downtimeMs) },
    })
    expect(taken.slice(4)).toEqual([
      ...['create second', 'stop first', 'start second', 'keep second'],
      ...['stop first', 'remove first'],
    ])
    expect(downtime).toBeNumber() // 0 is possible on a simulated engine; it is null without a stop
    await servesAlone('second')
  })

  test('that waits to get requests again, which ends before it stops', async () => {
    const { roll, after, deps, workload, db } = await aWorkload({ isSimulated: true })
    await roll('first', { volume: 'data' })
    let waits = true
    deps.instanceTasks.begin(listInstances(db, workload.id)[0]!, 'return', ({ expedite }) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      expedite.addEventListener('abort', () => ((waits = false), resolve()))
      return promise
    })
    const atStop: boolean[] = []
    after('stop first', () => atStop.push(waits))
    await roll('second', { volume: 'data' })
    expect(atStop[0]).toBe(false)
  })
})

describe('what fails before the commit', () => {
  test('at any step is undone in reverse order, so that the old release serves again', async () => {
    const { roll, taken, after, servesAlone } = await aWorkload({ isSimulated: true })
    await roll('first', { volume: 'data' })
    const removed = ['stop second', 'remove second']
    for (const [step, undo] of [
      ['create second', removed],
      ['stop first', ['start first', ...removed]],
      ['start second', [...removed, 'start first']],
      ['keep second', [...removed, 'start first']],
    ] as const) {
      taken.length = 0
      after(step, broken)
      const told: string[][] = []
      const hooks: Options['hooks'] = { undone: ({ problems }) => void told.push(problems) }
      const work = roll('second', { volume: 'data', hooks })
      await expect(work).rejects.toThrow('something broke')
      // what is tried to be removed twice is none the second time
      expect([...new Set(taken.slice(taken.indexOf(step) + 1))]).toEqual([...undo])
      expect(told).toEqual([[]])
      await servesAlone('first')
      after(step, () => {})
    }
  })

  test('in the commit itself is undone too, and nothing of it is stored', async () => {
    const { roll, servesAlone } = await aWorkload({ isSimulated: true })
    await roll('first')
    await expect(roll('second', { hooks: { commit: broken } })).rejects.toThrow('something broke')
    await servesAlone('first')
    await roll('second')
    await servesAlone('second')
  })

  test('starts again all old containers that can start, also after one that can’t', async () => {
    const s = await aWorkload({ isSimulated: true })
    const { roll, after, db, workload } = s
    const names = ['web', 'worker', 'mailer']
    const all = (version: string) =>
      names.map((name) => aComponent(`${version} ${name}`, { name, volume: `${workload.id}-data` }))
    await roll('first', { components: all('first') })
    const old = listInstances(db, workload.id)
    const web = old.find(({ component }) => component === 'web')!.containerId!
    const { startContainer } = s.faults
    s.faults.startContainer = async (id, ...rest) => {
      if (id === web) throw new EngineError(500, 'port is already allocated')
      return startContainer!(id, ...rest)
    }
    after('start second web', broken)
    const told: string[] = []
    const hooks: Options['hooks'] = { undone: ({ problems }) => void told.push(...problems) }
    await expect(roll('second', { components: all('second'), hooks })).rejects.toThrow()
    expect(told).toEqual([expect.stringContaining('port is already allocated')])
    const statesOf = async () => {
      const found = await Promise.all(old.map((one) => s.docker.inspectContainer(one.containerId!)))
      return found.map((one) => one!.state)
    }
    const wanted = old.map((one) => (one.containerId === web ? 'exited' : 'running'))
    expect(await statesOf()).toEqual(wanted)

    // also where it isn’t known whether that one runs
    for (const { containerId } of old) await s.docker.stopContainer(containerId!)
    s.faults.inspectContainer = async (id, ...rest) =>
      id === web ? broken() : s.docker.inspectContainer(id, ...rest)
    const signal = new AbortController().signal
    await expect(startStopped(s.deps, { workload, signal })).rejects.toThrow('already allocated')
    expect(await statesOf()).toEqual(wanted)
  })

  test('because the app ended or the work was aborted is undone as well', async () => {
    const { roll, servesAlone } = await aWorkload({ isSimulated: true })
    await roll('first')
    await expect(roll('second', { script: 'exit 3' })).rejects.toThrow('exited with code 3')
    await servesAlone('first')
    const abort = new AbortController()
    const enter = (state: string) => state === 'starting' && abort.abort(new Error('enough'))
    const work = roll('third', { signal: abort.signal, hooks: { enter } })
    await expect(work).rejects.toThrow('enough')
    await servesAlone('first')
  })

  test('and can’t be removed is told, and left to the next look at the workload', async () => {
    const { roll, after, servesAlone, deps, db, workload } = await aWorkload({ isSimulated: true })
    await roll('first')
    after('start second', broken)
    after('stop second', broken)
    const told: string[] = []
    const hooks: Options['hooks'] = { undone: ({ problems }) => void told.push(...problems) }
    await expect(roll('second', { hooks })).rejects.toThrow('something broke')
    expect(told).toContain('The new container was not removed: something broke')
    const states = listInstances(db, workload.id).map(({ releaseId, state }) => [releaseId, state])
    expect(states).toEqual([
      ['first', 'live'],
      ['second', 'draining'],
    ])
    after('stop second', () => {})
    await reconcile(deps, workload, { orphans: false, signal: new AbortController().signal })
    await servesAlone('first')
  })
})

describe('after the commit', () => {
  test('nothing is undone: what could not be removed then is removed later', async () => {
    const { roll, after, servesAlone, taken, deps, db, workload } = await aWorkload({
      isSimulated: true,
    })
    await roll('first')
    after('stop first', broken)
    await roll('second', { hooks: { undone: () => void taken.push('undone') } })
    expect(taken.slice(taken.indexOf('commit second'))).toEqual(['commit second', 'stop first'])
    expect(getLiveRelease(db, workload.id)?.id).toBe('second')
    after('stop first', () => {})
    await reconcile(deps, workload, { orphans: false, signal: new AbortController().signal })
    await servesAlone('second')
  })

  test('an abort changes nothing', async () => {
    const { roll, servesAlone } = await aWorkload({ isSimulated: true })
    await roll('first')
    const abort = new AbortController()
    await roll('second', { signal: abort.signal, hooks: { committed: () => abort.abort() } })
    await servesAlone('second')
  })
})

test('replicas on two servers are created, and started, at the same time', async () => {
  const s = await twoServers()
  s.place({ labels: {}, spread: 'servers' })
  for (const name of ['createContainer', 'startContainer'] as const) {
    const both = Promise.withResolvers<void>()
    let begun = 0
    const together = async () => {
      if (++begun === 2) both.resolve()
      await both.promise
    }
    const [here, there] = [s.docker[name], s.otherDocker[name]] as ((...of: unknown[]) => unknown)[]
    Object.assign(s.faults, { [name]: (...of: unknown[]) => together().then(() => here!(...of)) })
    Object.assign(s.otherDocker, {
      [name]: (...of: unknown[]) => together().then(() => there!(...of)),
    })
  }
  await s.roll('both', { components: s.web('both', 2) })
  expect([s.engine.containers.size, s.other.containers.size]).toEqual([1, 1])
})

test('a container that stays up passes its gate, however far its server’s clock is ahead', async () => {
  const { roll, faults, docker, servesAlone } = await aWorkload({ isSimulated: true })
  faults.inspectContainer = async (...asked) => {
    const found = await docker.inspectContainer(...asked)
    return found && { ...found, startedAt: found.startedAt && new Date(Date.now() + 3_600_000) }
  }
  await roll('first', { components: [{ ...aComponent('first', {}), gate: { kind: 'engine' } }] })
  await servesAlone('first')
})
