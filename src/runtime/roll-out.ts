import { retryOnDiskFull } from '../db/failures.ts'
import { report } from '../platform/journal.ts'
import { openComponents } from './component.ts'
import type { Component } from './component.ts'
import { removeReplaced, whileRollingOut } from './reconcile.ts'
import { forget, listLive, removeNew, revertInterrupted } from './revert.ts'
import type { RollOut, RollOutRun } from './run.ts'
import { create, prepare } from './steps/create.ts'
import type { Made } from './steps/create.ts'
import { startAgain, startAndGate } from './steps/start.ts'
import { getLiveRelease, makeLive } from './store.ts'
import { Undo } from './undo.ts'
import { networkNameOf, stopTimeout } from './workload.ts'
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
    const old = prepared.isFull || mustStopFirst(run) ? listLive(run, workload) : []
    if (old.length > 0) {
      quietFrom = performance.now()
      undo.push('The previous container did not start again', async () => {
        await startAgain({ ...run, signal: shutdown }, old)
        hooks.log?.('The previous container serves again.')
      })
      hooks.log?.('Stopping the previous container')
      for (const { id } of old.toReversed()) await docker.stopContainer(id, stopTimeout(workload))
    }
    hooks.enter?.('starting')
    undo.push(...newStays) // before the old ones start: they need what it holds
    const answeredAt = await startAndGate(run, made)
    for (const { component, id } of made)
      if (component.options.restart) await docker.setRestartPolicy(id, component.options.restart)
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

/** Whether both can't run at the same time. Of a release that an earlier version made nothing is known. */
function mustStopFirst({ db, secrets, workload, release, strategy }: RollOutRun) {
  if (strategy === 'stop-first') return true
  const now = release.components.flatMap(thingsHeld)
  const old = openComponents(secrets, getLiveRelease(db, workload.id))
  const held = old ? old.flatMap(thingsHeld) : now
  return now.some((thing) => held.includes(thing))
}

const thingsHeld = ({ options: { ports = [], volumes = [] } }: Component) => [
  ...ports
    .filter(({ host }) => host > 0)
    .map(({ host, protocol = 'tcp' }) => `${host}/${protocol}`),
  ...volumes.map(({ name }) => name),
]

/** Returns it, in whole milliseconds. */
function tellDowntime({ hooks }: RollOutRun, milliseconds: number) {
  hooks.log?.(`Nothing answered for ${(milliseconds / 1000).toFixed(1)} s while switching.`)
  return Math.round(milliseconds)
}
