import { chmodSync } from 'node:fs'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import { Failure } from '../platform/errors.ts'
import { connectAdmin } from './admin.ts'
import { apply, whenUp } from './apply.ts'
import type { Wanted } from './apply.ts'
import { configurationOf, differInPlainHosts } from './configuration.ts'
import { folderInside, savedConfiguration } from './container.ts'
import type { Caddy, Plan } from './plan.ts'
import { RejectedHosts, noHandler } from './rejected-hosts.ts'
import { cannotRun, isEngineAway, refusedHere } from './mode.ts'
import type { Here } from './mode.ts'
import { adminSocket, davitSocket } from './plan.ts'
import { isQuiet } from './sockets.ts'

/** The engine that Davit's own Caddy runs on. */
export type Engine = {
  look(options: { signal: AbortSignal }): Promise<Here>
  pull(options: { signal: AbortSignal }): Promise<void>
  /** Makes it run as configured. */
  ensure(options: { folder: string; signal: AbortSignal }): Promise<{ version: string | null }>
  remove(options: { signal: AbortSignal }): Promise<void>
}

type OwnOptions = {
  /** As Davit sees it. */
  folder: string
  ports: Plan['ports']
  engine: Engine
}

/** Milliseconds for pulling the image, and before the pull is retried. */
const pullTime = 120_000
const pullAgain = { first: 300_000, most: 300_000 }

/** Milliseconds before a failed container is retried: more each time. */
const ensureAgain = { first: 500, most: 30_000 }

/** Maximum attempts to start. */
const mostTries = 5

/** The Caddy that Davit runs itself, in a container. */
export function ownCaddy({ folder, ports, engine }: OwnOptions): Caddy {
  const admin = connectAdmin({ socket: adminSocket(folder) })
  const rejectedHosts = new RejectedHosts({
    listening: (options) => admin.list('config/apps/http/servers/listeners/listen', options),
    tryOut: (plan, options) =>
      admin.load(configurationOf({ ...plan, timesBodies }, [noHandler]), options),
  })
  const pull = withBackoff(pullAgain, ({ signal }) =>
    engine.pull({ signal: AbortSignal.any([signal, AbortSignal.timeout(pullTime)]) }),
  )
  const ensure = withBackoff(ensureAgain, ({ signal }) => engine.ensure({ folder, signal }))
  let timesBodies = true
  /** True once this Caddy has accepted it: one that starts with a field it doesn't know ends. */
  let mayStartWithTimes = false
  let isSure = false
  let doubted = new AbortController()
  let version: string | null = null
  let loadedAt: Date | null = null
  let last: ({ plan: Plan } & Wanted) | null = null

  /** Repeated when the container changes meanwhile. */
  async function start(plan: Plan, { signal }: { signal: AbortSignal }) {
    for (let tries = 1; !isSure; tries++) {
      doubted = new AbortController()
      const isLast = tries >= mostTries
      // the last attempt isn't interrupted: its failure says why it doesn't run
      const either = isLast ? signal : AbortSignal.any([signal, doubted.signal])
      try {
        const isKnown = await startOnce(plan, { signal: either })
        isSure = isKnown && !doubted.signal.aborted
        if (!isKnown) return
      } catch (error) {
        if (!signal.aborted && doubted.signal.aborted && !isLast) continue
        mayStartWithTimes = false
        throw error
      }
    }
  }

  /** True when it certainly runs as configured. While the engine is unreachable a response is enough. */
  async function startOnce(plan: Plan, { signal }: { signal: AbortSignal }) {
    chmodSync(folder, 0o700) // the user's own Caddy had access before
    const here = await engine.look({ signal }).catch(async (error) => {
      if (!isEngineAway(error) || !(await answers(signal))) throw error
      return null
    })
    if (!here) return false
    const refusal = await refusedHere({ ...here, folder, ports })
    if (refusal) throw refusal
    if (!here.hasImage && !here.isRunning)
      await pull({ signal }).catch((error) => {
        throw signal.aborted ? error : noImage(error)
      })
    if (!here.isRunning) {
      rejectedHosts.holdsNothing()
      const { served } = await rejectedHosts.served(plan, { signal })
      const starting = { ...served, timesBodies: mayStartWithTimes }
      const saved = JSON.stringify(configurationOf(starting))
      writeFileAtomically(savedConfiguration(folder), saved)
    }
    const ensured = await ensure({ signal })
    version = ensured.version ?? version
    await whenUp({ admin }, { signal })
    if (!here.isRunning) noteLoad(signal) // of the saved configuration
    return true
  }

  function noteLoad(signal: AbortSignal) {
    loadedAt = new Date()
    void admin.collectGarbage({ signal })
  }

  const answers = (signal: AbortSignal) =>
    admin.read('id/none', { signal, timeout: 1000 }).then(
      () => true,
      () => false,
    )

  async function put(served: Plan, signal: AbortSignal): Promise<'in force' | 'waits'> {
    const plan = { ...served, timesBodies }
    const isBusy = async () => !(await isQuiet([ports.http, ports.https]))
    const mayWait = (current: unknown, wanted: unknown) => differInPlainHosts(current, wanted, plan)
    const options = { signal, isBusy, mayWait }
    if (!Bun.deepEquals(last?.plan, plan)) last = { plan, configuration: configurationOf(plan) }
    const state = await apply({ admin }, last!, options)
    if (state === 'loaded') noteLoad(signal)
    if (state !== 'waits') {
      rejectedHosts.holds(plan)
      mayStartWithTimes = timesBodies
    }
    return state === 'waits' ? state : 'in force'
  }

  return {
    mode: 'caddy',
    folder: folderInside,
    ports,
    davit: `unix/${davitSocket(folderInside)}`,
    start,
    get version() {
      return version
    },
    doubt() {
      isSure = false
      doubted.abort()
    },
    async serve(plan, { signal }) {
      for (;;) {
        const { served, rejected } = await rejectedHosts.served(plan, { signal })
        try {
          return { state: await put(served, signal), loadedAt, rejected }
        } catch (error) {
          const code = error instanceof Failure ? error.code : null
          if (code === 'edge_refused' && timesBodies && isUntimed(error as Failure)) {
            timesBodies = false
          } else if (code === 'edge_refused') {
            if (!(await rejectedHosts.learn(served, error as Failure, { signal }))) throw error
          } else if (code === 'edge_unreachable' && isSure) {
            isSure = false
            await start(plan, { signal })
          } else throw error
        }
      }
    },
    async stop({ signal }) {
      isSure = false
      await engine.remove({ signal })
    },
  }
}

/** Never the error of the saved configuration, which lacks this field. */
export const isUntimed = ({ message }: Failure) => message.includes('unknown field "read_timeout"')

/** After a failure, throws the same error for a while, longer each time, without trying again. */
function withBackoff<Result>(
  pauses: { first: number; most: number },
  work: (options: { signal: AbortSignal }) => Promise<Result>,
) {
  let failed: { error: unknown; until: number } | null = null
  let pause = pauses.first
  return async (options: { signal: AbortSignal }) => {
    if (failed && performance.now() < failed.until) throw failed.error
    try {
      const result = await work(options)
      failed = null
      pause = pauses.first
      return result
    } catch (error) {
      if (options.signal.aborted) throw error
      failed = { error, until: performance.now() + pause }
      pause = Math.min(pause * 2, pauses.most)
      throw error
    }
  }
}

const noImage = (cause: unknown) =>
  cannotRun(
    'the image caddy:2 couldn’t be pulled',
    `${cause instanceof Failure ? `${cause.message} ` : ''}Pull it yourself with “docker pull caddy:2”; Davit then uses it.`,
  )
