import { isIP } from 'node:net'
import { Failure } from './errors.ts'
import { firstReached, resolveHost } from './hosts.ts'
import type { Lookup } from './hosts.ts'

export type Pinning = {
  /** Private hosts that are allowed: the setting DAVIT_ALLOW_HOSTS. */
  allow: string[]
  signal: AbortSignal
  /** Milliseconds for everything, from the DNS query to the last byte. */
  timeout?: number
  /** Maximum size of the response body. */
  maxBytes?: number
  /** True to leave the rest of a longer body unread, instead of failing. */
  cuts?: boolean
  /** True to return a redirect instead of following it. */
  keepsRedirect?: boolean
  /** True to refuse a redirect that turns a change into a GET: its response would say nothing of the change. */
  keepsMethod?: boolean
  /** True to follow redirects to other hosts too, by HTTPS, and without the login. */
  mayLeave?: boolean
  /** Another name server, and certificates to trust, in tests. */
  lookup?: Lookup | undefined
  ca?: string | undefined
}

export type FetchRequest = {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

/**
 * Requests a URL and reads the whole response. Connects to the address that was checked, and follows
 * redirects only to the same host unless it may leave that. Every way to get no response is a Failure that names the host, and nothing
 * that was found there.
 */
export async function pinnedFetch(
  target: string | URL,
  asked: FetchRequest,
  { maxBytes = 10 * 1024 * 1024, timeout = 10_000, ...options }: Pinning,
): Promise<Response> {
  const chunks: Uint8Array[] = []
  const take = async (chunk: Uint8Array) => void chunks.push(chunk)
  const mayLead = (from: URL, to: URL) =>
    isSameServer(from, to) || (options.mayLeave === true && to.protocol === 'https:')
  const { status, headers } = await pinned(target, asked, {
    ...{ maxBytes, timeout, take, mayLead, maxRedirects: 3 },
    ...options,
  })
  return new Response(chunks.length > 0 ? Buffer.concat(chunks) : null, { status, headers })
}

/**
 * Passes a download to `take`, piece by piece. Follows redirects to other hosts, each under the same rules.
 * Throws a Failure like `pinnedFetch`, and for every response but a success.
 */
export const pinnedDownload = (
  target: string | URL,
  {
    onlyHttps = false,
    ...options
  }: Pinning & {
    maxBytes: number
    take: (chunk: Uint8Array) => Promise<void>
    /** True to refuse redirects to an address without HTTPS. */
    onlyHttps?: boolean
  },
) => {
  const check = (url: URL, { ok, status }: Response) => {
    if (!ok) throw refusedDownload(url.host, status)
  }
  const protocols = onlyHttps ? ['https:'] : ['https:', 'http:']
  const mayLead = (_: URL, to: URL) => protocols.includes(to.protocol)
  return pinned(target, {}, { timeout: 60_000, ...options, check, mayLead, maxRedirects: 5 })
}

type Reading = Pinning & {
  timeout: number
  maxBytes: number
  maxRedirects: number
  mayLead: (from: URL, to: URL) => boolean
  /** Called before the body is read. */
  check?: (url: URL, response: Response) => void
  take: (chunk: Uint8Array) => Promise<void>
}

async function pinned(target: string | URL, asked: FetchRequest, options: Reading) {
  const timer = AbortSignal.timeout(options.timeout)
  const signal = AbortSignal.any([options.signal, timer])
  const { allow, lookup, ca } = options
  const known = new Map<string, Promise<string[]>>()
  let url = new URL(target)
  try {
    const response = await follow(asked, options.maxRedirects)
    options.check?.(url, response)
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > options.maxBytes && options.cuts) break
      if (size > options.maxBytes) throw tooLarge
      await options.take(chunk)
    }
    return response
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason
    throw inWords(error, { host: url.host, timedOut: timer.aborted })
  }

  async function follow(asked: FetchRequest, left: number): Promise<Response> {
    const addresses = await known.getOrInsertComputed(url.hostname, (name) =>
      resolveHost(name, { allow, signal, lookup }),
    )
    const response = await firstReached(addresses, { signal }, (address) =>
      connect(url, address, { ...asked, signal, ca }),
    )
    const location = response.headers.get('Location')
    if (!isRedirect(response) || location === null || options.keepsRedirect) return response
    await response.body?.cancel()
    const next = URL.parse(location, url.href)
    const isAsked = keepsMethod(response, asked)
    const isRefused = options.keepsMethod === true && !isAsked
    if (!next || left === 0 || isRefused || !options.mayLead(url, next)) throw redirected(url.host)
    const kept = isAsked ? asked : asGet(asked)
    const isNear = isSameServer(url, next)
    url = next
    return follow(isNear ? kept : without(kept, /^authorization$/i), left - 1)
  }
}

const isRedirect = ({ status }: Response) => [301, 302, 303, 307, 308].includes(status)

/** The same name and port, or the same name's HTTPS port. */
export const isSameServer = (from: URL, to: URL) =>
  to.origin === from.origin ||
  (from.hostname === to.hostname && from.port === '' && to.port === '' && to.protocol === 'https:')

const keepsMethod = ({ status }: Response, { method = 'GET' }: FetchRequest) =>
  status === 307 || status === 308 || method === 'GET'

const asGet = ({ headers = {} }: FetchRequest) => without({ headers }, /^content-/i)

function without({ headers = {}, ...asked }: FetchRequest, unwanted: RegExp): FetchRequest {
  const kept = Object.entries(headers).filter(([name]) => !unwanted.test(name))
  return { ...asked, headers: Object.fromEntries(kept) }
}

function connect(
  url: URL,
  address: string,
  options: FetchRequest & { signal: AbortSignal; ca: string | undefined },
): Promise<Response> {
  const { headers, signal, ca, ...asked } = options
  const pinned = new URL(url)
  pinned.hostname = isIP(address) === 6 ? `[${address}]` : address
  // the certificate is checked against the name, although the connection is to the address
  const serverName = isIP(url.hostname.replace(/^\[|\]$/g, '')) ? undefined : url.hostname
  return fetch(pinned, {
    ...asked,
    headers: { ...headers, Host: url.host },
    redirect: 'manual',
    signal,
    tls: { ...(serverName && { serverName }), ...(ca && { ca }) },
  })
}

const tooLarge = new Error('The response is too large.')

function inWords(error: unknown, { host, timedOut }: { host: string; timedOut: boolean }) {
  if (error instanceof Failure) return error
  if (timedOut) return failure('host_timeout', `The host ${host} didn’t respond in time.`, error)
  if (error === tooLarge)
    return failure('answer_too_large', `The host ${host} sent more than Davit accepts.`, error)
  const { code = '' } = error as { code?: string }
  if (/CERT|VERIFY|SELF_SIGNED|ALTNAME/.test(code))
    return new Failure(
      'certificate_refused',
      `Davit doesn’t trust the certificate of ${host} for this name.`,
      'Ask the operator to trust its issuer, for example with NODE_EXTRA_CA_CERTS.',
      { cause: error },
    )
  return failure(
    'host_unreachable',
    `The host ${host} couldn’t be reached, or the connection broke.`,
    error,
  )
}

const failure = (code: string, message: string, cause: unknown) =>
  new Failure(
    code,
    message,
    'Try again. If it keeps failing, check that this server can reach it.',
    {
      cause,
    },
  )

const refusedDownload = (host: string, status: number) =>
  new Failure(
    'download_failed',
    `The download from ${host} failed with status ${status}.`,
    'Check the address, and that it can be downloaded without a login.',
  )

const redirected = (host: string) =>
  new Failure(
    'redirected',
    `The host ${host} redirects to another address.`,
    'Use the address that it redirects to.',
  )
