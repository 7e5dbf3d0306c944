export type ErrorCode =
  | 'bad_request'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'too_many'
  | 'unavailable'
  | 'misdirected'
  | 'bad_gateway'
  | 'timeout'

/** The HTTP status that stands for each code (decisions: representations). */
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
} as const satisfies Record<ErrorCode, number>

export type FieldError = { field: string; message: string }

/**
 * A refusal the user may read: the message names the thing and the next move.
 * Anything else that is thrown is a bug: logged in full, shown as an internal error.
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

export const notFound = (what: string) => new AppError('not_found', `This ${what} does not exist.`)

/** What was looked for; throws `not_found` where there is none. */
export function found<Found>(what: string, row: Found | undefined): Found {
  if (row === undefined) throw notFound(what)
  return row
}

/** A refusal of one field, which has its JSON name; the message may leave it to be the subject. */
export const invalidField = (field: string, message: string) =>
  new AppError('invalid', withSubject(field, message), { fields: [{ field, message }] })

/** A field that is well-formed but at odds with what is there already. */
export const conflictField = (field: string, message: string) =>
  new AppError('conflict', withSubject(field, message), { fields: [{ field, message }] })

const withSubject = (field: string, message: string) =>
  /^\p{Ll}/u.test(message) ? `${field} ${message}` : message

/**
 * Why a piece of work on the outside world (git, a build, a container) failed: a stable code for
 * programs, one sentence for a person, and the next step to take. It becomes `deployment.error`.
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
