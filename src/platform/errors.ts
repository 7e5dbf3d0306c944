/** The HTTP status of each code (decisions: representations). */
export const httpStatusOf = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  misdirected: 421,
  invalid: 422,
  too_many: 429,
  bad_gateway: 502,
  unavailable: 503,
  timeout: 504,
} as const

export type ErrorCode = keyof typeof httpStatusOf

/** Of another server's response. */
export const errorCodeOf = (status: number): ErrorCode =>
  (Object.keys(httpStatusOf) as ErrorCode[]).find((code) => httpStatusOf[code] === status) ??
  'bad_gateway'

export type FieldError = { field: string; message: string }

/**
 * A refusal the user may read: the message names the thing and what to do. Anything else that is thrown is a
 * bug: logged in full, shown as an internal error.
 */
export class AppError extends Error {
  readonly fields: FieldError[]
  /** Seconds after which trying again can help; sent as `Retry-After`. */
  readonly retryAfter: number | undefined

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ErrorOptions & { fields?: FieldError[]; retryAfter?: number } = {},
  ) {
    super(message, options)
    this.fields = options.fields ?? []
    this.retryAfter = options.retryAfter
  }
}

export const notFound = (what: string) => new AppError('not_found', `This ${what} doesn’t exist.`)

export function found<Found>(what: string, row: Found | undefined): Found {
  if (row === undefined) throw notFound(what)
  return row
}

/** For changes. */
export function refuseDeleting(
  what: 'Project' | 'Environment' | 'Service',
  { name, deletingAt }: { name: string; deletingAt: Date | null },
) {
  if (deletingAt)
    throw new AppError('conflict', `${what} ${name} is being deleted, so it can’t be changed.`)
}

/** Refuses one field, by its JSON name. The field is the subject of a message in lower case. */
export const invalidField = (field: string, message: string) =>
  new AppError('invalid', withSubject(field, message), { fields: [{ field, message }] })

/** The field is valid but conflicts with what exists. */
export const conflictField = (field: string, message: string) =>
  new AppError('conflict', withSubject(field, message), { fields: [{ field, message }] })

/** A message in lower case says something of its field; others are sentences. */
export const withSubject = (field: string, message: string) =>
  /^\p{Ll}/u.test(message) ? `${field} ${message}` : message

/**
 * A failure of work on the outside world (git, a build, a container): a stable code for programs, one
 * sentence for a person, and the next step to take. It becomes `deployment.error`.
 */
export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** An error in a form that can be sent between threads, which keep no classes. */
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

/** Rebuilds the error with its class; a bug keeps its original description as the cause. */
export function errorFrom(plain: PlainError): Error {
  if (plain.kind === 'refusal') return new AppError(plain.code, plain.message, plain)
  if (plain.kind === 'failure') return new Failure(plain.code, plain.message, plain.hint)
  return new Error(plain.message, { cause: plain.stack })
}
