import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../platform/errors.ts'
import type { Layout } from '../layout.ts'
import { holdInstallation } from '../locks.ts'
import {
  begin,
  halt,
  keep,
  missingImages,
  nameImage,
  settle,
  start,
  takeBackup,
  takeImage,
  takeVolume,
} from './arrive.ts'
import { factsOf } from './facts.ts'
import { FrameReader, messageFrame, notExpected } from './frames.ts'
import { isPartial, readMove } from './journal.ts'
import { readRequest } from './messages.ts'
import type { Answer, Asked, Request } from './messages.ts'
import { runningIn, visitApps } from './visit.ts'
import { neverAborted } from '../../platform/pause.ts'

type Streams = {
  input: AsyncIterable<Uint8Array>
  write: (frame: Uint8Array) => void
}

type Receiving = { layout: Layout; signal: AbortSignal } & Streams

/** Milliseconds without a message; the old server sends `alive` more often than that. */
const longestSilence = 3 * 60_000

/** Serves requests from `input` until it ends, then removes data that it wasn't asked to keep. */
export async function receiveMove({ layout, signal, input, write }: Receiving) {
  const ended = whenAborted(signal)
  const frames = new FrameReader(input)
  const next = async () => {
    for (;;) {
      const silence = Promise.withResolvers<never>()
      const timer = setTimeout(() => silence.reject(tooSilent()), longestSilence)
      const read = Promise.race([frames.next(), ended, silence.promise])
      const frame = await read.finally(() => clearTimeout(timer))
      if (!('message' in frame)) return frame
      const message = readRequest(frame.message)
      if (message.ask !== 'alive') return { message }
    }
  }
  const work = { signal: neverAborted(), say: () => {} }
  let hold: { close: () => void } | null = null

  /** Yields the data frames, and throws at the end if the checksum differs. */
  async function* data() {
    const hash = new Bun.CryptoHasher('sha256')
    for (let bytes = 0; ;) {
      const frame = await next()
      if ('message' in frame) {
        const sum = frame.message
        if (sum.ask !== 'sum') throw notExpected()
        if (sum.bytes === bytes && sum.sha256 === hash.digest('hex')) return
        throw changedOnItsWay()
      }
      hash.update(frame.data)
      bytes += frame.data.length
      yield frame.data
    }
  }

  /** Throws unless the data was read to its end, even if the consumer ignores a failure. */
  async function taking(take: (source: AsyncIterable<Uint8Array>) => Promise<unknown>) {
    let outcome: { failure?: unknown } | null = null
    async function* source() {
      try {
        yield* data()
        outcome = {}
      } catch (failure) {
        outcome = { failure }
        throw failure
      }
    }
    const noted = () => outcome
    try {
      await take(source())
    } catch (error) {
      throw noted()?.failure ?? error
    }
    const { failure } = noted() ?? { failure: notExpected() }
    if (failure) throw failure
    return {}
  }

  const replies: { [Ask in Asked]: (asked: Of<Ask>) => Promise<Answer<Ask>> } = {
    look: (asked) => factsOf(layout, asked),
    async begin(asked) {
      if (hold) throw notExpected()
      hold = holdInstallation(layout)
      await begin(layout, asked, work)
      return {}
    },
    has: async ({ images }) => ({ missing: await missingImages(images) }),
    async name(asked) {
      await nameImage(asked)
      return {}
    },
    image: () => taking((source) => takeImage(source, work)),
    volume: (asked) => taking((source) => takeVolume(asked, source, work)),
    backup: ({ passphrase }) => taking((source) => takeBackup(layout, passphrase, source)),
    async start() {
      await start(layout, work)
      return {}
    },
    running: async () => ({ states: await runningIn(layout) }),
    visit: async () => ({ visits: await visitApps(layout) }),
    async keep(asked) {
      await keep(layout, asked, work)
      return {}
    },
    async state({ moveId }) {
      if (hold) throw notExpected()
      hold = await untilHeld(layout) // another receiver may still handle requests of a broken connection
      await settle(layout, work) // an earlier receiver may have been killed
      const journal = readMove(layout, 'received')
      return { phase: journal?.moveId === moveId ? journal.phase : null }
    },
    async halt({ moveId }) {
      if (hold) throw notExpected()
      hold = await untilHeld(layout)
      await halt(layout, moveId, work)
      return {}
    },
  }
  const isOpen = () => hold !== null && isPartial(readMove(layout, 'received'))

  try {
    for (;;) {
      const frame = await next()
      if (!('message' in frame)) throw notExpected()
      const asked = frame.message
      if (asked.ask === 'sum' || (changes.includes(asked.ask) && !isOpen())) throw notExpected()
      const reply = replies[asked.ask] as (asked: Request) => Promise<unknown>
      write(messageFrame({ done: await reply(asked) }))
    }
  } catch (error) {
    const isEnd = error instanceof Failure && error.code === 'move_connection'
    if (!isEnd) write(messageFrame({ failed: shown(error) }))
  } finally {
    if (hold) await settle(layout, work)
    ;(hold as { close: () => void } | null)?.close()
  }
}

type Of<Ask extends Asked> = Extract<Request, { ask: Ask }>

/** Only allowed once a move has begun. */
const changes: string[] = ['name', 'image', 'volume', 'backup', 'start', 'keep']

/** Waits for the lock on the installation. */
async function untilHeld(layout: Layout) {
  for (; ; await sleep(200)) {
    try {
      return holdInstallation(layout)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'upgrade_runs') throw error
    }
  }
}

const whenAborted = (signal: AbortSignal) => {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason))
  promise.catch(() => {})
  return promise
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

const changedOnItsWay = () =>
  new Failure(
    'move_checksum',
    'The data was changed in transit: its SHA-256 differs.',
    'Run davit move again. If it happens again, check the memory of both servers.',
  )

const tooSilent = () =>
  new Failure('move_connection', 'The old server was silent for too long.', 'Run davit move again.')
