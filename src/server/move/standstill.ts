import { setTimeout as sleep } from 'node:timers/promises'
import { isLocked } from '../../db/instance-lock.ts'
import { connectDocker } from '../../docker/index.ts'
import { isEngineAway } from '../../docker/failures.ts'
import { untilEngineResponds } from '../../docker/retry-while-engine-down.ts'
import { journal } from '../../platform/journal.ts'
import { freeze, standingOf, startAgain } from '../../runtime/freeze.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'
import type { Work } from '../run.ts'
import { discard } from './discard.ts'
import { isGuarded, removeGuard, unguardStart } from './guard.ts'
import { atStart, readMove, removeMove, wasMoved, writeMove } from './journal.ts'
import { neverAborted } from '../../platform/pause.ts'

/*
 * The old server while it is copied. Stopped containers are in the journal before they are stopped, and the
 * start of Davit waits: whatever process is killed, the next start of Davit starts everything again.
 */

const calm = (work: Work) => ({ ...work, signal: neverAborted() })

/** Stops containers in reverse order, until `startStopped`. */
export async function stopAll(layout: Layout, ids: string[]) {
  const docker = connectDocker(localEngine)
  const move = readMove(layout, 'sent')!
  const stopped = await standingOf(docker, ids)
  const known = new Set(move.stopped.map(({ id }) => id)) // keeps the state before the first stop
  const added = stopped.filter(({ id }) => !known.has(id))
  writeMove(layout, 'sent', { ...move, stopped: [...move.stopped, ...added] })
  for (const one of stopped.toReversed()) await freeze(docker, one)
}

/**
 * Starts all stopped containers that still exist. One that doesn't start is only reported: Davit handles its
 * own when it starts. Waits for an engine that is down; throws only when `signal` ends that.
 */
export async function startStopped(
  layout: Layout,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
) {
  const docker = connectDocker(localEngine)
  const move = readMove(layout, 'sent')
  if (!move) return
  for (const one of move.stopped)
    await untilEngineResponds({ docker, shutdown: signal }, () => startAgain(docker, one)).catch(
      (error) => {
        if (isEngineAway(error)) throw error
        say(`${one.name} doesn’t start again: ${(error as Error).message}`)
      },
    )
  writeMove(layout, 'sent', { ...move, stopped: [] })
}

/** Milliseconds that a command waits for Docker; the next start of Davit waits without limit. */
const patience = 5 * 60_000

/** Restores this server to its state before the move. Repeatable. */
export async function resume(layout: Layout, work: Work) {
  await startStopped(layout, { say: work.say, signal: AbortSignal.timeout(patience) })
  removeMove(layout, 'sent')
  await unguardStart(layout, calm(work))
}

/** Runs before each start of Davit while a move is open. Throws to refuse the start; see `atStart`. */
export async function beforeStart(layout: Layout) {
  const { signal } = new AbortController()
  const docker = connectDocker(localEngine)
  for (; ; await sleep(250)) {
    const isOpen = isLocked(layout.upgrades) // before the journals are read: it may end in between
    const [sent, received] = [readMove(layout, 'sent'), readMove(layout, 'received')]
    const todo = atStart({ sent, received, isOpen, isGuarded: isGuarded(layout) })
    if (todo === 'wait') continue
    if (todo === 'refuse') throw wasMoved(sent!)
    if (todo === 'resume') {
      await startStopped(layout, { say: (line) => journal.warn(line), signal })
      removeMove(layout, 'sent')
    }
    if (todo === 'discard')
      await untilEngineResponds({ docker, shutdown: signal }, () => discard(layout))
    if (!isOpen) removeGuard(layout)
    return
  }
}
