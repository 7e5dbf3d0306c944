import { setTimeout as sleep } from 'node:timers/promises'
import type { Restic } from '../../backups/restic/restic.ts'
import { Failure } from '../../platform/errors.ts'
import { neverAborted } from '../../platform/pause.ts'
import type { Layout } from '../layout.ts'
import { holdInstallation } from '../locks.ts'
import { begin, fill, halt, keep, lookHere, missingImages, start } from './arrive.ts'
import { settle } from './discard.ts'
import { isPartial, readMove } from './journal.ts'
import { alive, lineOf, messagesIn, notExpected } from './messages.ts'
import type { Answer, RequestName, Reply, Request } from './messages.ts'

type Receiving = {
  layout: Layout
  signal: AbortSignal
  input: AsyncIterable<Uint8Array>
  write: (line: Uint8Array) => void
}

const isOpen = (layout: Layout) => isPartial(readMove(layout, 'received'))

/**
 * Serves requests from `input`, one after the other, until it ends or is silent for too long. What is done then is
 * ended, and data that it wasn't asked to keep is removed.
 */
export async function receiveMove({ layout, signal, input, write }: Receiving) {
  const over = new AbortController()
  const ended = AbortSignal.any([signal, over.signal])
  const answer = (reply: Reply) => write(lineOf(reply))
  const work = { signal: neverAborted(), say: (line: string) => answer({ say: line.trim() }) }
  const endable = { ...work, signal: ended }
  let hold: { close: () => void } | null = null
  let restic: Restic | null = null

  const replies: { [Ask in RequestName]: (asked: Request<Ask>) => Promise<Answer<Ask>> } = {
    look: ({ needs }) => lookHere(layout, needs),
    async begin(asked) {
      hold = holdInstallation(layout)
      restic = await begin(layout, asked, { work, endable })
    },
    images: async ({ images }) => ({ missing: await missingImages(images) }),
    fill: (asked) => fill(layout, restic!, asked, endable),
    start: (asked) => start(layout, asked, { work, endable }),
    keep: (asked) => keep(layout, asked, work),
    async state({ moveId }) {
      hold = await untilHeld(layout)
      await settle(layout, work) // an earlier receiver may have been killed
      const journal = readMove(layout, 'received')
      return { phase: journal?.moveId === moveId ? journal.phase : null }
    },
    async halt({ moveId }) {
      hold = await untilHeld(layout)
      return halt(layout, moveId, work)
    },
  }

  async function reply(asked: Request) {
    const isFirst = ['begin', 'state', 'halt'].includes(asked.ask)
    const isAllowed = isFirst ? hold === null : restic !== null && isOpen(layout)
    if (!Object.hasOwn(replies, asked.ask) || !(isAllowed || asked.ask === 'look'))
      throw notExpected()
    const act = replies[asked.ask] as (asked: Request) => Promise<object | void>
    answer({ done: (await act(asked)) ?? {} })
  }

  const silence = setTimeout(() => over.abort(broken()), alive.longest)
  let working = Promise.resolve()
  const read = async () => {
    for await (const message of messagesIn(input)) {
      silence.refresh()
      const asked = message as Request
      if (asked.ask === undefined) continue
      working = working.then(() => reply(asked))
      working.catch((error) => over.abort(error))
    }
    throw broken()
  }
  const { promise, resolve } = Promise.withResolvers<unknown>()
  ended.addEventListener('abort', () => resolve(ended.reason), { once: true })
  read().catch((error) => over.abort(error))
  const why = await promise
  clearTimeout(silence)
  await working.catch(() => {})
  if (!(why instanceof Failure && why.code === 'move_connection')) answer({ failed: shown(why) })
  if (!hold) return
  await settle(layout, { ...work, say: () => {} })
  ;(hold as { close: () => void }).close()
}

/** Waits for the lock on the installation: another receiver may still handle a connection that broke. */
async function untilHeld(layout: Layout) {
  for (; ; await sleep(200)) {
    try {
      return holdInstallation(layout)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'upgrade_runs') throw error
    }
  }
}

function shown(error: unknown) {
  const { message } = error as Error
  const isKnown = error instanceof Failure
  return {
    code: isKnown ? error.code : 'move_failed',
    message: (isKnown ? message : `The new server failed: ${message}`).slice(0, 4000),
    hint: isKnown ? error.hint.slice(0, 4000) : 'Fix that, then run davit move again.',
  }
}

const broken = () =>
  new Failure('move_connection', 'The connection to the old server ended.', 'Run davit move again.')
