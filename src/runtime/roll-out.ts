import { retryOnDiskFull } from '../db/failures.ts'
import { report } from '../platform/journal.ts'
import type { Component } from './component.ts'
import { removeReplaced, whileRollingOut } from './reconcile.ts'
import { forget, listLive, removeNew, revertInterrupted } from './revert.ts'
import type { Placed, RollOut, RollOutRun } from './run.ts'
import { create, prepare } from './steps/create.ts'
import type { Made } from './steps/create.ts'
import { refuseEnded } from './steps/gate.ts'
import { startAgain, startAndGate } from './steps/start.ts'
import { makeLive } from './store.ts'
import type { Instance } from './store.ts'
import { Undo } from './undo.ts'
import { lastFirst, networkNameOf, stopTimeout } from './workload.ts'
import type { RuntimeDeps } from './workload.ts'

/**
 * Makes a release the live one: prepare, create, start, gate, commit; then the containers of the one
 * before are stopped and removed. Old ones stop first where both hold a volume or a port of the host.
 * Until the commit everything is undone when something fails, and the old ones serve again; throws what
 * it was. Nothing is undone afterwards: what can't be removed then, `reconcile` removes. Docker's
 * responses are waited for even when the signal aborts: a call broken off could still take effect, unseen.
 */
export const rollOut = (deps: RuntimeDeps, of: RollOut) =>
  whileRollingOut(deps, of.workload, of.signal, async () => {
    const run: RollOutRun = { ...deps, ...of, network: networkNameOf(of.workload) }
    await revertInterrupted(run, run)
    await removeReplaced(run, run)
    await switchOver(run)
    of.hooks.committed?.()
    await removeReplaced(run, run).catch((error) =>
      report('a replaced container stays for now', error, { workload: of.workload.id }),
    )
  })

async function switchOver(run: RollOutRun) {
  const { docker, workload, release, hooks, signal, shutdown } = run
  const failed = { workload, releaseId: release.id, shutdown, stay: new Set<string>() }
  const newStays = ['The new container was not removed', () => removeNew(run, failed)] as const
  const undo = new Undo()
  let quietFrom: number | null = null
  const downtime = (until: number) =>
    quietFrom === null ? null : tellDowntime(run, until - quietFrom)
  try {
    hooks.enter?.('creating')
    undo.push('The release was not forgotten', () => forget(run, failed))
    undo.push(...newStays)
    const prepared = await prepare(run)
    const made = await create(run, prepared)
    const { old, waiting } = whatIsInTheWay(run, made, prepared)
    if (old.length > 0) {
      // what needs nothing of theirs is through its gate before anything stops
      const sooner = made.filter((container) => !waiting.includes(container))
      await startAndGate(run, sooner, { of: made })
      quietFrom = performance.now()
      undo.push('The previous container did not start again', async () => {
        await startAgain({ ...run, signal: shutdown }, old)
        hooks.log?.(`${capitalized(previous(old))} serve${old.length > 1 ? '' : 's'} again.`)
      })
      hooks.log?.(`Stopping ${previous(old)}`)
      await lastFirst(workload, old, ({ id }) => docker.stopContainer(id, stopTimeout(workload)))
    }
    hooks.enter?.('starting')
    undo.push(...newStays) // before the old ones start: they need what it holds
    const answeredAt = await startAndGate(run, waiting, { of: made })
    for (const { component, id } of made)
      if (component.options.restart) await docker.setRestartPolicy(id, component.options.restart)
    await refuseEnded(run, made)
    signal.throwIfAborted()
    const outcome = { downtimeMs: downtime(answeredAt) }
    await retryOnDiskFull(() => commit(run, made, outcome), { signal })
  } catch (error) {
    const problems = await undo.run({ docker, shutdown, log: hooks.log })
    hooks.undone?.({ downtimeMs: downtime(performance.now()), problems })
    throw error
  }
}

const commit = (
  { db, workload, release, hooks }: RollOutRun,
  made: Made[],
  outcome: { downtimeMs: number | null },
) =>
  db.transaction((tx) => {
    const states = made.map(
      ({ instance, component }) => [instance.id, component.oneShot ? 'stopped' : 'live'] as const,
    )
    makeLive(tx, { workloadId: workload.id, releaseId: release.id, states: new Map(states) })
    hooks.commit(tx, outcome)
  })

/**
 * Old containers that hold what new ones need, which have to stop first, and the new ones that wait for
 * that; all of them where no old one has to. Of a release that an earlier version made nothing is known.
 */
function whatIsInTheWay(
  run: RollOutRun,
  made: Made[],
  { takenOver }: { takenOver: Pick<Instance, 'containerId'>[] },
): { old: Placed[]; waiting: Made[] } {
  const live = listLive(run, run.workload)
  if (run.strategy === 'stop-first') return { old: live, waiting: made }
  const needed = run.release.components.flatMap(thingsHeld)
  const heldBy = ({ component }: Placed) => (component ? thingsHeld(component) : needed)
  const givesAddress = ({ id }: Placed) => takenOver.some(({ containerId }) => containerId === id)
  const old = live.filter(
    (one) => givesAddress(one) || heldBy(one).some((thing) => needed.includes(thing)),
  )
  const freed = new Set(old.flatMap(heldBy))
  const waits = ({ component }: Made) => thingsHeld(component).some((thing) => freed.has(thing))
  return { old, waiting: old.length === 0 || old.some(givesAddress) ? made : made.filter(waits) }
}

const thingsHeld = ({ options: { ports = [], volumes = [] } }: Component) => [
  ...ports
    .filter(({ host }) => host > 0)
    .map(({ host, protocol = 'tcp' }) => `${host}/${protocol}`),
  ...volumes.map(({ name }) => name),
]

const previous = ({ length }: Placed[]) =>
  length === 1 ? 'the previous container' : `${length} previous containers`

const capitalized = (text: string) => text[0]!.toUpperCase() + text.slice(1)

/** Returns it, in whole milliseconds. */
function tellDowntime({ hooks }: RollOutRun, milliseconds: number) {
  hooks.log?.(`Nothing answered for ${(milliseconds / 1000).toFixed(1)} s while switching.`)
  return Math.round(milliseconds)
}
