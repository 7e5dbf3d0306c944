import type { Context } from 'hono'
import type { z } from 'zod'
import { auditor } from '../audit/record.ts'
import { environmentIn, liveEnvironmentIn } from '../environments/own-environment.ts'
import type { Environment } from '../environments/store.ts'
import { environmentPath, promotePath } from '../environments/paths.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { ownProject } from '../projects/own-project.ts'
import { AppError } from '../platform/errors.ts'
import { InfoModal, ModalForm } from '../web/dialog.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { Versions } from './difference-view.tsx'
import { askingForNote, checkFreeze, passedIn } from './freeze-dialog.tsx'
import { deploymentJson } from './json.ts'
import type { PreviewDeps } from './preview.ts'
import { findPromotable, previewPromotion, promoteForm, whyNoPromotion } from './promote.ts'
import type { PromotionPreview } from './promote.ts'
import { whyNoImage } from './preview.ts'
import type { Deployment } from './store.ts'
import { refuseWithoutRoom, triggerDeployment } from './trigger.ts'
import type { TriggerDeps } from './trigger.ts'

const path = '/projects/:id/envs/:envId/promote'

/** An environment gets the version of the one that it is promoted from. */
export const promoteRoutes = (deps: TriggerDeps & PreviewDeps) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(path, query(promoteForm.partial()), (c) =>
      ask(c, emptyDraft, c.req.valid('query').deploymentId),
    )
    .post(path, ownProject(deps), input(promoteForm), (c) => {
      const sent = c.var.input
      return askingForNote(c, { action: c.req.path, sent }, () => start(c, sent))
    })

  async function start(c: Context, { deploymentId, note }: z.output<typeof promoteForm>) {
    const target = liveEnvironmentIn(deps, c)
    const { project, environment } = target
    const { from, source } = findPromotable(db, target, deploymentId)
    checkFreeze(c, db, { project, environmentId: environment.id, note })
    await refuseWithoutRoom(deps, { project, environmentId: environment.id })
    const gone = whyNoPromotion(source) ?? (await whyNoImage(deps, source))
    if (gone) throw new AppError('conflict', gone)
    const deployment = triggerDeployment(deps, {
      ...{ project, environmentId: environment.id, imageOf: source, note },
      ...{ trigger: 'promotion', triggeredBy: userOf(c).email },
    })
    audit(c, 'deployment.promoted', {
      object: { kind: 'deployment', id: deployment.id, name: project.name },
      details: {
        ...{ from: `${from.name} #${source.number}`, to: environment.name },
        ...passedIn(deployment),
      },
    })
    return moveOn(c, {
      to: deploymentPath(deployment),
      created: true,
      said: `Deployment #${deployment.number} queued.`,
      json: () => deploymentJson(deployment),
    })
  }

  async function ask(c: Context, draft: Draft, deploymentId: string | null | undefined) {
    const target = environmentIn(deps, c)
    const { project, environment } = target
    const { from, source } = findPromotable(db, target, deploymentId)
    const preview = await previewPromotion(deps, { ...target, source })
    return show(c, {
      title: `Promote to ${project.name} ${environment.name}`,
      page: () => <PromoteDialog {...{ environment, from, source, preview, draft }} />,
      json: () => preview,
    })
  }
}

type DialogProps = {
  environment: Environment
  from: Environment
  source: Deployment
  preview: PromotionPreview
  draft: Draft
}

const PromoteDialog = ({ environment, from, source, preview, draft }: DialogProps) => {
  const title = (
    <>
      Promote <bdi>{from.name}</bdi> #{source.number} to <bdi>{environment.name}</bdi>
    </>
  )
  const page = { href: environmentPath(environment), name: environment.name }
  if (preview.refused)
    return (
      <InfoModal title={title} from={page}>
        <p>{preview.refused}</p>
      </InfoModal>
    )
  const { builtWithout, releaseCommand, interruption } = preview
  return (
    <ModalForm
      title={title}
      from={page}
      action={promotePath(environment)}
      submit="Promote"
      draft={draft}
      wide
    >
      <input type="hidden" name="deployment_id" value={source.id} />
      <Versions
        {...preview}
        target={source}
        names={{ target: 'Promotes', back: 'Reverts', forward: 'Brings' }}
      >
        the one of {from.name}, so there is no build
      </Versions>
      {builtWithout === null && (
        <p class="note">Which variables its image was built with is unknown.</p>
      )}
      {builtWithout && builtWithout.length > 0 && (
        <p class="note">
          Its image was built with the variables of {from.name}, of which{' '}
          {builtWithout.map((key, at) => (
            <>
              {at > 0 && ', '}
              <code>{key}</code>
            </>
          ))}{' '}
          {builtWithout.length === 1 ? 'differs' : 'differ'} here. What the build made of them stays
          as it is.
        </p>
      )}
      <p class="muted">
        It runs with the variables, processes, limits and volumes of {environment.name}.
        {releaseCommand && (
          <>
            {' '}
            Its release command runs first: <code>{releaseCommand}</code>. If it fails, the live
            version stays.
          </>
        )}
        {interruption &&
          ` The live version stops first, because both use the same ${interruption}.`}
      </p>
    </ModalForm>
  )
}
