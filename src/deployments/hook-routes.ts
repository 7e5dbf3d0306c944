import type { Context } from 'hono'
import type { z } from 'zod'
import { auditor } from '../audit/record.ts'
import type { Docker } from '../docker/index.ts'
import { LogBatch } from '../logs/log-batch.ts'
import { AppError } from '../platform/errors.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { findProject } from '../projects/store.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { moveOn } from '../web/respond.tsx'
import { laterJson } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { ownFirst, userOf } from '../web/user-of.ts'
import { deploymentJson } from './json.ts'
import { getJob, getUnendedOf, isEnded } from './store.ts'
import type { Deployment } from './store.ts'
import { refuseFrozen, refuseWithoutRoom, triggerDeployment } from './trigger.ts'
import { hookForm } from './trigger-forms.ts'
import type { TriggerDeps } from './trigger.ts'

/** Deploys for a pipeline, with a token that reaches only one project. */
export function hookRoutes(deps: TriggerDeps & { docker: Docker; streams: Streams }) {
  const { db, logs, streams } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .post('/hooks/deploy', ownFirst(projectOf), input(hookForm), async (c) => {
      const { environmentId, commit, image, wait } = c.var.input
      const project = projectOf(c)
      await refuseWithoutRoom(deps, { project, environmentId })
      if (wait) streams.refuseMore(userOf(c).id)
      const joined = getUnendedOf(db, { environmentId, commit, image })
      const deployment = joined ?? start(c, { environmentId, commit, image })
      const to = deploymentPath(deployment)
      if (!wait) return moveOn(c, { to, created: !joined, json: () => deploymentJson(deployment) })
      c.header('Location', to)
      const status = joined ? 200 : 201
      const now = () => deploymentJson(stateOf(deployment))
      const later = async (signal: AbortSignal) => {
        await ended(deployment, signal)
        return now()
      }
      return laterJson(c, { streams, status, later, now })
    })

  function projectOf(c: Context) {
    const { token } = (c as Context<Env>).var
    if (token?.projectId) return findProject(db, { id: token.projectId, ownerId: userOf(c).id })
    throw new AppError(
      'forbidden',
      'Only an API token that is limited to a project can deploy here. Create one under Settings, Tokens.',
    )
  }

  function start(c: Context, asked: Omit<z.output<typeof hookForm>, 'wait'>) {
    const project = projectOf(c)
    refuseFrozen(db, { project, environmentId: asked.environmentId }, false)
    const triggeredBy = userOf(c).email
    const deployment = triggerDeployment(deps, { ...asked, project, trigger: 'api', triggeredBy })
    audit(c, 'deployment.triggered', {
      object: { kind: 'deployment', id: deployment.id, name: project.name },
      details: { token: (c as Context<Env>).var.token!.name },
    })
    return deployment
  }

  async function ended(deployment: Deployment, signal: AbortSignal) {
    for await (const event of logs.follow(deployment.id, signal))
      if (!(event instanceof LogBatch) && isEnded(stateOf(deployment).status)) return
  }

  /** With its project its row is deleted; then it counts as cancelled. */
  function stateOf(deployment: Deployment): Deployment {
    return getJob(db, deployment.id)?.deployment ?? { ...deployment, status: 'cancelled' }
  }
}
