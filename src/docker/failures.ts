import { Failure } from '../platform/errors.ts'
import type { EngineAddress } from './address.ts'

/** A refusal by the engine, in its own sentence. */
export class EngineError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** What the engine says in the body of a refusal. */
export function refusal(status: number, body: string) {
  let message = body.trim()
  try {
    message = JSON.parse(body).message ?? message
  } catch {
    // A proxy in between answers in words of its own.
  }
  return new EngineError(status, message || `HTTP status ${status}`)
}

const causes: Record<string, { what: string; hint: string }> = {
  ENOENT: {
    what: 'there is no such socket',
    hint: 'Start the engine (systemctl start docker), or set DOCKER_HOST to where it listens.',
  },
  ECONNREFUSED: {
    what: 'nothing listens there',
    hint: 'Start the engine (systemctl start docker), or correct DOCKER_HOST.',
  },
  EACCES: {
    what: 'this user may not open it',
    hint: "Add the user to the socket's group (usermod -aG docker <user>), then start again.",
  },
  ENOTFOUND: {
    what: 'the name does not resolve',
    hint: 'Correct the host name in DOCKER_HOST.',
  },
}

/** What to say when the engine could not be talked to, or went away in the middle of it. */
export function unreachable(address: EngineAddress, error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException
  const known = causes[code === 'EPERM' ? 'EACCES' : (code ?? '')]
  const what = known?.what ?? (isHangUp(code) ? 'the connection broke' : message)
  return new Failure(
    'engine_unreachable',
    `The Docker Engine at ${address.text} cannot be reached: ${what}.`,
    known?.hint ?? hintFor(address),
    { cause: error },
  )
}

const hintFor = ({ kind, text }: EngineAddress) =>
  kind === 'ssh'
    ? `Make \`docker -H ${text} version\` work for the user that runs this, with a key or an agent.`
    : 'Look at the engine (systemctl status docker) and at DOCKER_HOST.'

/** What to say when the engine took the call but no answer came. */
export const unanswered = (address: EngineAddress, call: string, milliseconds: number) =>
  new Failure(
    'engine_timeout',
    `The Docker Engine at ${address.text} did not answer ${call} within ${milliseconds / 1000} s.`,
    'Look at the load of the machine and the log of the engine (journalctl -u docker).',
  )

/** Stands for a connection that the engine closed in good order, but too early. */
export const hangupSignal = Object.assign(new Error('The connection ended.'), {
  code: 'ECONNRESET',
})

const isHangUp = (code: string | undefined) => code === 'ECONNRESET' || code === 'EPIPE'
