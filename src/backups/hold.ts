import { apps } from '../deployments/observe.ts'
import type { HeldContainer } from '../db/schema.ts'
import type { Container, Docker } from '../docker/index.ts'
import { stopping } from '../jobs/task.ts'
import type { Work } from '../jobs/task.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import { drain } from '../runtime/drain.ts'
import { listOnce } from '../runtime/once-store.ts'
import { freeze, standingOf, startAgain } from '../runtime/freeze.ts'
import { isWanted, listLiveInstances } from '../runtime/store.ts'
import { isStatus } from '../docker/refusals.ts'
import { untilEngineResponds } from '../docker/retry-while-engine-down.ts'
import { filterOf, isUp } from '../runtime/workload.ts'
import type { Workload } from '../runtime/workload.ts'
import { services } from '../services/observe.ts'
import { counted } from '../web/units.ts'
import type { BackupDeps } from './deps.ts'
import { getBackup, isBeingRestored, listHolding, setBackup } from './store.ts'
import type { Backup } from './store.ts'

export type HoldDeps = Pick<RuntimeDeps, 'db' | 'engines' | 'instanceId'>

export type HoldingWork = Pick<Work, 'signal' | 'shutdown' | 'releaseSlot' | 'takeSlot'>

type Held = {
  backup: Pick<Backup, 'id' | 'hold'>
  workload: Workload
  volumes: string[]
  log: LogWriter
  work: HoldingWork
  /** True when nothing may run before the next process has continued the work. */
  resumes?: boolean
  /** The ids of those that are to run afterwards, also if they have ended. */
  starts?: string[]
}

/** Nothing else changes the containers meanwhile, and they run again in any case. */
export async function whileHeld<Result>(
  deps: BackupDeps,
  held: Held,
  work: () => Promise<Result>,
): Promise<Result> {
  const { backup, workload } = held
  const { signal, shutdown } = held.work
  if (backup.hold === 'none') return work()
  const holding = async () => {
    if ((await listCommands(deps, held)).length > 0) return null // it began while this waited
    try {
      await hold(deps, held)
      return { result: await work() }
    } finally {
      const { held: now = null } = getBackup(deps.db, backup.id) ?? {}
      if (!held.resumes || signal.reason !== stopping)
        await release(deps, backup, { held: now, shutdown })
    }
  }
  const { observe } = workload.kind === 'service' ? services : apps
  const options = { orphans: false, signal: shutdown }
  const inTurn = async () => {
    for (;;) {
      await untilCommandsEnd(deps, held, { keepsSlot: true })
      // events during it were ignored
      const done = await deps.locks.hold(workload, signal, holding).finally(() =>
        observe(deps, workload.id, options).catch((error) => {
          if (!shutdown.aborted)
            report('what a backup held could not be observed', error, { backup: backup.id })
        }),
      )
      if (done) return done.result
    }
  }
  // with runs that go on starting it would never come to its turn
  return backup.hold === 'stop' ? deps.locks.beforeRuns(workload, signal, inTurn) : inTurn()
}

/**
 * Commands that run once fail when they are stopped, and don't run again. Others may begin meanwhile, unless runs wait
 * for this: then it keeps its slot, so that they don't wait for one, too.
 */
export async function untilCommandsEnd(
  deps: HoldDeps,
  held: Held,
  { keepsSlot = false }: { keepsSlot?: boolean } = {},
) {
  const { log, work } = held
  const { signal } = work
  const running = await listCommands(deps, held)
  if (running.length === 0) return
  const names = running.map(({ name }) => name).join(', ')
  log.write(
    `Waiting until ${names} ${running.length === 1 ? 'has' : 'have'} ended. Cancel that command to go on at once.`,
  )
  if (!keepsSlot) work.releaseSlot()
  for (const one of running) {
    const docker = deps.engines.of(one)
    await untilEngineResponds({ docker, shutdown: signal }, async () => {
      await docker.waitForExit(one.id, { signal }).catch((error) => {
        if (!isStatus(error, 404)) throw error
      })
    })
  }
  await work.takeSlot()
}

/** Those with these volumes that would be stopped now. */
async function listCommands(deps: HoldDeps, { backup, workload, volumes, work }: Held) {
  const known = listOnce(deps.db, workload.id).map(({ containerId }) => containerId)
  if (backup.hold !== 'stop' || known.length === 0) return []
  const writers = await writersOf(deps, workload, { volumes, signal: work.signal })
  return writers.filter((one) => known.includes(one.id) && isUp(one))
}

/** Pauses or stops them one by one. What is held is stored first, so that the next process can release it. */
async function hold(deps: BackupDeps, { backup, workload, volumes, log, work, starts = [] }: Held) {
  const { db, engines, routing } = deps
  const { signal } = work
  const by = backup.hold === 'stop' ? 'stop' : 'pause'
  const writers = await writersOf(deps, workload, { volumes, signal })
  const unpaused = writers.filter(({ state }) => state !== 'paused')
  const inspected = unpaused.map((one) => standingOf(engines.of(one), [one.id]))
  const standing = (await Promise.all(inspected)).flat()
  const crashed = new Set(unpaused.filter(isRestarting).map(({ id }) => id))
  const fresh = standing
    .filter(({ wasUp }) => wasUp || by === 'stop')
    .map((one) => ({
      ...one,
      wasUp: one.wasUp || starts.includes(one.id),
      by: crashed.has(one.id) ? 'stop' : by,
    }))
  const held = (getBackup(db, backup.id)?.held ?? fresh) as HeldContainer[] // by a process that was killed
  if (held.length === 0) return
  log.write(`${by === 'stop' ? 'Stopping' : 'Pausing'} ${counted(held.length, 'container')}.`)
  setBackup(db, backup.id, { held })
  if (by === 'stop') {
    const ids = new Set(held.map(({ id }) => id))
    const reached = listLiveInstances(db, workload.id).filter(
      (one) => isWanted(one) && ids.has(one.containerId ?? ''),
    )
    routing.exclude(workload, reached)
    await drain(deps, workload, { instances: reached, signal })
  }
  for (const one of held) {
    signal.throwIfAborted()
    const docker = engines.of(one)
    if (by === 'stop') await freeze(docker, one)
    else if (!(await pause(docker, one.id, { signal }))) {
      one.by = 'stop'
      setBackup(db, backup.id, { held })
      await freeze(docker, one)
    }
  }
}

const isRestarting = ({ state }: Pick<Container, 'state'>) => state === 'restarting'

/** False when Docker is about to start it again after a crash, so that it can only be stopped. */
async function pause(docker: Docker, id: string, { signal }: Pick<Work, 'signal'>) {
  try {
    await docker.pauseContainer(id, { signal })
  } catch (error) {
    if (!isStatus(error, 409)) throw error
    const now = await docker.inspectContainer(id, { signal })
    if (now && isRestarting(now)) return false
    if (now?.state === 'running') throw error
  }
  return true // also one that has ended
}

/** Reverts `hold` in any state, also half done. Throws when a container can't be started again. */
export async function release(
  { db, engines }: HoldDeps,
  { id }: Pick<Backup, 'id'>,
  { held, shutdown }: { held: HeldContainer[] | null; shutdown: AbortSignal },
) {
  if (!held) return
  const problems: string[] = []
  for (const one of held) {
    try {
      const docker = engines.of(one)
      await untilEngineResponds({ docker, shutdown }, () => resume(docker, one))
    } catch (error) {
      if (shutdown.aborted) throw error
      problems.push(`${one.name}: ${(error as Error).message}`)
    }
  }
  setBackup(db, id, { held: null })
  if (problems.length > 0) throw notResumed(problems)
}

async function resume(docker: Docker, held: HeldContainer) {
  if (held.by === 'stop') return startAgain(docker, held)
  const found = await docker.inspectContainer(held.id)
  if (found?.state === 'paused') await docker.unpauseContainer(held.id)
}

const notResumed = (problems: string[]) =>
  new Failure(
    'not_resumed',
    `What ran before the backup doesn’t run again: ${problems.join('; ')}.`,
    'Start it with its button.',
  )

/** At Davit's start, before its jobs: what the last process paused or stopped must not wait for a slot. */
export async function releaseAll(deps: HoldDeps, { signal }: { signal: AbortSignal }) {
  for (const backup of listHolding(deps.db)) {
    const { id, held } = backup
    if (isBeingRestored(deps.db, backup)) continue // its volumes may be incomplete
    await release(deps, { id }, { held, shutdown: signal }).catch((error) => {
      if (!signal.aborted)
        report('what a backup held could not be started again', error, { backup: id })
    })
  }
}

/** The containers of a workload that can write to one of these volumes. */
async function writersOf(
  { engines, instanceId }: HoldDeps,
  workload: Workload,
  { volumes, signal }: { volumes: string[]; signal: AbortSignal },
): Promise<Container[]> {
  const found = await containersOf({ engines, instanceId }, workload, { signal })
  return found.filter((one) => canWriteTo(one, volumes))
}

export const canWriteTo = ({ mounts }: Pick<Container, 'mounts'>, volumes: string[]) =>
  mounts.some(
    ({ type, source, readOnly }) =>
      type === 'volume' && !readOnly && volumes.includes(source ?? ''),
  )

/** Those of servers that are away aren’t there. */
export async function containersOf(
  { engines, instanceId }: Pick<HoldDeps, 'engines' | 'instanceId'>,
  workload: Workload,
  { signal }: { signal: AbortSignal },
): Promise<Container[]> {
  const labels = filterOf(instanceId, workload)
  const { found: listed } = await engines.reachable((docker) =>
    docker.listContainers({ labels, all: true, signal }),
  )
  const found = await Promise.all(listed.map((one) => engines.inspect(one, { signal })))
  return found.filter((one) => one !== null)
}
