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
import { connectRemote, nameOf } from './remote.ts'
import { resume } from './standstill.ts'

/** Ends a move that was interrupted. Throws on a server that another one replaces. */
export async function finishLast(layout: Layout, work: Work) {
  const move = readMove(layout, 'sent')
  if (!move) return
  if (move.phase === 'moved') throw wasMoved(move)
  if (move.phase === 'deciding' && (await tookOver(layout, move, work)))
    throw wasMoved({ ...move, phase: 'moved' })
  work.say('The last move was interrupted: this server is put back first.')
  await startHere(layout, work)
}

/** What `finishLast` would do first, for a person. Throws as that does, and changes nothing. */
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

/** The move that can be undone, or has to be finished. Throws when there is none. */
export function movedFromHere(layout: Layout): Sent {
  const move = readMove(layout, 'sent')
  if (move) return move
  throw new Failure('not_moved', 'This server wasn’t moved.', 'There is nothing to undo.')
}

/** Whether the new server took over, which ends the move here. Throws when it can't be asked: nothing starts then. */
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

/** Times that the new server is asked, and milliseconds between them. */
const tries = { most: 3, pause: 5_000 }

/**
 * What the new server has of a move: null is nothing. It first waits until a broken connection has ended there, and
 * removes what wasn't kept. Throws when it can't be asked.
 */
export async function phaseThere(
  layout: Layout,
  move: Pick<Sent, 'moveId' | 'host' | 'port' | 'identity'>,
  { signal, say }: Work,
) {
  for (let left = tries.most; ; await sleep(tries.pause, undefined, { signal })) {
    const remote = connectRemote(move, layout.executable, signal)
    try {
      return (await remote.ask({ ask: 'state', moveId: move.moveId })).phase
    } catch (error) {
      if (--left === 0 || signal.aborted) throw error
      say(`    no reply yet: ${(error as Error).message}`)
    } finally {
      await remote.close()
    }
  }
}

/** Davit doesn't start here any more, and says why. */
export async function endHere(layout: Layout, move: Sent, { say }: Work) {
  const signal = new AbortController().signal // too late to interrupt it
  writeMove(layout, 'sent', { ...move, phase: 'moved' })
  await stopService({ signal, say })
}

/** Whether everything of a move stands still on the new server. Its data stay there. Throws when it can't be asked. */
export async function haltThere(layout: Layout, move: Sent, work: Work) {
  if (move.phase === 'deciding' && !(await tookOver(layout, move, work))) return
  const remote = connectRemote(move, layout.executable, work.signal)
  try {
    await remote.ask({ ask: 'halt', moveId: move.moveId })
  } catch (error) {
    // someone has removed it there
    if (!(error instanceof Failure) || error.code !== 'move_nothing') throw error
  } finally {
    await remote.close()
  }
}

/**
 * Starts everything here that a move has stopped, and Davit. From its first line on, the next start of Davit does the
 * same when this is killed.
 */
export async function startHere(layout: Layout, { say }: Pick<Work, 'say'>) {
  const work = { say, signal: new AbortController().signal }
  writeMove(layout, 'sent', { ...readMove(layout, 'sent')!, phase: 'copying' })
  const todo = 'Check systemd: journalctl -b. Then run davit move --undo.'
  await tryRun({ ...work, argv: ['systemctl', 'reset-failed', service] })
  await run({ ...work, todo, argv: ['systemctl', 'enable', service] })
  await run({ ...work, todo, argv: ['systemctl', 'start', '--no-block', service] })
  await resume(layout, work)
  await startDavit(layout, work)
}
