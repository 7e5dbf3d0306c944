import { AppError, Failure } from './errors.ts'
import type { ErrorCode, FieldError } from './errors.ts'

/** An error as it can be sent between threads, which keep no classes. */
export type PlainError =
  | { kind: 'refusal'; code: ErrorCode; message: string; fields: FieldError[] }
  | { kind: 'failure'; code: string; message: string; hint: string }
  | { kind: 'bug'; message: string; stack: string }

export function plainError(error: unknown): PlainError {
  const { message } = error as Error
  if (error instanceof AppError)
    return { kind: 'refusal', code: error.code, message, fields: error.fields }
  if (error instanceof Failure)
    return { kind: 'failure', code: error.code, message, hint: error.hint }
  return { kind: 'bug', message: String(message), stack: Bun.inspect(error, { colors: false }) }
}

/** The error again, of its class; a bug has what was said of it there as its cause. */
export function errorFrom(plain: PlainError): Error {
  if (plain.kind === 'refusal') return new AppError(plain.code, plain.message, plain)
  if (plain.kind === 'failure') return new Failure(plain.code, plain.message, plain.hint)
  return new Error(plain.message, { cause: plain.stack })
}
