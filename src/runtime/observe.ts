import { resync } from '../docker/index.ts'
import type { EngineFeed } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
import {
  retryDelay,
  retryWhileEngineDown,
  untilEngineResponds,
} from '../docker/retry-while-engine-down.ts'
import { report } from '../platform/journal.ts'
import { sleepUpTo, untilBeat } from '../platform/pause.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { listDifferent, listLeft } from './reconcile.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

export type Observed<Deps> = {
  kind: WorkloadKey['kind']
  /** Updates a workload's stored state from its containers. */
  observe: (
    deps: Deps,
    id: string,
    options: { orphans: boolean; signal: AbortSignal },
  ) => Promise<void>
  /** Workloads whose state depends on more than running containers, such as their health. */
  listAlways?: (deps: Deps) => string[]
}

type UntilStopped = { signal: AbortSignal }

/** Observes, at Davit's start, workloads whose containers differ from the database. Waits for the engine. */
export async function observeDifferent<Deps extends RuntimeDeps>(
  deps: Deps,
  { kind, observe }: Observed<Deps>,
  { signal }: UntilStopped,
) {
  const { docker } = deps
  const options = { signal, failed: `the state of ${plural[kind]} is unknown` }
  const different = await retryWhileEngineDown(docker, options, () =>
    listDifferent(deps, kind, { signal }),
  )
  for (const id of different ?? [])
    await retryWhileEngineDown(docker, { ...options, fields: { [kind]: id } }, () =>
      observe(deps, id, { orphans: true, signal }),
    )
}

/** Milliseconds after which what could not be removed is tried again. */
const againAfter = 600_000

/**
 * Keeps the stored states current, whoever starts, stops or removes containers, and tries again to remove what is
 * left. Ends with the signal.
 */
export async function watchWorkloads<
  Deps extends RuntimeDeps & { feed: EngineFeed; scheduler: Scheduler },
>(deps: Deps, { kind, observe, listAlways = () => [] }: Observed<Deps>, { signal }: UntilStopped) {
  /** Workloads that couldn't be observed; true for those to check again. */
  const failing = new Map<string, boolean>()
  const removing = deps.scheduler.keep(
    {
      next: (now) => now + untilBeat(againAfter, now),
      run: removeLeft,
      failed: 'what is left could not be looked for',
    },
    { signal },
  )

  for await (const event of deps.feed.listen(signal)) {
    if (event === resync) {
      await keepTrying('', observeAll)
      continue
    }
    const { instanceId, [idField[kind]]: id } = readLabels(event.attributes)
    if (instanceId === deps.instanceId && id && relevantEvents.test(event.action))
      await observeOne(id, { orphans: false })
  }
  await removing

  async function removeLeft() {
    for (const id of listLeft(deps, kind)) await observeOne(id, { orphans: false })
  }

  async function observeAll() {
    const different = await listDifferent(deps, kind, { signal })
    for (const id of different.union(new Set(listAlways(deps))))
      await observeOne(id, { orphans: true })
  }

  /** A retry covers everything that was requested meanwhile. */
  function observeOne(id: string, { orphans }: { orphans: boolean }) {
    return keepTrying(id, () => observe(deps, id, { orphans: orphans || failing.has(id), signal }))
  }

  /** Retries until it succeeds, without blocking others: a stored state must not stay wrong. */
  async function keepTrying(id: string, work: () => Promise<void>) {
    if (failing.has(id)) {
      failing.set(id, true) // this event may come too late for the observation that is running
      return
    }
    try {
      await attempt(work)
    } catch (error) {
      if (signal.aborted) return
      report(`${plural[kind]} could not be observed`, error, { [kind]: id })
      failing.set(id, true)
      void tryAgain(id, work)
    }
  }

  async function tryAgain(id: string, work: () => Promise<void>) {
    while (failing.get(id) && !signal.aborted) {
      await sleepUpTo(retryDelay, signal)
      failing.set(id, false)
      await attempt(work).catch(() => failing.set(id, true))
    }
    failing.delete(id)
  }

  function attempt(work: () => Promise<void>) {
    return untilEngineResponds({ docker: deps.docker, shutdown: signal }, work)
  }
}

const plural = { app: 'apps', service: 'services' }
const idField = { app: 'environmentId', service: 'serviceId' } as const

/** A container that is stopped between two restarts only sends `stop`, no `die`. */
const relevantEvents = /^(start|die|stop|destroy|health_status)/
