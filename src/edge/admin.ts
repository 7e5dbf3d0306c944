import { Failure } from '../platform/errors.ts'

/** Caddy's admin API: a private socket of Davit's, or the address of the user's own Caddy. */
export type AdminAddress = { socket: string } | { url: string }

export type Admin = ReturnType<typeof connectAdmin>

type RequestOptions = { signal: AbortSignal; timeout?: number }

/** Milliseconds for a response. Caddy confirms a new configuration once it is active. */
const timeoutMs = 10_000

/** Bytes of a configuration that is read back. */
const maxBytes = 32 * 1024 * 1024

/** Characters of Caddy's message that are shown. */
const maxReason = 500

/**
 * Contacts nothing yet. Throws a Failure for a refusal or a missing response. Repeatable requests are
 * repeated once when Caddy closed the connection: a new configuration restarts the admin API, which cuts off
 * late requests to the old one.
 */
export function connectAdmin(address: AdminAddress) {
  return {
    read,
    readText,
    /** The list of strings at a path; empty when there is none. */
    async list(path: string, asked: RequestOptions) {
      const list = await read(path, asked)
      return Array.isArray(list) ? list.map(String) : []
    },
    /** Loads a whole configuration. An invalid one is refused, and the previous one stays active. */
    load: (configuration: object, asked: RequestOptions) =>
      again(() => write('POST', 'load', configuration, asked)),
    /** Changes one part of a configuration that belongs to someone else. */
    write,
    /** Frees what loading has left, up to half of Caddy’s own memory, which it keeps while nothing more comes. */
    async collectGarbage(asked: RequestOptions) {
      // the second one frees what was pooled
      for (let times = 0; times < 2; times++)
        await readText('debug/pprof/heap?gc=1', asked).catch(() => null)
    },
  }

  /** The active configuration at a path, such as `config/` or `id/davit`; null when there is none. */
  async function read(path: string, asked: RequestOptions): Promise<unknown> {
    const text = await readText(path, asked)
    return text === null ? null : parse(text)
  }

  /** Returns the JSON text, which is identical when nothing has changed. */
  async function readText(path: string, asked: RequestOptions) {
    const { status, text } = await again(() => ask('GET', path, asked))
    if (status === 404 || isNothing(status, text)) return null
    if (status !== 200) throw refused(text)
    return text
  }

  async function write(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: object | null,
    asked: RequestOptions,
  ) {
    const { status, text } = await ask(method, path, { ...asked, body })
    if (status !== 200) throw refused(text)
  }

  async function ask(
    method: string,
    path: string,
    { signal, timeout = timeoutMs, body = null }: RequestOptions & { body?: object | null },
  ) {
    const timer = AbortSignal.timeout(timeout)
    const base = 'socket' in address ? 'http://localhost/' : address.url
    try {
      const response = await fetch(new URL(path, base), {
        method,
        ...('socket' in address && { unix: address.socket }),
        ...(body && {
          body: JSON.stringify(body),
          headers: { 'Content-Type': 'application/json' },
        }),
        redirect: 'error',
        keepalive: false, // a new configuration restarts the admin API too
        signal: AbortSignal.any([signal, timer]),
      })
      return { status: response.status, text: await readAll(response) }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (error instanceof Failure) throw error
      throw timer.aborted ? silent(timeout, error) : unreachable(error)
    }
  }
}

async function again<Answer>(work: () => Promise<Answer>) {
  try {
    return await work()
  } catch (error) {
    const { code, cause } = error as Failure
    if (code !== 'edge_unreachable' || (cause as { code?: string }).code !== 'ECONNRESET')
      throw error
    return work()
  }
}

async function readAll({ body }: Response) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBytes)
      throw new Failure('edge_answer', 'Caddy sent more than Davit accepts.', hint)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure('edge_answer', 'Caddy’s admin API didn’t send JSON.', hint, {
      cause,
    })
  }
}

const isNothing = (status: number, text: string) =>
  status >= 400 && /unknown object ID|invalid traversal path/i.test(text)

const hint = 'See the log of Caddy’s container.'

export const unreachable = (cause: unknown) =>
  new Failure('edge_unreachable', 'Caddy’s admin API can’t be reached.', hint, { cause })

const silent = (timeout: number, cause: unknown) =>
  new Failure('edge_timeout', `Caddy didn’t respond within ${timeout / 1000} s.`, hint, { cause })

export function refused(text: string) {
  const reason = /^\{"error":(".*")\}\s*$/s.exec(text)?.[1]
  const said = (reason ? String(parse(reason)) : text).trim().slice(0, maxReason)
  return new Failure(
    'edge_refused',
    `Caddy refused the configuration: ${said || 'it gave no reason'}`,
    'The previous configuration stays active. Check your last change.',
  )
}
