import { describe, expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import type { Component } from '../../src/runtime/component.ts'
import { reconcile } from '../../src/runtime/reconcile.ts'
import { rollOut } from '../../src/runtime/roll-out.ts'
import type { RollOut } from '../../src/runtime/run.ts'
import { getLiveRelease, isRollingOut, listInstances } from '../../src/runtime/store.ts'
import { testApp } from '../support/app.ts'

const verbs = {
  createContainer: 'create',
  startContainer: 'start',
  setRestartPolicy: 'keep',
  stopContainer: 'stop',
  removeContainer: 'remove',
} as const
type Call = keyof typeof verbs

type Options = Partial<Pick<RollOut, 'strategy' | 'signal'>> & {
  script?: string
  volume?: string
  hooks?: Partial<RollOut['hooks']>
}

/** An environment to roll releases out to, and what is done to its containers meanwhile, in order. */
async function aWorkload() {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = { name: 'site', repositoryUrl: 'https://git.example.com/site.git' }
  const { json } = await ada.post('/projects', project)
  const [{ id }] = (await ada.get(`/projects/${json.id}/envs`)).json.items
  const workload = { id, kind: 'app', ownerId: ada.user.id, projectId: json.id } as const
  const taken: string[] = []
  const versions = new Map<string, string>()
  const breaks = new Map<string, () => unknown>()

  for (const [call, verb] of Object.entries(verbs) as [Call, string][]) {
    const engine = t.docker[call] as (...args: unknown[]) => Promise<unknown>
    Object.assign(t.faults, {
      [call]: async (...args: unknown[]) => {
        const [first] = args as [string | { env: { VERSION: string } }]
        const version = typeof first === 'string' ? versions.get(first)! : first.env.VERSION
        const step = `${verb} ${version}`
        taken.push(step)
        const result = await engine(...args)
        if (call === 'createContainer') versions.set(result as string, version)
        await breaks.get(step)?.()
        return result
      },
    })
  }

  return {
    ...t,
    workload,
    taken,
    /** After that step of the engine something happens, such as an error. */
    after: (step: string, event: () => unknown) => breaks.set(step, event),
    roll(version: string, { script = 'sleep 99', volume, hooks, signal, ...rest }: Options = {}) {
      const components = [aComponent(version, { script, volume: volume && `${id}-${volume}` })]
      const shutdown = new AbortController().signal
      return rollOut(t.deps, {
        workload,
        release: { id: version, components },
        signal: signal ?? shutdown,
        shutdown,
        ...rest,
        hooks: { commit: () => void taken.push(`commit ${version}`), ...hooks },
      })
    },
    /** The one release that there is serves, by one container that runs. */
    async servesAlone(version: string) {
      const rows = listInstances(t.db, id)
      expect(rows).toMatchObject([{ releaseId: version, state: 'live' }])
      expect(isRollingOut(t.db, id)).toBe(false)
      expect(getLiveRelease(t.db, id)?.id).toBe(version)
      const labels = [`davit.environment=${id}`]
      const containers = await t.docker.listContainers({ labels, all: true })
      expect(containers).toMatchObject([{ id: rows[0]!.containerId, state: 'running' }])
    },
  }
}

const aComponent = (
  version: string,
  { script, volume }: { script: string; volume?: string | undefined },
): Component => ({
  name: 'web',
  replicas: 1,
  options: {
    name: `davit-test-${version}`,
    image: 'busybox',
    command: ['sh', '-c', script],
    env: { VERSION: version },
    ...(volume && { volumes: [{ name: volume, path: '/data' }] }),
    memoryBytes: 32 * 2 ** 20,
    cpus: 1,
    pidsLimit: 64,
    restart: { name: 'unless-stopped' },
  },
  joins: [],
  files: [],
  waits: [],
  oneShot: false,
  gate: { kind: 'probe', port: 0, path: null, timeout: 5000 },
})

const broken = () => {
  throw new EngineError(500, 'something broke')
}

describe('a release takes the place of another', () => {
  test('that runs until the new one serves, where they share nothing', async () => {
    const { roll, taken, servesAlone } = await aWorkload()
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
    const { roll, taken, servesAlone } = await aWorkload()
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
    expect(downtime).toBeGreaterThan(0)
    await servesAlone('second')
  })
})

describe('what fails before the commit', () => {
  test('at any step is undone in reverse order, so that the old release serves again', async () => {
    const { roll, taken, after, servesAlone } = await aWorkload()
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
    const { roll, servesAlone } = await aWorkload()
    await roll('first')
    await expect(roll('second', { hooks: { commit: broken } })).rejects.toThrow('something broke')
    await servesAlone('first')
    await roll('second')
    await servesAlone('second')
  })

  test('because the app ended or the work was aborted is undone as well', async () => {
    const { roll, servesAlone } = await aWorkload()
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
    const { roll, after, servesAlone, deps, db, workload } = await aWorkload()
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
    const { roll, after, servesAlone, taken, deps, db, workload } = await aWorkload()
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
    const { roll, servesAlone } = await aWorkload()
    await roll('first')
    const abort = new AbortController()
    await roll('second', { signal: abort.signal, hooks: { committed: () => abort.abort() } })
    await servesAlone('second')
  })
})
