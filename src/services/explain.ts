import type { Deps } from '../deps.ts'
import { EngineError } from '../docker/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { masking } from '../logs/mask.ts'
import { cancelled } from './runner.ts'
import { secretsOfService } from './secrets-of-service.ts'
import { getService } from './store.ts'

type Rule = { seen: RegExp; code: string; message: string; hint: string }

const rules: Rule[] = [
  {
    seen: /no space left on device/i,
    code: 'disk_full',
    message: 'The disk of the server is full.',
    hint: 'Free some space under Settings, Clean-up, then start the service again.',
  },
  {
    seen: /port is already allocated|address already in use/i,
    code: 'port_in_use',
    message: 'A port of the host that it wants is in use by something else.',
    hint: 'Stop what listens there, or give the service another port.',
  },
  {
    seen: /executable file not found|no such file or directory: unknown/i,
    code: 'command_not_found',
    message: 'Its command is not in the image.',
    hint: 'Check command and entrypoint in its file, and the version.',
  },
  {
    seen: /range of CPUs is from/i,
    code: 'too_many_cpus',
    message: 'The server has fewer processors than it asks for.',
    hint: 'Lower cpus in its file.',
  },
  {
    seen: /error setting rlimit/i,
    code: 'limit_too_high',
    message: 'The engine itself may not have as many open files or processes as it asks for.',
    hint: 'Lower ulimits in its file, or raise the limits of the engine (LimitNOFILE).',
  },
  {
    seen: /exec format error/i,
    code: 'wrong_architecture',
    message: 'Its image is for another processor architecture.',
    hint: 'Choose a version that is made for this server.',
  },
]

/** For the row: at which step a start ended, and why, in words and with a next step. */
export async function explainStart(
  deps: Pick<Deps, 'db' | 'secrets'>,
  { id, error, signal }: { id: string; error: unknown; signal: AbortSignal },
) {
  const { code, message, hint } = explain(error, signal)
  const mask = await maskOf(deps, id)
  return {
    errorStep: getService(deps.db, id)?.status ?? null,
    errorCode: code,
    errorMessage: mask(message),
    errorHint: mask(hint),
  }
}

/** An engine repeats what it was asked for, secrets too. */
async function maskOf(deps: Pick<Deps, 'db' | 'secrets'>, id: string) {
  try {
    return masking(await secretsOfService(deps, id, []))
  } catch {
    return (text: string) => text // values that can't be read were sent to no engine
  }
}

/** For the row of one that is well. */
export const noError = {
  errorStep: null,
  errorCode: null,
  errorMessage: null,
  errorHint: null,
} as const

function explain(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted && signal.reason === cancelled)
    return new Failure('cancelled', 'It was cancelled.', 'Start it again when you want it.')
  if (error instanceof Failure) return error
  if (error instanceof AppError)
    return new Failure('refused', error.message, 'Change what it names, then start it again.')
  if (!(error instanceof EngineError))
    return new Failure(
      'internal',
      'Something went wrong inside Davit.',
      'Its own log has the details. Trying again can help.',
    )
  const rule = rules.find(({ seen }) => seen.test(error.message))
  if (rule) return new Failure(rule.code, rule.message, rule.hint)
  return new Failure(
    'engine_refused',
    `The engine says: ${error.message.trim().split('\n').at(-1)}`,
    'Change what it complains of, then start the service again.',
  )
}
