import { ByteReader } from '../../backup/format.ts'
import { Failure } from '../../platform/errors.ts'
import { DamagedStream } from '../../platform/sealed-stream.ts'

/*
 * The protocol between two Davits over ssh: frames of a kind, a length and that many bytes.
 */

/** A message is JSON; data is part of an image, a volume or a backup. */
const kinds = { message: 1, data: 2 } as const

const headLength = 5

/** The largest frames in bytes; a larger one is refused before it is read. */
const most = { message: 1024 * 1024, data: 256 * 1024 }

export type Frame = { message: unknown } | { data: Buffer }

function frame(kind: keyof typeof kinds, bytes: Uint8Array) {
  const head = Buffer.alloc(headLength)
  head[0] = kinds[kind]
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

export function messageFrame(value: unknown) {
  const bytes = Buffer.from(JSON.stringify(value))
  if (bytes.length > most.message) throw new Error('a message is too long to be sent')
  return frame('message', bytes)
}

/** Splits bytes into frames. */
export function* dataFrames(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += most.data)
    yield frame('data', bytes.subarray(at, at + most.data))
}

/** Throws a Failure for anything that isn't a frame, and at the end of the input. */
export class FrameReader {
  readonly #bytes: ByteReader

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#bytes = new ByteReader(source)
  }

  async next(): Promise<Frame> {
    try {
      const head = await this.#bytes.take(headLength)
      const length = head.readUInt32BE(1)
      if (head[0] === kinds.data && length <= most.data)
        return { data: await this.#bytes.take(length) }
      if (head[0] !== kinds.message || length > most.message) throw notFrames(head)
      return { message: jsonIn(await this.#bytes.take(length)) }
    } catch (cause) {
      throw cause instanceof DamagedStream ? connectionEnded(cause) : cause
    }
  }

  /** Throws for a data frame. */
  async message(): Promise<unknown> {
    const frame = await this.next()
    if ('message' in frame) return frame.message
    throw notExpected()
  }
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw notExpected()
  }
}

const notFrames = (head: Buffer) =>
  new Failure(
    'move_protocol',
    `The other side doesn’t speak as davit move does: it starts with “${head.toString('latin1').replaceAll(/[^\x20-\x7e]/g, '?')}”.`,
    'Its shell may print something when it starts: only terminals may get that (.bashrc, .profile).',
  )

/** For a frame that is invalid, or that isn't allowed at this point. */
export const notExpected = () =>
  new Failure(
    'move_protocol',
    'The other side said something that this Davit doesn’t understand.',
    'Install the same version of Davit on both servers.',
  )

const connectionEnded = (cause: unknown) =>
  new Failure('move_connection', 'The connection ended.', 'Run davit move again.', { cause })
