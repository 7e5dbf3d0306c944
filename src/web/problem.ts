import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { databaseUnavailable, diskFull, isDiskFull, isUnavailable } from '../db/failures.ts'
import { AppError, Failure, httpStatusOf } from '../platform/errors.ts'
import { fieldName } from './body.ts'
import type { Env } from './factory.ts'
import { componentOf } from './operation.ts'

type Status = keyof typeof titles

/** The description of an error in a response, for any client. */
export type Problem = {
  status: Status
  title: string
  detail: string
  fields?: AppError['fields']
  code?: string
  /** Seconds after which trying again can help. */
  retryAfter?: number | undefined
  /** True when only the log has the details. */
  isLogged?: boolean
}

/** A bug reveals nothing; a failure of the outside world is 503, which clients retry. */
export function problemOf(error: Error): Problem {
  if (error instanceof AppError) {
    const { message: detail, fields, retryAfter } = error
    return { ...problem(httpStatusOf[error.code], detail), fields, retryAfter }
  }
  if (error instanceof Failure)
    return { ...problem(503, `${error.message} ${error.hint}`), code: error.code }
  if (isDiskFull(error)) return problemOf(diskFull(error))
  if (isUnavailable(error)) return { ...problemOf(databaseUnavailable(error)), isLogged: true }
  if (error instanceof HTTPException && error.status in titles) {
    const status = error.status as Status
    return problem(status, error.message || titles[status])
  }
  const detail = 'Something went wrong inside Davit. Its log has the details under the request id.'
  return { ...problem(500, detail), isLogged: true }
}

export const problem = (status: Status, detail: string): Problem => ({
  status,
  title: titles[status],
  detail,
})

/** The JSON of a problem in the API document. */
export const problemSchema = componentOf('Problem', () => ({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  requestId: z.string(),
  code: z.string().optional(),
  /** `field` is empty when the body as a whole is invalid. */
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
}))

/** The problem as JSON (RFC 9457). */
export function answerJson(c: Context<Env>, told: Problem) {
  const { status, title, detail, code, fields = [] } = told
  const wholeBody = { field: '', message: detail }
  const errors = fields.length === 0 && status === 422 ? [wholeBody] : fields
  sayWhen(c, told)
  const body = {
    type: 'about:blank',
    title,
    status,
    detail,
    requestId: c.var.requestId,
    ...(code && { code }),
    ...(errors.length > 0 && {
      errors: errors.map((e) => ({ ...e, field: fieldName(c, e.field) })),
    }),
  }
  return c.body(JSON.stringify(body), status, { 'Content-Type': 'application/problem+json' })
}

export function sayWhen(c: Context, { retryAfter }: Problem) {
  if (retryAfter !== undefined) c.header('Retry-After', String(Math.ceil(retryAfter)))
}

const titles = {
  400: 'Bad request',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  415: 'Unsupported body',
  421: 'Wrong address',
  422: 'Not accepted',
  429: 'Too many requests',
  500: 'Internal error',
  502: 'Another server failed',
  503: 'Unavailable',
  504: 'Took too long',
}
