import { Failure } from '../errors.ts'
import { journal } from '../journal.ts'

/** Tells the operator of trouble in the background: faults of the outside world in a line, bugs in full. */
export function report(what: string, error: unknown, fields: Record<string, unknown> = {}) {
  if (error instanceof Failure)
    journal.warn(`${what}: ${error.message}`, { ...fields, hint: error.hint })
  else journal.error(what, error, fields)
}
