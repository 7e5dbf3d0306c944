import { Failure } from '../../platform/errors.ts'
import { jsonOrNull } from '../../platform/json.ts'
import { pinnedFetch } from '../../platform/pinned-fetch.ts'
import { SendFailure } from './sender.ts'
import type { SendDeps } from './sender.ts'
import { cut, oneLine } from './text.ts'

type Call = {
  title: string
  url: string
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
  /** Sent as JSON, unless it is a text or bytes. */
  body?: unknown
  /** The reason in a response that refuses, if the service documents one. */
  reasonIn?: (json: Record<string, any>, text: string) => unknown
  /** In seconds, where a service says it in the body. */
  retryAfterIn?: (json: Record<string, any>) => unknown
  /** What to do, by status. */
  hints?: Record<number, string>
  /** True for statuses that may change without anyone changing the channel. */
  mayPass?: (status: number) => boolean
}

/** More of a response isn't read. */
const maxBytes = 64 * 1024

const usual: Record<number, string> = {
  401: 'Enter the token again, or a new one.',
  403: 'Check that the token may send messages there.',
  404: 'Check the address of the channel.',
}

/** Too early, too many, or the server’s own fault. */
const passes = (status: number) => [408, 425, 429].includes(status) || status >= 500

export async function call(deps: SendDeps, { title, url, method = 'POST', ...request }: Call) {
  const { fetch = pinnedFetch, allowHosts, signal, lookup, ca } = deps
  const { body, headers, hints = {}, mayPass = passes } = request
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(
    url,
    {
      method,
      headers: {
        'User-Agent': 'Davit',
        Accept: 'application/json',
        ...(body !== undefined && !isRaw && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    },
    {
      allow: allowHosts,
      signal,
      timeout: 20_000,
      maxBytes,
      cuts: true,
      keepsRedirect: true,
      lookup,
      ca,
    },
  )
  const { status } = response
  const text = await response.text()
  const parsed = jsonOrNull(text)
  const json = (typeof parsed === 'object' && parsed ? parsed : {}) as Record<string, any>
  if (response.ok) return { status: String(status), json }

  if (status >= 300 && status < 400)
    throw new SendFailure(
      'redirected',
      `${title} redirects to another address (status ${status}).`,
      'Enter the address that it redirects to.',
      { retry: false },
    )
  const reason = reasonOf(request.reasonIn?.(json, text))
  throw new SendFailure(
    status === 429 ? 'rate_limited' : 'refused',
    `${title} responded with status ${status}${reason && `: ${reason}`}.`,
    hints[status] ?? usual[status] ?? (passes(status) ? later : 'Check the fields of the channel.'),
    { retry: mayPass(status), retryAfter: secondsIn(response, request.retryAfterIn?.(json)) },
  )
}

const later = 'Davit tries again. If it keeps failing, check the service.'

const reasonOf = (reason: unknown) =>
  typeof reason === 'string' ? cut(oneLine(reason), 200).replace(/\.+$/, '') : ''

/** A date is rare, but RFC 9110 has it. */
function secondsIn(response: Response, said: unknown) {
  const header = response.headers.get('Retry-After')
  const seconds = Number(said ?? header ?? NaN)
  if (Number.isFinite(seconds) && seconds >= 0) return Math.ceil(seconds)
  const at = Date.parse(header ?? '')
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}

/** Those that a change of the channel, or of the server it names, has to fix. */
const lasting = ['host_refused', 'certificate_refused', 'redirected']

type Attempt = {
  /** In milliseconds. */
  deadline: number
  secrets: string[]
  /** Who doesn’t respond in time, and what to do then. */
  who: string
  hint: string
}

/**
 * Sends once. Every failure but the signal's is a SendFailure. No text has a secret, once it is `masked`: a receiver may
 * repeat what it was sent.
 */
export async function attempt<Sent>(
  deps: SendDeps,
  { deadline, secrets, who, hint: late }: Attempt,
  send: (deps: SendDeps, masked: (text: string) => string) => Promise<Sent>,
): Promise<Sent> {
  const timer = AbortSignal.timeout(deadline)
  const signal = AbortSignal.any([deps.signal, timer])
  const masked = (text: string) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, '•••'), text)
  try {
    return await send({ ...deps, signal }, masked)
  } catch (error) {
    if (deps.signal.aborted) throw deps.signal.reason
    if (timer.aborted) {
      const message = `${who} didn’t accept it within ${Math.round(deadline / 1000)} seconds.`
      throw new SendFailure('host_timeout', message, late, { retry: true })
    }
    if (!(error instanceof Failure)) throw error
    const { code, message, hint } = error
    const known: Partial<SendFailure> = error instanceof SendFailure ? error : {}
    const { retry = !lasting.includes(code), retryAfter, left } = known
    throw new SendFailure(code, masked(message), hint, { retry, retryAfter, left })
  }
}
