import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { diskFull, isDiskFull } from '../db/full.ts'
import { AppError, Failure, statusOf } from '../errors.ts'
import { journal } from '../journal.ts'
import { fieldName } from './body.ts'
import { clientOf } from './client.ts'
import { ErrorAlert, ErrorPage } from './error-page.tsx'
import type { Env } from './factory.ts'
import { show } from './respond.tsx'

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 502 | 503 | 504

type Problem = {
  status: Status
  title: string
  detail: string
  fields?: AppError['fields']
  code?: string
}

/** The one place where an error becomes an answer: a page, a fragment, or problem+json (RFC 9457). */
export function answerError(error: Error, c: Context<Env>) {
  const problem = problemOf(error)
  if (error instanceof AppError && error.retryAfter !== undefined)
    c.header('Retry-After', String(Math.ceil(error.retryAfter)))
  if (problem.status === 500)
    journal.error('unexpected error', error, { requestId: c.var.requestId, path: c.req.path })
  return answerProblem(c, problem)
}

export const answerNotFound = (c: Context<Env>) =>
  answerProblem(c, { status: 404, title: titles[404], detail: 'There is nothing at this address.' })

export function answerMethodNotAllowed(c: Context<Env>, methods: readonly string[]) {
  c.header('Allow', methods.join(', '))
  return answerProblem(c, {
    status: 405,
    title: titles[405],
    detail: `This address takes ${methods.join(', ')} only.`,
  })
}

async function answerProblem(c: Context<Env>, problem: Problem) {
  const { status, title, detail } = problem
  const client = clientOf(c)
  if (client === 'program') {
    const body = {
      type: 'about:blank',
      title,
      status,
      detail,
      requestId: c.var.requestId,
      ...(problem.code && { code: problem.code }),
      ...(problem.fields?.length && {
        errors: problem.fields.map((e) => ({ ...e, field: fieldName(c, e.field) })),
      }),
    }
    return c.body(JSON.stringify(body), status, { 'Content-Type': 'application/problem+json' })
  }
  if (client === 'partial') return c.html(<ErrorAlert title={title} detail={detail} />, status)
  const page = () => (
    <ErrorPage status={status} title={title} detail={detail} requestId={c.var.requestId} />
  )
  return show(c, { title, page }, status)
}

function problemOf(error: Error): Problem {
  if (error instanceof AppError) {
    const status = statusOf[error.code]
    return { status, title: titles[status], detail: error.message, fields: error.fields }
  }
  if (error instanceof Failure)
    return {
      status: 503,
      title: titles[503],
      detail: `${error.message} ${error.hint}`,
      code: error.code,
    }
  if (isDiskFull(error)) return problemOf(diskFull(error))
  if (error instanceof HTTPException && error.status in titles) {
    const status = error.status as Status
    return { status, title: titles[status], detail: error.message || titles[status] }
  }
  return {
    status: 500,
    title: titles[500],
    detail: 'Something went wrong inside Davit. Its log has the details under the request id.',
  }
}

const titles: Record<Status, string> = {
  400: 'Bad request',
  401: 'Not logged in',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  415: 'Unsupported body',
  422: 'Not accepted',
  429: 'Too many requests',
  500: 'Internal error',
  502: 'Bad gateway',
  503: 'Unavailable',
  504: 'Took too long',
}
