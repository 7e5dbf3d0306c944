import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../platform/errors.ts'
import { service } from '../layout.ts'
import type { Layout } from '../layout.ts'
import { run, tryRun } from '../run.ts'
import type { Work } from '../run.ts'
import { stopService } from '../service.ts'
import { startDavit } from './guard.ts'
import { readMove, wasMoved, writeMove } from './journal.ts'
import type { Sent } from './journal.ts'
import type { Request } from './messages.ts'
import { connectRemote, nameOf } from './remote.ts'
import { resume } from './standstill.ts'
import { forgetRepository } from './repository.ts'
import { neverAborted } from '../../platform/pause.ts'

/** Finishes an interrupted move. Throws on a server that another one has replaced. */
export async function finishLast(layout: Layout, work: Work) {
  const move = readMove(layout, 'sent')
  if (!move) return
  if (move.phase === 'moved') throw wasMoved(move)
  if (move.phase === 'deciding' && (await tookOver(layout, move, work)))
    throw wasMoved({ ...move, phase: 'moved' })
  work.say('The last move was interrupted: this server is put back first.')
  await startHere(layout, work)
}

/** Describes what `finishLast` would do. Throws in the same cases, and changes nothing. */
export function leftToFinish(layout: Pick<Layout, 'moves'>): string[] {
  const move = readMove(layout, 'sent')
  if (!move) return []
  if (move.phase === 'moved') throw wasMoved(move)
  const host = nameOf(move)
  const first = `The last move, to ${host}, was interrupted. Without --dry-run that is finished first:`
  const back = 'this server is put back, and what the move stopped starts here again.'
  return move.phase === 'copying'
    ? [first, `  - ${back}`]
    : [
        first,
        `  - ${host} is asked whether it took over. If it did, Davit stops here and nothing else is moved.`,
        `  - If it didn’t, ${back}`,
      ]
}

/** The move to undo or finish. Throws when there is none. */
export function movedFromHere(layout: Layout): Sent {
  const move = readMove(layout, 'sent')
  if (move) return move
  throw new Failure('not_moved', 'This server wasn’t moved.', 'There is nothing to undo.')
}

/** If the new server took over, the move ends here. Throws if it can't be reached: nothing may start then. */
export async function tookOver(layout: Layout, move: Sent, work: Work): Promise<boolean> {
  work.say(`Asking ${nameOf(move)} whether it took over`)
  const phase = await phaseThere(layout, move, work).catch((error) => {
    work.signal.throwIfAborted()
    throw wasMoved(move, error)
  })
  if (phase !== 'moved') return false
  await endHere(layout, move, work)
  return true
}

/** Attempts to reach the new server, and milliseconds in between. */
const tries = { most: 3, pause: 5_000 }

/**
 * The phase of a move on the new server; null if it has nothing of it. The new server first waits until a
 * broken connection has ended, and removes what wasn't kept. Throws when it can't be reached.
 */
export async function phaseThere(layout: Layout, move: Reached, { signal, say }: Work) {
  for (let left = tries.most; ; await sleep(tries.pause, undefined, { signal }))
    try {
      return (await askOnce(layout, move, 'state', signal)).phase
    } catch (error) {
      if (--left === 0 || signal.aborted) throw error
      say(`    no reply yet: ${(error as Error).message}`)
    }
}

type Reached = Pick<Sent, 'moveId' | 'host' | 'port' | 'identity'>

async function askOnce<Ask extends 'state' | 'halt'>(
  { executable }: Layout,
  move: Reached,
  ask: Ask,
  signal: AbortSignal,
) {
  const remote = connectRemote(move, executable, signal)
  try {
    return await remote.ask<Ask>({ ask, moveId: move.moveId } as Request<Ask>)
  } finally {
    await remote.close()
  }
}

/** From now on Davit refuses to start here. */
export async function endHere(layout: Layout, move: Sent, { say }: Work) {
  const signal = neverAborted() // too late to interrupt it
  writeMove(layout, 'sent', { ...move, phase: 'moved' })
  forgetRepository(layout)
  await stopService({ signal, say })
}

/** Stops the move's containers on the new server and keeps their data. Throws when it can't be reached. */
export async function haltThere(layout: Layout, move: Sent, work: Work) {
  if (move.phase === 'deciding' && !(await tookOver(layout, move, work))) return
  await askOnce(layout, move, 'halt', work.signal).catch((error) => {
    // its data was already removed there
    if (!(error instanceof Failure) || error.code !== 'move_nothing') throw error
  })
}

/**
 * Starts everything that a move has stopped here, and Davit. If this is killed
 * after its first line, the next start of Davit does the same.
 */
export async function startHere(layout: Layout, { say }: Pick<Work, 'say'>) {
  const work = { say, signal: neverAborted() }
  writeMove(layout, 'sent', { ...readMove(layout, 'sent')!, phase: 'copying' })
  const todo = 'Check systemd: journalctl -b. Then run davit move --undo.'
  await tryRun({ ...work, argv: ['systemctl', 'reset-failed', service] })
  await run({ ...work, todo, argv: ['systemctl', 'enable', service] })
  await run({ ...work, todo, argv: ['systemctl', 'start', '--no-block', service] })
  await resume(layout, work)
  await startDavit(layout, work)
}
