import type { Db } from '../db/index.ts'
import { cancelled } from '../jobs/jobs.ts'
import { Failure } from '../platform/errors.ts'
import { openServiceSecrets } from '../logs/mask-store.ts'
import { masking } from '../logs/mask.ts'
import type { Secrets } from '../platform/secrets.ts'
import { explain } from '../runtime/explain.ts'
import { getService } from './store.ts'

/** For the row: at which step a start ended, and why, in words and with a next step. */
export async function explainStart(
  deps: { db: Db; secrets: Secrets },
  { id, error, signal }: { id: string; error: unknown; signal: AbortSignal },
) {
  const { code, message, hint } = explainService(error, signal)
  const mask = maskOf(deps, id)
  return {
    errorStep: getService(deps.db, id)?.status ?? null,
    errorCode: code,
    errorMessage: mask(message),
    errorHint: mask(hint),
  }
}

/** An engine repeats what it was asked for, secrets too. */
function maskOf(deps: { db: Db; secrets: Secrets }, id: string) {
  try {
    return masking(openServiceSecrets(deps, id))
  } catch {
    return (text: string) => text // values that can't be read were sent to no engine
  }
}

function explainService(error: unknown, signal: AbortSignal): Failure {
  if (signal.reason instanceof Failure) return signal.reason
  if (signal.reason === cancelled)
    return new Failure('cancelled', 'It was cancelled.', 'Start it again when you want it.')
  return explain(error, { subject: 'service', what: 'Start failed' })
}
