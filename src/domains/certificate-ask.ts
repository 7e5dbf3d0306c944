import { setTimeout as sleep } from 'node:timers/promises'
import type { Docker } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { problemIn } from '../edge/certificate-log.ts'
import type { Problem } from '../edge/certificate-log.ts'
import { Failure } from '../platform/errors.ts'
import { nameOfIssuer } from './certificate-own.ts'
import type { Certificate } from './certificate-store.ts'
import { nextLook } from './certificate-times.ts'

export type Served = { issuer: string; from: Date; notAfter: Date }

/** As it is stored. */
export const issued = ({ issuer, notAfter }: Served): Partial<Certificate> => ({
  ...{ status: 'issued', issuer, notAfter, errorMessage: null, errorHint: null },
  nextTryAt: nextLook({ notAfter }),
})

/** Milliseconds for one handshake; Caddy ends those that wait for an authority after ten seconds. */
const timeoutMs = 20_000

/** Milliseconds between two handshakes. */
const pause = 500

/**
 * Milliseconds for an authority. After a failure Caddy retries once after a minute, and accepts no new
 * request for the same name for three minutes.
 */
const longest = 200_000

/**
 * The certificate that Caddy serves for a host, by a handshake on this machine; null when it has none. If
 * allowed, Caddy requests one from the authority, and renews it in time. Throws a Failure when nothing
 * listens.
 */
export async function servedCertificate(
  host: string,
  { port, signal }: { port: number; signal: AbortSignal },
): Promise<Served | null> {
  const { connect } = await import('node:tls')
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Served | null>()
  const socket = connect({
    ...{ host: '127.0.0.1', port, servername: host },
    rejectUnauthorized: false, // any issuer: it is only read, and nothing is sent
  })
  const end = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
  const abort = () => {
    end()
    reject(signal.reason)
  }
  const timer = setTimeout(() => {
    end()
    resolve(null)
  }, timeoutMs)
  signal.addEventListener('abort', abort)
  socket.on('secureConnect', () => {
    const certificate = socket.getPeerX509Certificate()
    end()
    resolve(
      certificate?.checkHost(host)
        ? {
            issuer: nameOfIssuer(certificate),
            from: new Date(certificate.validFrom),
            notAfter: new Date(certificate.validTo),
          }
        : null,
    )
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    end()
    if (error.syscall === 'connect' || error.code === 'ECONNREFUSED') reject(away(port, error))
    else resolve(null)
  })
  socket.on('close', () => {
    end()
    resolve(null)
  })
  return promise
}

const away = (port: number, cause: unknown) =>
  new Failure(
    'edge_unreachable',
    `Nothing listens on port ${port}.`,
    'Caddy may be starting. Davit tries again.',
    { cause },
  )

type AskDeps = { docker: Docker; instanceId: string }

/**
 * Makes Caddy get a certificate for an allowed host. Returns the certificate, or the authority's or Caddy's
 * reason why there is none.
 */
export async function askForCertificate(
  deps: AskDeps,
  host: string,
  { port, signal }: { port: number; signal: AbortSignal },
): Promise<Served | Problem> {
  const over = new AbortController()
  const ending = AbortSignal.any([signal, over.signal])
  const since = new Date()
  const problem = followProblems(deps, host, { since, signal: ending })
  try {
    return await Promise.race([
      serve(),
      problem.catch((error) => {
        if (ending.aborted) throw error
        return never // without a log the served certificate is still known
      }),
    ])
  } finally {
    over.abort()
  }

  async function serve(): Promise<Served | Problem> {
    const end = performance.now() + longest
    while (performance.now() < end) {
      const served = await servedCertificate(host, { port, signal: ending })
      if (served && served.notAfter > new Date()) return served
      await sleep(pause, undefined, { signal: ending })
    }
    return { type: null, detail: `it didn’t respond within ${longest / 1000} s` }
  }
}

const never = new Promise<never>(() => {})

/** Resolves with the first problem from now on; never if the container ends before. */
async function followProblems(
  deps: AskDeps,
  host: string,
  { since, signal }: { since: Date; signal: AbortSignal },
): Promise<Problem> {
  for await (const problem of problems(deps, host, { since, follow: true, signal })) return problem
  return never
}

/** Caddy's last problem with a host after a time; null when there was none, or there is no log. */
export async function lastProblem(
  deps: AskDeps,
  host: string,
  { since, signal }: { since: Date; signal: AbortSignal },
): Promise<Problem | null> {
  let last: Problem | null = null
  for await (const problem of problems(deps, host, { since, follow: false, signal })) last = problem
  return last
}

async function* problems(
  { docker, instanceId }: AskDeps,
  host: string,
  options: { since: Date; follow: boolean; signal: AbortSignal },
) {
  const labels = labelFilter(instanceId, { kind: 'edge' })
  const [container] = await docker.listContainers({ labels, signal: options.signal })
  if (!container) return
  for await (const lines of docker.containerLogs(container.id, options))
    for (const { text } of lines) {
      const problem = problemIn(text, host)
      if (problem) yield problem
    }
}
