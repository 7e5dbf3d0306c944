import type { Context } from 'hono'
import { journal } from '../platform/journal.ts'
import { askAgain } from './ask-first.tsx'
import { clientOf } from './client.ts'
import type { Env } from './factory.ts'
import { loggedPath } from './request-log.ts'
import { answerJson, problem, problemOf, sayWhen } from './problem.ts'
import type { Problem } from './problem.ts'
import { show } from './respond.tsx'
import { ButtonLink } from './form.tsx'

/** The only place where an error becomes a response: a page, a fragment, or problem+json (RFC 9457). */
export function answerError(error: Error, c: Context<Env>) {
  const told = problemOf(error)
  if (told.isLogged)
    journal.error('unexpected error', error, { requestId: c.var.requestId, path: loggedPath(c) })
  const isStale = error === c.var.refusal && clientOf(c) === 'browser'
  return isStale ? askAgain(c, told.status) : answerProblem(c, told)
}

export const answerNotFound = (c: Context<Env>) =>
  answerProblem(c, problem(404, 'There is nothing at this address.'))

export function answerMethodNotAllowed(c: Context<Env>, methods: readonly string[]) {
  c.header('Allow', methods.join(', '))
  return answerProblem(c, problem(405, `This address only accepts ${methods.join(', ')}.`))
}

async function answerProblem(c: Context<Env>, told: Problem) {
  const { status, title, detail } = told
  const client = clientOf(c)
  if (client === 'program') return answerJson(c, told)
  sayWhen(c, told)
  if (client === 'partial') return c.html(<ErrorAlert title={title} detail={detail} />, status)
  const page = () => (
    <ErrorPage status={status} title={title} detail={detail} requestId={c.var.requestId} />
  )
  return show(c, { title, page }, status)
}

/** A refusal as a fragment, shown next to the action. */
export const ErrorAlert = ({ title, detail }: { title: string; detail: string }) => (
  <div class="alert" data-variant="destructive" role="alert">
    <h2>{title}</h2>
    <section>{detail}</section>
  </div>
)

const ErrorPage = ({
  status,
  title,
  detail,
  requestId,
}: {
  status: number
  title: string
  detail: string
  requestId: string
}) => (
  <div class="error-page">
    <p class="error-status">{status}</p>
    <h1>{title}</h1>
    <p>{detail}</p>
    <p class="muted">
      Request <code>{requestId}</code>
    </p>
    <p>
      <ButtonLink variant="outline" href="/">
        Back to the start
      </ButtonLink>
    </p>
  </div>
)
