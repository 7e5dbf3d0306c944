import { once } from 'node:events'
import { connect } from 'node:net'
import { startDeadline } from './deadline.ts'
import { sleepUpTo } from '../platform/pause.ts'

export type ProbeOptions = {
  address: string
  port: number
  /** An HTTP path that must respond with a status below 400; null only requires a connection. */
  path: string | null
  /** The Host header. Default: localhost, because frameworks that check it refuse an address. */
  host?: string | undefined
  /** In milliseconds. */
  timeout: number
  signal?: AbortSignal | undefined
}

export type ProbeResult = {
  answered: boolean
  /** Such as `status 200`, `status 503`, `connection refused`, `no response`. */
  lastSeen: string
  milliseconds: number
}

const quickInterval = 20
const quickPhase = 2_000
const interval = 250
/** Milliseconds of one attempt: a hanging one may have reached a server that was replaced meanwhile. */
const tryTimeout = 5_000

/** Probes until it responds or the time is up. Throws only when the signal aborts. */
export async function waitUntilAnswers(options: ProbeOptions): Promise<ProbeResult> {
  const { timeout, signal } = options
  using deadline = startDeadline(signal, timeout)
  const start = performance.now()
  let lastSeen = 'no response'
  for (;;) {
    const seen = await ask(options, deadline.signal)
    signal?.throwIfAborted()
    const milliseconds = performance.now() - start
    if (seen.answered) return { ...seen, milliseconds }
    // the result of the last complete attempt says more than that this one timed out
    if (!deadline.passed) lastSeen = seen.lastSeen
    else return { answered: false, lastSeen, milliseconds }
    await sleepUpTo(milliseconds < quickPhase ? quickInterval : interval, deadline.signal)
  }
}

/** One attempt. Throws only when the signal aborts. */
export async function probeOnce(options: Omit<ProbeOptions, 'timeout'> & { signal: AbortSignal }) {
  const seen = await ask({ ...options, timeout: tryTimeout }, options.signal)
  options.signal.throwIfAborted()
  return seen
}

type ProbeAttempt = { answered: boolean; lastSeen: string }

async function ask(
  { address, port, path, host }: ProbeOptions,
  signal: AbortSignal,
): Promise<ProbeAttempt> {
  using deadline = startDeadline(signal, tryTimeout)
  try {
    if (path === null) return await connectTo(address, port, deadline.signal)
    return await getStatus({ address, port, path, host }, deadline.signal)
  } catch (error) {
    if (deadline.signal.aborted) return { answered: false, lastSeen: 'no response' }
    return { answered: false, lastSeen: describe(error as NodeJS.ErrnoException) }
  }
}

async function getStatus(
  {
    address,
    port,
    path,
    host = 'localhost',
  }: Pick<ProbeOptions, 'address' | 'port' | 'host'> & { path: string },
  signal: AbortSignal,
) {
  const { get } = await import('node:http') // not fetch, which would use a proxy from the environment
  return new Promise<ProbeAttempt>((resolve, reject) => {
    const headers = { Host: host }
    const options = { host: address, port, path, headers, signal, agent: false } as const
    get(options, (answer) => {
      const status = answer.statusCode!
      answer.destroy()
      resolve({ answered: status < 400, lastSeen: `status ${status}` })
    }).on('error', reject)
  })
}

async function connectTo(host: string, port: number, signal: AbortSignal): Promise<ProbeAttempt> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect', { signal })
    return { answered: true, lastSeen: 'accepted a connection' }
  } finally {
    socket.on('error', () => {}).destroy()
  }
}

function describe({ code = '', message }: NodeJS.ErrnoException) {
  if (code.startsWith('HPE_')) return 'a response that isn’t HTTP'
  return sentences[code] ?? message
}

const sentences: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed without a response',
  EHOSTUNREACH: 'no route to the container',
  ENETUNREACH: 'no route to the container',
}
