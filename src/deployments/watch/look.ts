import type { WatchVerdict } from '../../db/schema.ts'
import { killed, resync } from '../../docker/index.ts'
import type { Container, ContainerSummary, Docker, EngineEvent } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import { report } from '../../platform/journal.ts'
import { sleepUpTo } from '../../platform/pause.ts'
import { checkHealth } from '../../runtime/check-health.ts'
import { mayEnd } from '../../runtime/component.ts'
import { networkNameOf } from '../../runtime/workload.ts'
import { figuresOf, getWatched, updateWatch } from './store.ts'
import type { Watched } from './store.ts'
import { subjectsOf } from './subjects.ts'
import type { Subject } from './subjects.ts'
import { Ends, Failures, verdictOf } from './verdict.ts'
import type { Ended, Observation } from './verdict.ts'
import type { WatchDeps } from '../context.ts'

/** Milliseconds between two looks at the requests, and at the clock. */
const interval = 1000

/** Health checks of a watch, and milliseconds between two of them. */
const checks = { count: 12, least: 1000, most: 5000 }

/** A clock that deviates by more than these milliseconds was set. */
const tolerance = 2000

/** Looks at a new version until something tells against it, or the time is over: then null. */
export async function untilVerdict(deps: WatchDeps, watched: Watched, outer: AbortSignal) {
  const { db, logDb, engines, feed, instanceId, observed } = deps
  const { id: releaseId, environmentId, projectId, watch } = watched
  const over = new AbortController()
  const signal = AbortSignal.any([outer, over.signal])
  const subjects = subjectsOf(deps, { environmentId, releaseId })
  const judge = (seen: Observation) => verdictOf(watch.on, seen)
  const ofBefore = Promise.withResolvers<WatchVerdict>()
  try {
    return await Promise.race([hear(), ofBefore.promise, untilOver(), failHealth()])
  } finally {
    over.abort()
  }

  /**
   * Begins with what happened before it listened. Events don't wait for that: an engine describes no container while
   * it is busy with its end or its next start, which can take seconds. Its list doesn't wait either, but knows less.
   */
  async function hear(): Promise<WatchVerdict | null> {
    const ends = new Ends()
    for await (const event of feed.listen(signal)) {
      if (event === resync)
        for (const look of [listAll, inspectAll])
          void look().then((found) => found && ofBefore.resolve(found))
      const found = event === resync ? null : heard(event, ends)
      if (found) return found
    }
    return null
  }

  function heard(event: EngineEvent, ends: Ends) {
    const subject = subjects.find(({ id }) => id === event.id)
    const ended = subject && ends.hear(event)
    return ended ? crashed(subject, ended) : null
  }

  async function listAll() {
    const labels = labelFilter(instanceId, { environmentId })
    const list = (docker: Docker) => docker.listContainers({ labels, all: true, signal })
    // after a failure the next resync follows
    const { found } = await engines.reachable(list).catch(() => ({ found: [] }))
    for (const subject of subjects) {
      const listed = found.find(({ id }) => id === subject.id)
      const { exitCode = null } = listed ?? {}
      // only an inspection tells whether that was for memory
      if (!listed || exitCode === null || exitCode === killed || !hasEnded(listed)) continue
      const verdict = crashed(subject, { exitCode, isOutOfMemory: false })
      if (verdict) return verdict
    }
    return null
  }

  async function inspectAll() {
    for (const subject of subjects) {
      const container = await observed.inspect(subject.id, { signal }).catch(() => null)
      const ended = container && endedSince(container, watched)
      const found = ended ? crashed(subject, ended) : null
      if (found) return found
    }
    return null
  }

  function crashed({ name, component }: Subject, ended: Ended) {
    if (ended.exitCode === 0 && mayEnd(component)) return null
    const memoryMb = Math.round(component.options.memoryBytes / 1024 / 1024)
    return judge({ kind: 'crash', name, ended, memoryMb })
  }

  /** By a clock that no one sets. */
  async function untilOver(): Promise<WatchVerdict | null> {
    let until = watched.watchUntil.getTime()
    const end = performance.now() + Math.min(until - Date.now(), watch.seconds * 1000)
    let wasStopped = false
    for (;;) {
      const remains = end - performance.now()
      if (remains <= 0 || signal.aborted) return null
      await sleepUpTo(Math.min(interval, remains), signal)
      const stored = getWatched(db, releaseId)
      if (!stored) return null // its environment was deleted
      const isStopped = stored.status === 'stopped' && !watch.share // else the one before gets all requests
      if (isStopped && wasStopped) return null // once may be within a restart
      wasStopped = isStopped
      const estimated = deps.watched.estimatedOf(environmentId)
      const found = judge({ kind: 'errors', ...figuresOf(logDb, watched), estimated })
      if (found) return found
      const now = Date.now() + end - performance.now()
      if (Math.abs(now - until) <= tolerance || signal.aborted) continue
      until = now
      updateWatch(db, watched, { watchUntil: new Date(now) })
    }
  }

  async function failHealth(): Promise<WatchVerdict | null> {
    const { count, least, most } = checks
    const pause = Math.min(most, Math.max(least, (watch.seconds * 1000) / count))
    const run = { ...deps, network: networkNameOf({ id: environmentId, projectId }), signal }
    const failures = new Failures()
    while (watch.on.includes('health') && !signal.aborted) {
      for (const subject of subjects) {
        const result = await checkHealth(run, subject).catch((error) => {
          if (!signal.aborted) report('a health check of a new version failed', error)
          return null
        })
        if (result && failures.add(subject.id, result))
          return judge({ kind: 'health', name: subject.name })
      }
      await sleepUpTo(pause, signal)
    }
    return new Promise<never>(() => {}) // the others decide
  }
}

/** What a person stops ends with one of these. */
const stopped = new Set<number | null>([0, 130, killed, 143])

const hasEnded = ({ state, exitCode }: Pick<ContainerSummary, 'state' | 'exitCode'>) =>
  state === 'restarting' || (state === 'exited' && !stopped.has(exitCode))

/** Also between the switch and now. What a container did long before it was kept tells nothing. */
function endedSince(container: Container, { createdAt, watch }: Watched): Ended | null {
  const { exitCode, restartCount, oomKilled, startedAt } = container
  const isEnd = hasEnded(container)
  const isRecent =
    container.createdAt >= createdAt || (startedAt !== null && startedAt.getTime() > watch.since)
  const isAgain = isRecent && (restartCount > 0 || oomKilled)
  return isEnd || isAgain ? { exitCode: isEnd ? exitCode : null, isOutOfMemory: oomKilled } : null
}
