import { expect } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import type { Docker } from '../../src/docker/index.ts'
import type { Component } from '../../src/runtime/component.ts'
import { rollOut } from '../../src/runtime/roll-out.ts'
import type { RollOut } from '../../src/runtime/run.ts'
import { getLiveRelease, isRollingOut, listInstances } from '../../src/runtime/store.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

const verbs = {
  createContainer: 'create',
  startContainer: 'start',
  setRestartPolicy: 'keep',
  stopContainer: 'stop',
  removeContainer: 'remove',
} as const
type Call = keyof typeof verbs

export type Options = Partial<Pick<RollOut, 'strategy' | 'signal'>> & {
  script?: string
  volume?: string
  /** Instead of one `web`. */
  components?: Component[]
  keepsUnchanged?: boolean
  hooks?: Partial<RollOut['hooks']>
}

/** Of an environment in which nothing was ever deployed. */
export async function newWorkload(ada: TestClient) {
  const project = { name: 'site', repositoryUrl: 'https://git.example.com/site.git' }
  const { json } = await ada.post('/projects', project)
  const [{ id }] = (await ada.get(`/projects/${json.id}/envs`)).json.items
  return { id, kind: 'app', ownerId: ada.user.id, projectId: json.id } as const
}

/** An environment to roll releases out to, and what is done to its containers meanwhile, in order. */
export async function aWorkload({
  isSimulated = false,
  otherEngines = [],
}: { isSimulated?: boolean; otherEngines?: Docker[] } = {}) {
  const { t, ada } = withAda(isSimulated ? simulatedApp({}, { otherEngines }) : testApp())
  const workload = await newWorkload(ada)
  const { id } = workload
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
    ada,
    workload,
    taken,
    /** After that step of the engine something happens, such as an error. */
    after: (step: string, event: () => unknown) => breaks.set(step, event),
    roll(
      version: string,
      { script = 'sleep 99', volume, components, keepsUnchanged, ...of }: Options = {},
    ) {
      const { hooks, signal, ...rest } = of
      const one = () => aComponent(version, { script, volume: volume && `${id}-${volume}` })
      const shutdown = new AbortController().signal
      return rollOut(t.deps, {
        workload,
        release: {
          id: version,
          components: components ?? [one()],
          ...(keepsUnchanged && { keepsUnchanged }),
        },
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

export const aComponent = (
  version: string,
  {
    name = 'web',
    replicas = 1,
    script = 'sleep 99',
    volume,
    port,
  }: {
    name?: string
    replicas?: number
    script?: string
    volume?: string | undefined
    port?: number
  },
): Component => ({
  name,
  replicas,
  options: {
    name: `davit-test-${version.replaceAll(' ', '-')}`,
    image: 'busybox',
    command: ['sh', '-c', script],
    env: { VERSION: version },
    ...(volume && { volumes: [{ name: volume, path: '/data' }] }),
    ...(port && { ports: [{ container: 80, host: port, address: '127.0.0.1' }] }),
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

export const broken = () => {
  throw new EngineError(500, 'something broke')
}
