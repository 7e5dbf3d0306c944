import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { WireType } from '@bufbuild/protobuf/wire'

/** The decoder of a field, and its default. */
type Field<Value> = {
  absent: () => Value
  read: (reader: BinaryReader, before: Value) => Value
}

type Fields = Record<string, [number: number, field: Field<any>]>

type Message<Of extends Fields> = {
  [Name in keyof Of]: Of[Name][1] extends Field<infer Value> ? Value : never
}

const text: Field<string> = { absent: () => '', read: (reader) => reader.string() }
/** For bytes that may not be text. */
const loose: Field<string> = {
  absent: () => '',
  read: (reader) => Buffer.from(reader.bytes()).toString(),
}
const flag: Field<boolean> = { absent: () => false, read: (reader) => reader.bool() }
const whole: Field<number> = { absent: () => 0, read: (reader) => Number(reader.int64()) }
const bytes: Field<Uint8Array> = {
  absent: () => new Uint8Array(),
  read: (reader) => reader.bytes(),
}

/** In seconds. */
const time: Field<number | null> = {
  absent: () => null,
  read(reader) {
    const { seconds, nanos } = readMessage(reader.bytes(), {
      seconds: [1, whole],
      nanos: [2, whole],
    })
    return seconds + nanos / 1e9
  },
}

const listOf = <Of extends Fields>(fields: Of): Field<Message<Of>[]> => ({
  absent: () => [],
  read(reader, before) {
    before.push(readMessage(reader.bytes(), fields))
    return before
  },
})

/** A step of the build. It is sent again whenever it changes. */
const vertex = {
  digest: [1, text],
  name: [3, text],
  cached: [4, flag],
  started: [5, time],
  completed: [6, time],
  error: [7, text],
} satisfies Fields

/** Progress within a step: a layer that is pulled, a context that is transferred. */
const status = {
  id: [1, text],
  vertex: [2, text],
  name: [3, text],
  current: [4, whole],
  total: [5, whole],
  timestamp: [6, time],
  started: [7, time],
  completed: [8, time],
} satisfies Fields

const log = { vertex: [1, text], stream: [3, whole], bytes: [4, bytes] } satisfies Fields
const warning = { vertex: [1, text], short: [3, loose], url: [5, text] } satisfies Fields

const trace = {
  vertexes: [1, listOf(vertex)],
  statuses: [2, listOf(status)],
  logs: [3, listOf(log)],
  warnings: [4, listOf(warning)],
} satisfies Fields

export type Vertex = Message<typeof vertex>
export type VertexStatus = Message<typeof status>
export type VertexLog = Message<typeof log>
export type VertexWarning = Message<typeof warning>

/** One `moby.buildkit.trace` message: the changes since the previous one. */
export type Trace = Message<typeof trace>

/** Decodes moby.buildkit.v1.StatusResponse. Fields not listed here are skipped. */
export const readTrace = (sent: Uint8Array): Trace => readMessage(sent, trace)

function readMessage<Of extends Fields>(sent: Uint8Array, fields: Of): Message<Of> {
  const reader = new BinaryReader(sent)
  const message = Object.fromEntries(
    Object.entries(fields).map(([name, [, { absent }]]) => [name, absent()]),
  )
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const [name, [, field] = []] = Object.entries(fields).find(([, [own]]) => own === number) ?? []
    if (name && field) message[name] = field.read(reader, message[name])
    else reader.skip(wireType as WireType, number)
  }
  return message as Message<Of>
}
