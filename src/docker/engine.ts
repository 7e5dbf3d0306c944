import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import Modem from 'docker-modem'
import type { EngineAddress } from './address.ts'
import type { Deadline } from './deadline.ts'
import { Failure } from '../platform/errors.ts'
import { parseAddress, readCertificates } from './address.ts'
import { startDeadline } from './deadline.ts'
import { EngineError, hangupSignal, refusal, unanswered, unreachable } from './failures.ts'
import { socketStream } from './socket-stream.ts'
import { sshLogin } from './ssh.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type Abortable = { signal?: AbortSignal | undefined }

export type RequestOptions = Abortable & {
  /** Objects are sent as JSON; what is undefined is left out. */
  query?: Record<string, unknown>
  /** Sent as JSON. */
  body?: object
  /** What a registry is told of who asks; it travels in a header. */
  auth?: RegistryAuth | undefined
  /** Milliseconds until the whole answer must be there; null waits for ever. */
  timeout?: number | null
  /** Of the answer; one with more is thrown away as `AnswerTooLarge`. */
  maxBytes?: number
}

export type StreamOptions = Pick<RequestOptions, 'query' | 'body' | 'auth' | 'signal'> & {
  /** A tar archive to send as the body, read no faster than the engine takes it. */
  upload?: Readable
  /** Called when the engine has begun to answer. */
  opened?: (() => void) | undefined
  /** Many small pieces will come: worth a way that costs less for each. */
  isBusy?: boolean
}

export type RegistryAuth = { username: string; password: string; serveraddress: string }

export type Engine = {
  readonly address: EngineAddress
  /** The parsed answer; undefined where the engine answers without a body. */
  request<T = void>(method: Method, path: string, options?: RequestOptions): Promise<T>
  /** The bytes of an answer that goes on; leaving the loop or aborting closes the connection. */
  stream(method: Method, path: string, options?: StreamOptions): AsyncGenerator<Uint8Array>
  /** A call that turns its connection into one of bytes both ways, which is the caller's to destroy. */
  hijack(path: string, options: Pick<RequestOptions, 'query' | 'body' | 'signal'>): Promise<Duplex>
  /** What to throw when a stream ended that should have gone on. */
  hungUp(): Failure
}

export class AnswerTooLarge extends Error {}

/** The newest API whose requests and answers this adapter was written against. */
const newestKnown = '1.51'
const oldestKnown = '1.24'
const defaultTimeout = 30_000

// The engine redirects these, and docker-modem follows to where an error ends the process.
const isCrooked = /\/\.{0,2}(\/|$)/

// docker-modem would make a sentence of its own of every other status; we read the engine's.
const everyStatus = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n + 100, true]))

/** Nothing is contacted before the first call, so an absent engine only fails what needs it. */
export function connectEngine(host: string | undefined, env = process.env): Engine {
  const address = parseAddress(host, env)
  let modem: Modem | undefined
  let version: string | undefined

  return {
    address,

    async request<T>(method: Method, path: string, options: RequestOptions = {}) {
      const { query, body, auth, signal, timeout = defaultTimeout, maxBytes } = options
      using deadline = startDeadline(signal, timeout)
      try {
        const prefix = `/v${await negotiate(deadline.signal)}`
        const call = { method, path: prefix + path, query, body, auth }
        const answer = await dial(call, deadline.signal)
        const text = await readText(answer, maxBytes)
        return (text === '' ? undefined : JSON.parse(text)) as T
      } catch (error) {
        throw explain(error, { signal, call: `${method} ${path}`, deadline, timeout })
      }
    },

    async *stream(
      method,
      path,
      { query, body, upload, auth, signal, opened, isBusy = false } = {},
    ) {
      try {
        const prefix = `/v${await negotiate(signal)}`
        const call = { method, path: prefix + path, query, body, upload, auth }
        if (isBusy && method === 'GET' && address.kind === 'socket')
          yield* socketStream({ socketPath: address.path, target: targetOf(call) }, signal)
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
        // without a length the request would be chunked, and its end be the first that is typed
        const sent = body ? { body } : { upload: Buffer.alloc(0) }
        const call = { method, path: prefix + path, query, ...sent, hijack: true }
        const connection: object = await dial(call, deadline.signal)
        if (!('statusCode' in connection)) return connection as Duplex
        throw new EngineError(502, 'A proxy before the engine passes no connection through')
      } catch (error) {
        throw explain(error, { signal, call: `${method} ${path}`, deadline, timeout })
      }
    },

    hungUp: () => unreachable(address, hangupSignal),
  }

  async function negotiate(signal: AbortSignal | undefined) {
    if (version) return version
    const ping = await dial({ method: 'GET', path: '/_ping' }, signal)
    ping.resume()
    const offered = String(ping.headers['api-version'] ?? oldestKnown)
    return (version = spokenVersion(offered))
  }

  type Call = {
    method: Method
    path: string
    query?: unknown
    body?: unknown
    upload?: Readable | Buffer | undefined
    auth?: RegistryAuth | undefined
    hijack?: boolean
  }

  async function dial(call: Call, signal: AbortSignal | undefined) {
    signal?.throwIfAborted()
    if (isCrooked.test(call.path)) throw new EngineError(404, 'page not found')
    modem ??= openModem(address)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    modem.dial(
      {
        method: call.method,
        // The trailing `?` makes docker-modem append the query, and nothing else ever cut off.
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
        muffle((answer as IncomingMessage).socket ?? answer) // a hijacked one is the socket itself
        resolve(answer as IncomingMessage)
      },
    )
    const answer = await promise
    if (answer.statusCode! >= 400) throw refusal(answer.statusCode!, await readText(answer))
    return answer
  }

  type Circumstances = {
    signal: AbortSignal | undefined
    call: string
    deadline?: Deadline
    timeout?: number | null
  }

  function explain(error: unknown, { signal, call, deadline, timeout }: Circumstances) {
    if (signal?.aborted) return signal.reason
    if (deadline?.passed) return unanswered(address, call, timeout!)
    if (error instanceof Failure || !isTransportError(error)) return error
    version = undefined // The engine that comes back may be another one.
    return unreachable(address, error)
  }
}

/**
 * When a signal is aborted whose answer has come but was not read to its end, nobody listens to the
 * socket any more, and its error would end the process. Whoever reads is told by the answer.
 */
function muffle(socket: Socket) {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore)
}

const ignore = () => {}

function openModem(address: EngineAddress) {
  // Every key is given, because docker-modem fills the ones left out from the environment.
  const base = {
    socketPath: undefined,
    host: undefined,
    port: undefined,
    protocol: 'http',
  } as const
  switch (address.kind) {
    case 'socket':
      return new Modem({ ...base, socketPath: address.path })
    case 'tcp': {
      const { host, port, tls, certPath } = address
      if (!tls) return new Modem({ ...base, host, port })
      return new Modem({ ...base, host, port, protocol: 'https', ...readCertificates(certPath) })
    }
    case 'ssh': {
      const { host, port } = address
      return new Modem({ ...base, protocol: 'ssh', host, port, ...sshLogin(address) })
    }
  }
}

/** All that is there at a time: the engine writes each line of a log alone, and there are many. */
async function* together(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  for await (const first of answer) {
    const pieces: Uint8Array[] = [first]
    for (let next = answer.read(); next !== null; next = answer.read()) pieces.push(next)
    yield pieces.length === 1 ? first : Buffer.concat(pieces)
  }
}

async function readText(answer: IncomingMessage, maxBytes = Infinity) {
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
  const texts = Object.entries(defined(query)).map(
    ([name, value]) => [name, String(value)] as [string, string],
  )
  return `${path}?${new URLSearchParams(texts)}`
}

const defined = (query: object) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))

/** Sockets name the cause by a code, ssh by the level at which it failed. */
const isTransportError = (error: unknown) =>
  error instanceof Error && ('code' in error || 'level' in error)

/** The API version, such as `1.41`, that an engine which offers that one and this adapter both speak. */
export const spokenVersion = (offered: string) =>
  compareVersions(offered, newestKnown) > 0 ? newestKnown : offered

export const compareVersions = (a: string, b: string) => Bun.semver.order(`${a}.0`, `${b}.0`)
