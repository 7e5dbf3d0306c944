import { Failure } from '../platform/errors.ts'
import type { EngineAddress } from './address.ts'

/** A refusal by the engine, with its message. */
export class EngineError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

export function refusal(status: number, body: string) {
  let message = body.trim()
  try {
    message = JSON.parse(body).message ?? message
  } catch {
    // a proxy in between responds in its own format
  }
  return new EngineError(status, message || `HTTP status ${status}`)
}

const causes: Record<string, { what: string; hint: string }> = {
  ENOENT: {
    what: 'the socket doesn’t exist',
    hint: 'Start Docker (systemctl start docker), or set DOCKER_HOST to where it listens.',
  },
  ECONNREFUSED: {
    what: 'nothing listens there',
    hint: 'Start Docker (systemctl start docker), or correct DOCKER_HOST.',
  },
  EACCES: {
    what: 'this user doesn’t have permission to open it',
    hint: 'Add the user to the socket’s group (usermod -aG docker <user>), then start again.',
  },
  ENOTFOUND: {
    what: 'the name does not resolve',
    hint: 'Correct the host name in DOCKER_HOST.',
  },
}

/** Messages of TLS and ssh when one side doesn't trust the other; the first match counts. */
const distrusts: { seen: RegExp; what: string; hint: string }[] = [
  {
    seen: /alert.(bad|unsupported|revoked|expired|unknown).(certificate|ca)|certificate.required/i,
    what: 'it refuses the certificate in cert.pem',
    hint: 'Put a certificate that its authority has signed and that hasn’t expired into DOCKER_CERT_PATH, with its key.',
  },
  {
    seen: /certificate has expired|CERT_HAS_EXPIRED/i,
    what: 'its certificate has expired',
    hint: 'Give Docker a new one (tlscert in its daemon.json).',
  },
  {
    seen: /ALTNAME_INVALID|altnames/i,
    what: 'its certificate is for another host',
    hint: 'Use a name in DOCKER_HOST that its certificate has.',
  },
  {
    seen: /verify the first certificate|self.signed|local issuer/i,
    what: 'its certificate isn’t from the authority in ca.pem',
    hint: 'Put the certificate of its authority into ca.pem in DOCKER_CERT_PATH.',
  },
  {
    seen: /wrong.version.number|packet.length.too.long|HTTP.request/i,
    what: 'it doesn’t use TLS',
    hint: 'Start it with tlsverify, or, on a network that you trust, leave out DOCKER_TLS_VERIFY.',
  },
  {
    seen: /host denied/i,
    what: 'its host key isn’t the one in known_hosts',
    hint: 'Compare its fingerprint, then connect to it once with ssh as the user who runs Davit.',
  },
  {
    seen: /parse privateKey/i,
    what: 'the ssh key of the user who runs Davit has a passphrase or can’t be read',
    hint: 'Give Davit an agent in SSH_AUTH_SOCK, or a key without a passphrase in ~/.ssh.',
  },
  {
    seen: /authentication methods failed/i,
    what: 'ssh refuses the key of the user who runs Davit',
    hint: 'Add the public key to authorized_keys there. Davit uses the agent of SSH_AUTH_SOCK, else a key in ~/.ssh without a passphrase.',
  },
]

/** For an engine that can't be reached, or whose connection broke. */
export function unreachable(address: EngineAddress, error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException
  const known =
    causes[code === 'EPERM' ? 'EACCES' : (code ?? '')] ??
    distrusts.find(({ seen }) => seen.test(`${code} ${message}`))
  const what = known?.what ?? (isHangUp(code) ? 'the connection broke' : message)
  return new Failure(
    'engine_unreachable',
    `Docker at ${address.text} can’t be reached: ${what}.`,
    known?.hint ?? hintFor(address),
    { cause: error },
  )
}

const hintFor = ({ kind, text }: EngineAddress) =>
  kind === 'ssh'
    ? `Make \`docker -H ${text} version\` work for the user that runs this, with a key or an agent.`
    : 'Check Docker (systemctl status docker) and DOCKER_HOST.'

/** For an engine that requires TLS from a client that doesn't use it. */
export const needsTls = (address: EngineAddress) =>
  new Failure(
    'engine_unreachable',
    `Docker at ${address.text} can’t be reached: it needs TLS.`,
    'Set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the folder that holds ca.pem, cert.pem and key.pem.',
  )

/** For an engine that accepted the call but didn't respond. */
export const unanswered = (address: EngineAddress, call: string, milliseconds: number) =>
  new Failure(
    'engine_timeout',
    `Docker at ${address.text} didn’t respond to ${call} within ${milliseconds / 1000} s.`,
    'Check the load of the machine and Docker’s log (journalctl -u docker).',
  )

/** For a connection that the engine closed normally, but too early. */
export const hangupSignal = Object.assign(new Error('The connection ended.'), {
  code: 'ECONNRESET',
})

const isHangUp = (code: string | undefined) => code === 'ECONNRESET' || code === 'EPIPE'

export const isEngineAway = (error: unknown) =>
  error instanceof Failure && error.code === 'engine_unreachable'

/** True of an engine that accepts calls and doesn't respond. */
export const isEngineTimeout = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'engine_timeout'

/** True when the container doesn’t run, was removed or is being removed: the engine refuses commands and its log. */
export const isContainerGone = (error: unknown) =>
  error instanceof EngineError && (error.status === 404 || error.status === 409)

/** Either of the two: a server without power may seem one or the other. */
export const isEngineSilent = (error: unknown) => isEngineAway(error) || isEngineTimeout(error)
