import type { Container, ContainerKey } from '../docker/index.ts'
import { isStatus } from '../docker/refusals.ts'
import { mayBeHalfRestored } from '../jobs/after-store.ts'
import type { SlotCalls } from '../jobs/slots.ts'
import { stopping } from '../jobs/task.ts'
import { getJob } from '../jobs/store.ts'
import { report } from '../platform/journal.ts'
import type { Component } from './component.ts'
import { reserveEndpoints } from './endpoints.ts'
import { explain } from './explain.ts'
import { lastLines, whyEnded } from './gate-failures.ts'
import { beingRestored, named, tookTooLong, wasRemoved } from './once-failures.ts'
import type { Ended, OnceSubject } from './once-failures.ts'
import { deleteOnce, getOnce, insertOnce } from './once-store.ts'
import { stopAndRemove } from './remove.ts'
import { findContainer } from './revert.ts'
import { createOne, ensureVolumes } from './steps/create.ts'
import { keyOf } from './store.ts'
import { untilEngineResponds } from '../docker/retry-while-engine-down.ts'
import { networkNameOf } from './workload.ts'
import type { Workload, WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/** A one-off command that runs beside the live version. */
export type Once = {
  /** The id of its job, whose log has its output. */
  id: string
  workload: Workload
  /** The release whose image it runs. */
  releaseId: string
  component: Component
  /** Seconds from its start. */
  timeout: number
  subject: OnceSubject
  /** True when it keeps running while Davit restarts, and the next process resumes it. */
  resumes: boolean
  /** Awaited when its container was created, before it starts. */
  created?: (container: ContainerKey, signal: AbortSignal) => Promise<void>
  started?: (container: ContainerKey) => void
  /** Its job has no slot while it waits for a backup. */
  slots?: Pick<SlotCalls, 'releaseSlot' | 'takeSlot'>
  /** What it waits for. */
  log?: (line: string) => void
  /** Ends it. */
  signal: AbortSignal
  /** Aborted when Davit stops. */
  shutdown: AbortSignal
}

/** Milliseconds between two looks at whether one whose time is nearly over is still held. */
const heldLook = 1000

type OnceRun = RuntimeDeps & Once & { network: string }

/** True while someone works on it: this process, or the one that resumes the job of a run. */
export const isOnceWanted = ({ db, locks }: Pick<RuntimeDeps, 'db' | 'locks'>, id: string) =>
  locks.isRunningCommand(id) || getJob(db, id)?.kind === 'run'

/**
 * Runs one container of a component to its end, outside of a release, with the network, volumes and address
 * of one in a release. When this settles, its last lines are stored and it no longer runs, unless it keeps
 * running for the next process. Store the outcome, then call `removeOnce`. Throws a Failure when it didn't
 * exit by itself, and the reason of the signal.
 */
export function runOnce(deps: RuntimeDeps, once: Once): Promise<Ended> {
  const run: OnceRun = { ...deps, ...once, network: networkNameOf(once.workload) }
  return deps.locks.runCommand(once.id, async () => {
    try {
      return await toItsEnd(run)
    } catch (error) {
      if (once.resumes && once.signal.reason === stopping) throw stopping
      await stop(run)
      throw once.signal.aborted ? once.signal.reason : explain(error, named[once.subject])
    }
  })
}

/** The container may not exist. If the removal fails, `reconcile` removes it later. */
export async function removeOnce(
  deps: RuntimeDeps,
  { workload, id }: { workload: WorkloadKey; id: string },
): Promise<void> {
  const instance = getOnce(deps.db, id)
  if (!instance) return
  const found = await findContainer(deps, workload, instance)
  if (found) await stopAndRemove(deps, found)
  deleteOnce(deps.db, instance)
}

async function toItsEnd(run: OnceRun): Promise<Ended> {
  const { collector, locks, signal, workload } = run
  const made = await createOrResume(run)
  const docker = run.engines.of(made)
  const { id } = made
  let heldBefore: number | undefined
  let begunAt: number | undefined
  // the container shows what the engine did while it was unreachable
  const ended = await untilEngineResponds({ docker, shutdown: signal }, async () => {
    const container = await docker.inspectContainer(id, { signal })
    if (container?.state === 'created') {
      await run.created?.(made, signal)
      signal.throwIfAborted()
      await begin(run, made)
      begunAt = performance.now()
    }
    run.started?.(made)
    heldBefore ??= locks.heldFor(workload)
    begunAt ??= performance.now() - ageOf(container)
    return waitForEnd({ ...run, docker, heldBefore, begunAt }, id)
  })
  await collector.finish(made)
  return ended
}

/** Not while its volumes are moved or replaced, and once nothing holds them. */
async function begin(run: OnceRun, made: ContainerKey) {
  const { db, locks, workload, subject, slots, signal } = run
  const { refuseMoving } = await import('./move-store.ts')
  const refuse = () => {
    refuseMoving(db, { ...run, ...made })
    if (mayBeHalfRestored(db, workload.id)) throw beingRestored(subject)
  }
  refuse()
  const isRun = subject === 'run'
  const mayStart = isRun ? locks.mayRunStart(workload) : !locks.isHeld(workload)
  if (!mayStart) run.log?.(locks.isHeld(workload) ? copying : beforeCopying)
  const start = async () => {
    refuse()
    await run.runtime.start(made)
  }
  // a deployment doesn't wait for the runs that a backup waits for
  if (!isRun) return locks.beside(workload, signal, start)
  while (!locks.mayRunStart(workload)) {
    slots?.releaseSlot() // it can take as long as those runs
    await locks.startRun(workload, signal, async () => {})
    await slots?.takeSlot()
  }
  await locks.startRun(workload, signal, start)
}

const copying = 'Waiting until a backup has copied its volumes.'

/** What started it may be one of those that the backup waits for, and wait for it. */
const beforeCopying =
  'Waiting for a backup, which copies its volumes once the commands that run now, or a deployment, have ended. ' +
  'If one of them waits for this one, cancel the backup.'

/** Creates the container, or finds the one of the last process: only that can have been started. */
async function createOrResume(run: OnceRun): Promise<ContainerKey> {
  const { db, workload, id, releaseId, component, resumes, signal } = run
  const known = resumes && keyOf(getOnce(db, id))
  if (known) return known
  await removeOnce(run, run)
  signal.throwIfAborted()
  const [serverId] = await run.runtime.place(workload, [component])
  const of = { workload, id, releaseId, component: component.name, serverId: serverId! }
  const instance = insertOnce(db, of)
  const reserved = await reserveEndpoints(run, { members: [{ component, instance }] })
  await ensureVolumes(run, [{ component, instance }])
  signal.throwIfAborted()
  const endpoints = reserved.endpoints.get(id)!
  return createOne(run, { component, instance, endpoints, state: 'once' })
}

/** Milliseconds since the start of one that another process, or a call without a response, has started. */
const ageOf = (container: Container | null) =>
  Math.max(0, Date.now() - (container?.startedAt?.getTime() ?? Infinity))

/** In milliseconds that pass: a clock may be set, and that of another server deviate. */
type Begun = { heldBefore: number; begunAt: number }

async function waitForEnd(run: OnceRun & Begun, id: string): Promise<Ended> {
  const { docker, locks, workload, heldBefore, begunAt, subject, timeout, signal } = run
  const seen = await docker.inspectContainer(id, { signal })
  /** Paused for a backup, it can't come to its end. */
  const left = () => {
    const held = locks.heldFor(workload) - heldBefore
    return Math.ceil(begunAt + timeout * 1000 + held - performance.now())
  }
  // one that ended while Davit was down may have been in time
  if (seen?.state !== 'exited') await untilExit()
  const container = await docker.inspectEnded(id, { signal })
  if (!container) throw wasRemoved(subject)
  const { exitCode, oomKilled } = container
  const lines = exitCode === 0 ? [] : await lastLines(docker, id)
  return { exitCode, oomKilled, why: await whyEnded(docker, { ...container, container, lines }) }

  async function untilExit(): Promise<void> {
    // what is left stays the same while it is held
    const fewest = locks.isHeld(workload) ? heldLook : 0
    const over = AbortSignal.timeout(Math.max(fewest, left()))
    try {
      await docker.waitForExit(id, { signal: AbortSignal.any([signal, over]) })
    } catch (error) {
      if (over.aborted && !signal.aborted) {
        if (left() > 0) return untilExit()
        throw tookTooLong(subject, timeout)
      }
      if (!isStatus(error, 404)) throw error
    }
  }
}

/** Stops it in any state, and stores its last lines. */
async function stop(run: OnceRun) {
  const { db, collector, id } = run
  const made = keyOf(getOnce(db, id))
  if (!made) return
  try {
    await untilEngineResponds(run, () => run.runtime.stop(made))
    await collector.finish(made)
  } catch (error) {
    report('a command that must end is still running', error, { container: made.id })
  }
}
