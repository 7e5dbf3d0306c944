import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** One `moby.buildkit.trace` message: what changed in the build since the one before. */
export type Trace = {
  vertexes: Vertex[]
  statuses: VertexStatus[]
  logs: VertexLog[]
  warnings: VertexWarning[]
}

/** A step of the build; sent again whenever it changes. Times are seconds. */
export type Vertex = {
  digest: string
  name: string
  cached: boolean
  started: number | null
  completed: number | null
  error: string
}

/** Progress within a step: a layer that is pulled, a context that is transferred. */
export type VertexStatus = {
  id: string
  vertex: string
  name: string
  current: number
  total: number
  timestamp: number | null
  started: number | null
  completed: number | null
}

export type VertexLog = { vertex: string; stream: number; bytes: Uint8Array }

export type VertexWarning = { vertex: string; short: string; url: string }

/** Reads moby.buildkit.v1.StatusResponse; fields that are not listed here are passed over. */
export function readTrace(bytes: Uint8Array): Trace {
  const trace: Trace = { vertexes: [], statuses: [], logs: [], warnings: [] }
  readMessage(bytes, {
    1: (reader) => trace.vertexes.push(readVertex(reader.bytes())),
    2: (reader) => trace.statuses.push(readStatus(reader.bytes())),
    3: (reader) => trace.logs.push(readLog(reader.bytes())),
    4: (reader) => trace.warnings.push(readWarning(reader.bytes())),
  })
  return trace
}

function readVertex(bytes: Uint8Array) {
  const vertex: Vertex = {
    digest: '',
    name: '',
    cached: false,
    started: null,
    completed: null,
    error: '',
  }
  readMessage(bytes, {
    1: (reader) => (vertex.digest = reader.string()),
    3: (reader) => (vertex.name = reader.string()),
    4: (reader) => (vertex.cached = reader.bool()),
    5: (reader) => (vertex.started = readTimestamp(reader.bytes())),
    6: (reader) => (vertex.completed = readTimestamp(reader.bytes())),
    7: (reader) => (vertex.error = reader.string()),
  })
  return vertex
}

function readStatus(bytes: Uint8Array) {
  const status: VertexStatus = {
    id: '',
    vertex: '',
    name: '',
    current: 0,
    total: 0,
    timestamp: null,
    started: null,
    completed: null,
  }
  readMessage(bytes, {
    1: (reader) => (status.id = reader.string()),
    2: (reader) => (status.vertex = reader.string()),
    3: (reader) => (status.name = reader.string()),
    4: (reader) => (status.current = Number(reader.int64())),
    5: (reader) => (status.total = Number(reader.int64())),
    6: (reader) => (status.timestamp = readTimestamp(reader.bytes())),
    7: (reader) => (status.started = readTimestamp(reader.bytes())),
    8: (reader) => (status.completed = readTimestamp(reader.bytes())),
  })
  return status
}

function readLog(bytes: Uint8Array) {
  const log: VertexLog = { vertex: '', stream: 1, bytes: new Uint8Array() }
  readMessage(bytes, {
    1: (reader) => (log.vertex = reader.string()),
    3: (reader) => (log.stream = Number(reader.int64())),
    4: (reader) => (log.bytes = reader.bytes()),
  })
  return log
}

function readWarning(bytes: Uint8Array) {
  const warning: VertexWarning = { vertex: '', short: '', url: '' }
  readMessage(bytes, {
    1: (reader) => (warning.vertex = reader.string()),
    3: (reader) => (warning.short = Buffer.from(reader.bytes()).toString()),
    5: (reader) => (warning.url = reader.string()),
  })
  return warning
}

function readTimestamp(bytes: Uint8Array) {
  let seconds = 0
  readMessage(bytes, {
    1: (reader) => (seconds += Number(reader.int64())),
    2: (reader) => (seconds += reader.int32() / 1e9),
  })
  return seconds
}

function readMessage(bytes: Uint8Array, fields: Record<number, (reader: BinaryReader) => unknown>) {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const read = fields[number]
    if (read) read(reader)
    else reader.skip(wireType as WireType, number)
  }
}
