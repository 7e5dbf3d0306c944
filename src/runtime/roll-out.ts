import { retryOnDiskFull } from '../db/failures.ts'
import type { Tx } from '../db/index.ts'
import { killed } from '../docker/index.ts'
import { shareImpossible } from './routing.ts'
import { report } from '../platform/journal.ts'
import { exclusiveResources } from './component.ts'
import { differenceTo } from './keep.ts'
import { within } from '../platform/pause.ts'
import { timed } from '../platform/trace.ts'
import { awaitDrains, listReplaced, removeReplaced, settlePrevious } from './drain.ts'
import { areRoomy } from './addresses.ts'
import { pinTo } from './pin-store.ts'
import { forget, listLive, placed, removeNew, revertInterrupted } from './revert.ts'
import type { Difference, Outcome, Placed, RollOut, RollOutRun } from './run.ts'
import { create, prepare } from './steps/create.ts'
import type { CreatedContainer } from './steps/create.ts'
import { refuseEnded } from './steps/gate.ts'
import { startAgain, startAndGate } from './steps/start.ts'
import {
  getLiveRelease,
  listLiveInstances,
  listStandby,
  makeLive,
  updateInstance,
} from './store.ts'
import type { Instance } from './store.ts'
import { Undo } from './undo.ts'
import { isUp, lastFirst, networkNameOf } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/**
 * Makes a release the live one: prepare, create, start, gate, commit; then the containers of the previous one
 * are stopped and removed. Old ones stop first if both use a volume or a host port. Until the commit a
 * failure undoes everything, the old ones serve again, and the failure is thrown. Nothing is undone
 * afterwards: `reconcile` removes what can't be removed then. Docker's responses are awaited even when the
 * signal aborts: an aborted call could still take effect unnoticed.
 */
export const rollOut = (deps: RuntimeDeps, of: RollOut) => {
  const isFree = deps.trace?.begin({ kind: 'wait', name: 'for other work on its containers' })
  return deps.locks.rollOut(of.workload, of.signal, async () => {
    isFree?.()
    const run: RollOutRun = { ...deps, ...of, network: networkNameOf(of.workload) }
    const reportLeft = (error: unknown) => {
      if (of.shutdown.aborted) return // the next process does it
      report('a replaced container could not be removed yet', error, { workload: of.workload.id })
    }
    try {
      await timed(run.trace, { kind: 'edge', name: 'ready' }, () => deps.edge.ready(run))
      await revertInterrupted(run, run)
      run.routing.route(run.workload)
      await settlePrevious(run)
      await timed(run.trace, { kind: 'wait', name: 'for requests to earlier containers' }, () =>
        awaitDrains(run),
      )
      const before = getLiveRelease(deps.db, of.workload.id)
      const switched = await switchOver(run, before)
      await finish(run, { before, ...switched }).catch(reportLeft)
    } catch (error) {
      if (of.release.startsKept)
        await removeReplaced(run, { ...run, stopsStandby: true }).catch(reportLeft)
      throw error
    }
  })
}

type Release = ReturnType<typeof getLiveRelease>

/**
 * Routes requests to the new release, and removes the previous one. If the switch fails, containers that
 * still get requests are kept.
 */
async function finish(
  run: RollOutRun,
  {
    before,
    isWatched,
    down,
  }: {
    before: Release
    isWatched: boolean
    /** Instances of the previous release that got no requests. */
    down: Instance[]
  },
) {
  const { workload, release, hooks, shutdown } = run
  const route = () => {
    const kept = listStandby(run.db, workload.id)
    const ended = kept.filter((one) => down.some(({ id }) => id === one.id))
    if (ended.length > 0) run.routing.exclude(workload, ended)
    run.routing.route(workload)
  }
  const takesPort = release.edge === true && before !== undefined && !before.edge
  try {
    await timed(run.trace, { kind: 'edge', name: 'route requests' }, () =>
      retryOnDiskFull(route, { signal: shutdown }),
    )
    if (takesPort) {
      await removeReplaced(run, { workload })
      await run.instanceTasks.ended(listReplaced(run, workload), shutdown) // Docker uses its ports until then
    }
    if (release.edge === true && !before?.edge)
      await timed(run.trace, syncing, () => within(lookTime, run.edge.sync()))
  } finally {
    hooks.committed?.()
  }
  await removeReplaced(run, { workload, stopsStandby: !isWatched })
}

/** Milliseconds for the edge to listen on a port: its loads can be ten seconds apart. */
const lookTime = 20_000

const syncing = { kind: 'edge', name: 'change ports' } as const

async function switchOver(run: RollOutRun, before: Release) {
  const { engines, docker, workload, release, hooks, signal, shutdown } = run
  const [stay, started] = [new Set<string>(), new Set<string>()]
  const failed = { workload, releaseId: release.id, shutdown, stay, started }
  const newStays = ['The new container was not removed', () => removeNew(run, failed)] as const
  const undo = new Undo()
  let quietFrom: number | null = null
  let isWatched = false
  const downtime = (until: number) =>
    quietFrom === null ? null : reportDowntime(run, until - quietFrom)
  try {
    hooks.enter?.('creating')
    undo.push('The release was not deleted', () => forget(run, failed))
    undo.push(...newStays)
    const difference = await differenceTo(run)
    for (const { from, isUp } of difference.fresh) if (from && !isUp) started.add(from.id)
    const prepared = await prepare(run, difference)
    const made = await create(run, { ...prepared, ...difference })
    if (before?.edge && release.edge === false) {
      undo.push('The port was not returned to Docker', async () => void run.edge.sync())
      await timed(run.trace, syncing, () => within(lookTime, run.edge.sync())) // Docker can't use it while the edge does
    }
    for (const { component } of difference.kept)
      hooks.log?.(`${component!.name} is unchanged and keeps running`)
    const reused = difference.fresh.filter(({ from }) => from).length
    if (reused > 0)
      hooks.log?.(
        `${reused > 1 ? `${reused} containers were` : 'Its container was'} kept, so nothing is created`,
      )
    const { old, waiting } = conflictingContainers(run, made, { ...prepared, ...difference })
    isWatched = Boolean(run.watch) && before !== undefined && old.length === 0
    if (run.watch?.isRequired) {
      if (!isWatched)
        throw shareImpossible('The version before must stop before this one can start.')
      if (!(await isAnyUp(run)))
        throw shareImpossible('No version runs that would get the other requests.')
    }
    if (old.length > 0) {
      // containers that don't need old ones' ports or volumes pass their gates before anything stops
      const sooner = made.filter((container) => !waiting.includes(container))
      await startAndGate(run, sooner, { of: made })
      quietFrom = performance.now()
      undo.push('The previous container did not start again', async () => {
        await startAgain({ ...run, signal: shutdown }, old)
        hooks.log?.(`${capitalized(previous(old))} serve${old.length > 1 ? '' : 's'} again.`)
      })
      hooks.log?.(`Stopping ${previous(old)}`)
      const instances = old.map(({ instance }) => instance)
      await run.instanceTasks.endReturns(instances) // they would get requests until they stop
      run.routing.exclude(workload, instances)
      const stop = async (one: Placed) => {
        const { component } = one
        await run.runtime.stop(one)
        if (!component || !hooks.log) return
        if ((await engines.inspect(one))?.exitCode === killed)
          hooks.log(
            `${component.name} was killed: it was still running after the ${component.options.stopTimeout ?? 10} s it has to stop`,
          )
      }
      await lastFirst(workload, old, stop, ({ component }) => component)
    }
    await hooks.stopped?.()
    const undoesCrashes = isWatched && run.watch!.undoesCrashes
    hooks.enter?.('starting')
    undo.push(...newStays) // before the old ones start: they need its ports and volumes
    const answeredAt = await startAndGate({ ...run, undoesCrashes }, waiting, { of: made })
    await Promise.all(
      made.map((one) => {
        const { restart } = one.component.options
        return restart && !one.isUp ? engines.of(one).setRestartPolicy(one.id, restart) : null
      }),
    )
    await hooks.started?.()
    await refuseEnded(run, made)
    signal.throwIfAborted()
    const answers = hooks.started ? performance.now() : answeredAt
    const outcome = { downtimeMs: downtime(answers), isWatched }
    const down = listLiveInstances(run.db, workload.id).filter(({ state }) => state !== 'live')
    await timed(run.trace, { kind: 'davit', name: 'make it live' }, () =>
      retryOnDiskFull(() => commit(run, { before, made, kept: difference.kept }, outcome), {
        signal,
      }),
    )
    return { isWatched, down }
  } catch (error) {
    const problems = await undo.run({ docker, shutdown, log: hooks.log })
    run.routing.route(workload) // its page no longer says that it is starting
    hooks.undone?.({ downtimeMs: downtime(performance.now()), problems })
    throw error
  }
}

function commit(
  run: RollOutRun,
  { before, made, kept }: { before: Release; made: CreatedContainer[]; kept: Placed[] },
  outcome: Outcome,
) {
  const { db, workload, release, hooks } = run
  db.transaction((tx) => {
    const states = made.map(
      ({ instance, component }) => [instance.id, component.oneShot ? 'stopped' : 'live'] as const,
    )
    const previous = { before, isWatched: outcome.isWatched }
    const keeps = listKept(run, tx, previous).filter((one) => !kept.some(({ id }) => id === one.id))
    for (const { instance } of [...kept, ...made])
      updateInstance(tx, instance.id, { releaseId: release.id })
    makeLive(tx, {
      workloadId: workload.id,
      releaseId: release.id,
      states: new Map(states),
      keeps: keeps.map(({ instance }) => instance),
    })
    if (workload.movesTo) pinTo(tx, workload, workload.movesTo)
    hooks.commit(tx, outcome)
  })
}

/**
 * The containers of the release before that are kept, but for those that run once. Not where others need their
 * addresses on a network that is almost full, or Docker gets its port back.
 */
function listKept(
  run: RollOutRun,
  db: Tx,
  { before, isWatched }: { before: Release; isWatched: boolean },
) {
  const { workload, release } = run
  const isKept =
    release.keepsPrevious === true &&
    before?.edge === (release.edge ?? false) &&
    areRoomy(db, workload, release.components)
  if (!isKept && !isWatched) return []
  const live = listLiveInstances(db, workload.id)
  const ofIt = live.filter(({ releaseId }) => releaseId === before?.id)
  return placed(run, workload, ofIt).filter(({ component }) => component?.oneShot === false)
}

/**
 * Returns the old containers that must stop first because new ones need their ports or volumes, and the new
 * ones that wait for that, with those that start after one of these: all of them if no old one has to stop.
 * Nothing is known about a release that a restore found.
 */
function conflictingContainers(
  run: RollOutRun,
  made: CreatedContainer[],
  { takenOver, kept, fresh }: Difference & { takenOver: Pick<Instance, 'containerId'>[] },
): { old: Placed[]; waiting: CreatedContainer[] } {
  const live = listLive(run, run.workload).filter(({ id }) => !kept.some((one) => one.id === id))
  if (run.strategy === 'stop-first') return { old: live, waiting: made }
  const needed = fresh.flatMap(({ component }) => exclusiveResources(component))
  const heldBy = ({ component }: Placed) => (component ? exclusiveResources(component) : needed)
  const givesAddress = ({ id }: Placed) => takenOver.some(({ containerId }) => containerId === id)
  const old = live.filter(
    (one) => givesAddress(one) || heldBy(one).some((thing) => needed.includes(thing)),
  )
  const freed = new Set(old.flatMap(heldBy))
  const later = new Set<string>()
  // a dependency comes before what waits for it
  for (const { component } of made)
    if (
      exclusiveResources(component).some((thing) => freed.has(thing)) ||
      component.waits.some((wait) => later.has(wait.component))
    )
      later.add(component.name)
  const waits = ({ component }: CreatedContainer) => later.has(component.name)
  return { old, waiting: old.length === 0 || old.some(givesAddress) ? made : made.filter(waits) }
}

/** Whether the live release runs: its containers may have been stopped or removed by hand. */
async function isAnyUp(run: RollOutRun) {
  const live = listLive(run, run.workload).map((one) => run.engines.inspect(one))
  return (await Promise.all(live)).some((container) => container !== null && isUp(container))
}

const previous = ({ length }: Placed[]) =>
  length === 1 ? 'the previous container' : `${length} previous containers`

const capitalized = (text: string) => text[0]!.toUpperCase() + text.slice(1)

/** Returns it in whole milliseconds. */
function reportDowntime({ hooks }: RollOutRun, milliseconds: number) {
  hooks.log?.(`Downtime during the switch: ${(milliseconds / 1000).toFixed(1)} s.`)
  return Math.round(milliseconds)
}
