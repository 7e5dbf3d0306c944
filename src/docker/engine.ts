import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import type { EngineAddress } from './address.ts'
import { Failure } from '../platform/errors.ts'
import { onDemand } from '../platform/on-demand.ts'
import { firstServer } from '../platform/root.ts'
import { parseAddress } from './address.ts'
import type { Access } from './ssh.ts'
import { startDeadline } from './deadline.ts'
import {
  EngineError,
  hangupSignal,
  needsTls,
  refusal,
  unanswered,
  unreachable,
} from './failures.ts'
import type { EngineInfo } from './info.ts'
import { Pulls } from './pull-pace.ts'
import { askSocket, socketStream } from './socket-stream.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type Abortable = { signal?: AbortSignal | undefined }

export type RequestOptions = Abortable & {
  /** Objects are sent as JSON; undefined values are omitted. */
  query?: Record<string, unknown>
  /** Sent as JSON. */
  body?: object
  /** Credentials for a registry, sent in a header. */
  auth?: RegistryAuth | undefined
  /** Milliseconds until the whole response must have arrived; null waits forever. */
  timeout?: number | null | undefined
  /** Maximum size of the response; a larger one throws `AnswerTooLarge`. */
  maxBytes?: number
}

export type StreamOptions = Pick<RequestOptions, 'query' | 'body' | 'auth' | 'signal'> & {
  /** A tar archive to send as the body, read with backpressure. */
  upload?: Readable
  /** Called when the response begins. */
  opened?: (() => void) | undefined
  /** True for a long, mostly silent response: the runtime allows at most 256 calls of fetch at once. */
  isQuiet?: boolean
}

export type RegistryAuth = { username: string; password: string; serveraddress: string }

/** What doesn't change about the machine that an engine runs on. */
export type Machine = Omit<EngineInfo, 'version' | 'apiVersion' | 'time'>

export type Engine = {
  readonly serverId: string
  readonly address: EngineAddress
  /** All that run now. */
  readonly pulls: Pulls
  /** Kept by the first call that needs it, also while the engine is down: its disk may be full. */
  machine?: Machine
  /** Returns the parsed response; undefined when it has no body. */
  request<T = void>(method: Method, path: string, options?: RequestOptions): Promise<T>
  /** Yields a streaming response; leaving the loop or aborting closes the connection. */
  stream(method: Method, path: string, options?: StreamOptions): AsyncGenerator<Uint8Array>
  /** Upgrades the connection to a raw stream, which the caller must destroy. */
  hijack(path: string, options: Pick<RequestOptions, 'query' | 'body' | 'signal'>): Promise<Duplex>
  /** The error for a stream that ended too early. */
  hungUp(): Failure
}

export class AnswerTooLarge extends Error {}

/** The API versions between which this adapter was written. */
const [oldestKnown, newestKnown] = ['1.24', '1.51']
const defaultTimeout = 30_000

// the engine redirects such paths, and docker-modem's handling of redirects can crash the process
const isCrooked = /\/\.{0,2}(\/|$)/

function refuseCrooked(path: string) {
  if (isCrooked.test(path)) throw new EngineError(404, 'page not found')
}

// docker-modem would replace the message of every other status; we read the engine's
const everyStatus = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n + 100, true]))

/** Nothing is contacted before the first call, so an absent engine only fails calls that need it. */
export function connectEngine(host?: string, { serverId, login }: Access = {}): Engine {
  const address = parseAddress(host, process.env)
  const modem = onDemand(async () => (await import('./modem.ts')).openModem(address, login))
  let version: string | undefined

  return {
    serverId: serverId ?? firstServer,
    address,
    pulls: new Pulls(),

    async request<T>(method: Method, path: string, options: RequestOptions = {}) {
      const { query, body, auth, signal, timeout = defaultTimeout, maxBytes } = options
      using deadline = startDeadline(signal, timeout)
      try {
        const prefix = `/v${await negotiate(deadline.signal)}`
        const call = { method, path: prefix + path, query, body, auth }
        const text = await readText(await answerTo(call, deadline.signal), maxBytes)
        return (text === '' ? undefined : JSON.parse(text)) as T
      } catch (error) {
        throw explain(error, { signal, call: `${method} ${path}`, deadline, timeout })
      }
    },

    async *stream(
      method,
      path,
      { query, body, upload, auth, signal, opened, isQuiet = false } = {},
    ) {
      try {
        const prefix = `/v${await negotiate(signal)}`
        const call = { method, path: prefix + path, query, body, upload, auth }
        const asked = isQuiet ? null : socketCall(call)
        if (asked) yield* socketStream(asked, { signal, opened })
        else {
          const answer = await dial(call, signal)
          opened?.()
          yield* together(answer)
        }
        signal?.throwIfAborted()
      } catch (error) {
        throw explain(error, { signal, call: `${method} ${path}` })
      }
    },

    async hijack(path, { query, body, signal }) {
      const [method, timeout] = ['POST', defaultTimeout] as const
      using deadline = startDeadline(signal, timeout)
      try {
        const prefix = `/v${await negotiate(deadline.signal)}`
        // without a length the request would be chunked, and its end would swallow the first input
        const sent = body ? { body } : { upload: Buffer.alloc(0) }
        const call = { method, path: prefix + path, query, ...sent, hijack: true }
        const connection: object = await dial(call, deadline.signal)
        if (!('statusCode' in connection)) return connection as Duplex
        throw new EngineError(502, 'A proxy in front of Docker doesn’t pass connections through')
      } catch (error) {
        throw explain(error, { signal, call: `${method} ${path}`, deadline, timeout })
      }
    },

    hungUp: () => unreachable(address, hangupSignal),
  }

  async function negotiate(signal: AbortSignal | undefined) {
    return (version ??= spokenVersion((await offered(signal)) ?? oldestKnown))
  }

  /** The newest API version of the engine; null when it doesn't say. */
  async function offered(signal: AbortSignal | undefined) {
    const call = { method: 'GET', path: '/_ping' } as const
    const asked = socketCall(call)
    if (asked) {
      const answer = await askSocket(asked, signal)
      await answer.text()
      return answer.headers.get('api-version')
    }
    const { headers } = (await dial(call, signal)).resume()
    return headers['api-version']?.toString() ?? null
  }

  type Call = {
    method: Method
    path: string
    query?: Record<string, unknown> | undefined
    body?: unknown
    upload?: Readable | Buffer | undefined
    auth?: RegistryAuth | undefined
    hijack?: boolean
  }

  /** Null for a call that isn't a simple GET to a local engine. */
  function socketCall(call: Call) {
    const isQuestion = call.method === 'GET' && !call.auth
    if (address.kind !== 'socket' || !isQuestion) return null
    refuseCrooked(call.path)
    return { socketPath: address.path, target: targetOf(call) }
  }

  async function answerTo(call: Call, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const asked = socketCall(call)
    if (!asked) return dial(call, signal)
    return (await askSocket(asked, signal)).body ?? new ReadableStream()
  }

  async function dial(call: Call, signal: AbortSignal | undefined) {
    refuseCrooked(call.path)
    const opened = await modem()
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    opened.dial(
      {
        method: call.method,
        // the trailing `?` makes docker-modem append the query instead of cutting off something else
        path: `${call.path}?`,
        options: { _query: defined(call.query ?? {}), _body: call.body ?? {} },
        isStream: true,
        statusCodes: everyStatus,
        ...(call.upload && { file: call.upload }),
        ...(call.auth && { authconfig: call.auth }),
        ...(signal && { abortSignal: signal }),
        ...(call.hijack && { hijack: true }),
      },
      (error, answer) => {
        if (error) return reject(error)
        muffle((answer as IncomingMessage).socket ?? answer) // for a hijacked call it is the socket itself
        resolve(answer as IncomingMessage)
      },
    )
    const answer = await promise
    if (answer.statusCode! >= 400) {
      const refused = refusal(answer.statusCode!, await readText(answer))
      throw /HTTP request to an HTTPS server/.test(refused.message) ? needsTls(address) : refused
    }
    return answer
  }

  type Circumstances = {
    signal: AbortSignal | undefined
    call: string
    deadline?: ReturnType<typeof startDeadline>
    timeout?: number | null
  }

  function explain(error: unknown, { signal, call, deadline, timeout }: Circumstances) {
    if (signal?.aborted) return signal.reason
    if (deadline?.passed) return unanswered(address, call, timeout!)
    if (error instanceof Failure || !isTransportError(error)) return error
    version = undefined // after a reconnect it may be another engine
    return unreachable(address, error)
  }
}

/**
 * A signal that aborts while a response is read leaves its socket without an error listener, and the error would end
 * the process. The reader gets it from the response.
 */
function muffle(socket: Socket) {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore)
}

const ignore = () => {}

/** Joins the chunks that are available: the engine writes each line of a log separately. */
async function* together(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  for await (const first of answer) {
    const pieces: Uint8Array[] = [first]
    for (let next = answer.read(); next !== null; next = answer.read()) pieces.push(next)
    yield pieces.length === 1 ? first : Buffer.concat(pieces)
  }
}

async function readText(answer: AsyncIterable<Uint8Array>, maxBytes = Infinity) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new AnswerTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function targetOf({ path, query = {} }: { path: string; query?: object | undefined }) {
  const texts = new URLSearchParams()
  for (const [name, value] of Object.entries(defined(query)))
    texts.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  return `${path}?${texts}`
}

const defined = (query: object) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))

/** Sockets report a code, ssh the level at which it failed. */
const isTransportError = (error: unknown) =>
  error instanceof Error && ('code' in error || 'level' in error)

/** The newest API version that both the engine and this adapter support, such as `1.41`. */
export const spokenVersion = (offered: string) =>
  compareVersions(offered, newestKnown) > 0 ? newestKnown : offered

export const compareVersions = (a: string, b: string) => Bun.semver.order(`${a}.0`, `${b}.0`)
