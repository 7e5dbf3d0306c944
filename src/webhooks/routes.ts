import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Config } from '../config.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { deploymentJson } from '../deployments/json.ts'
import { AppError } from '../platform/errors.ts'
import { journal } from '../platform/journal.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { answerJson, problemOf } from '../web/problem.ts'
import { ownHost } from '../web/own-host.ts'
import { rateLimit } from '../web/rate-limit.ts'
import { BodyReader } from './body.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { Provider } from './provider.ts'
import { receive } from './receive.ts'
import type { Outcome } from './receive.ts'
import { noticeIn, receiveNotice, receiverOf } from './registry-hook.ts'
import type { HookDeps } from './registry-hook.ts'

/** In milliseconds, between the response and the start of its deployments. */
const wakeDelay = 10

type RouteDeps = HookDeps & { config: Config; jobs: Jobs }

/**
 * Providers post to these. They use neither cookies nor logins, accept larger bodies than other routes, and
 * have their own rate limit, so that a burst of pushes doesn't block people, or the reverse.
 */
export const webhookRoutes = (deps: RouteDeps, { now = Date.now }: { now?: () => number } = {}) => {
  const { rateLimit: rate, rateBurst: burst, requestTimeout } = deps.config
  const bodies = new BodyReader()
  const host = ownHost(deps.config)
  const limit = rateLimit({ rate, burst })
  let waking: ReturnType<typeof setTimeout> | undefined

  return factory
    .createApp()
    .use('/webhooks/*', host, limit)
    .use('/hooks/registry/*', host, limit)
    .post('/webhooks/github', (c) => answer(c, github))
    .post('/webhooks/gitlab', (c) => answer(c, gitlab))
    .post('/webhooks/gitea', (c) => answer(c, gitea))
    .post('/hooks/registry/:secret', async (c) => {
      const signal = AbortSignal.timeout(requestTimeout * 1000)
      const receiver = receiverOf(deps, c.req.param('secret'))
      const notice = await bodies.read(c, { signal }, (body) => noticeIn(body, mediaTypeOf(c)))
      return told(c, await receiveNotice(deps, { receiver, notice, now: now(), signal }))
    })
    .onError(answerRefusal)

  async function answer(c: Context<Env>, provider: Provider) {
    const mediaType = mediaTypeOf(c)
    if (!provider.mediaTypes.includes(mediaType))
      throw new HTTPException(415, { message: `Send ${provider.mediaTypes.join(' or ')}.` })
    const { headers } = c.req.raw
    const signal = AbortSignal.timeout(requestTimeout * 1000)
    const outcome = await bodies.read(c, { signal }, (body) => {
      const received = { headers, body, now: now() }
      return receive(deps, provider, { received, mediaType })
    })
    if (outcome.deployments.length > 0) wakeSoon()
    return told(c, outcome)
  }

  /** Wakes the queue after the response, and once for a burst of deliveries. */
  function wakeSoon() {
    waking ??= setTimeout(() => {
      waking = undefined
      deps.jobs.wake()
      deps.checks.wake()
    }, wakeDelay)
  }
}

const told = (c: Context, { deployments, reason, ignored }: Outcome) =>
  deployments.length > 0
    ? c.json({ deployments: deployments.map(deploymentJson) }, 202)
    : c.json({ deployments: [], reason, ignored })

const mediaTypeOf = (c: Context) =>
  c.req.header('Content-Type')?.split(';')[0]!.trim().toLowerCase() ?? ''

/** Senders get problem+json, whatever they accept. It is identical for everything unsigned. */
function answerRefusal(error: Error, c: Context<Env>) {
  const told = problemOf(error)
  if (told.status >= 500 && !(error instanceof AppError))
    journal.error('a webhook was not received', error, { requestId: c.var.requestId })
  return answerJson(c, told)
}
