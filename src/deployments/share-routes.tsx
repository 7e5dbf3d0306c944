import type { Context } from 'hono'
import type { z } from 'zod'
import { auditor } from '../audit/record.ts'
import { hasShare } from '../db/watch-schema.ts'
import { getFreeze } from '../environments/freeze-store.ts'
import { followedInWords } from '../environments/followed.ts'
import { findOwnEnvironment } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { environmentPath } from '../environments/paths.ts'
import { AppError } from '../platform/errors.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { findProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { ModalForm } from '../web/dialog.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { TextField } from '../web/fields-view.tsx'
import { moveOn, show } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { userOf } from '../web/user-of.ts'
import { askingForNote, checkFreeze, passedIn } from './freeze-dialog.tsx'
import { deploymentJson } from './json.ts'
import { refuseShare } from './share.ts'
import { shareForm } from './share-fields.ts'
import { freezeNoteForm } from './trigger-forms.ts'
import { findDeployment } from './store.ts'
import type { Deployment } from './store.ts'
import { met } from './waiting-store.ts'
import { isTakenBack } from './watch/store.ts'
import { withCurrentWatch, withMaskedWatch } from './watch/view.ts'
import type { ViewDeps } from './watch/view.ts'
import type { Watches } from './watch/watches.ts'

/** The dialog that deploys to a share of the requests, and what ends a share or a watch. */
export const shareRoutes = (deps: ShareDeps & ViewDeps & { watches: Watches }) => {
  const { db, watches } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/projects/:id/envs/:envId/share', (c) =>
      show(c, askShare(c, deps, { environmentId: c.req.param('envId'), draft: emptyDraft })),
    )
    .post(
      '/projects/:id/deployments/:deploymentId/promote',
      ownProject(deps),
      input(freezeNoteForm),
      (c) => {
        const sent = c.var.input
        return askingForNote(c, { action: c.req.path, sent }, () => promote(c, sent))
      },
    )
    .post('/projects/:id/deployments/:deploymentId/keep', async (c) => {
      const { deployment, object, now } = own(c)
      if (hasShare(deployment))
        throw new AppError('conflict', 'It has a share of the requests: promote or cancel it.')
      if (!(await watches.end(deployment, 'kept', userOf(c).email)))
        throw new AppError('conflict', 'This deployment isn’t watched any more.')
      audit(c, 'deployment.kept', { object })
      const said = `Deployment #${deployment.number} stays.`
      const kept = await withMaskedWatch(deps, now())
      return moveOn(c, { to: deploymentPath(deployment), said, json: () => deploymentJson(kept) })
    })

  async function promote(c: Context, { note }: z.output<typeof freezeNoteForm>) {
    const { project, deployment, object, ...of } = own(c)
    if (!hasShare(deployment))
      throw new AppError('conflict', 'This deployment has no share of the requests.')
    const { environmentId } = deployment
    refuseStopped(deployment)
    checkFreeze(c, db, { project, environmentId, note })
    const found = getFreeze(db, environmentId)
    const freeze = found && met(found, note)
    await watches.promote(deployment, userOf(c).email, freeze)
    const now = of.now()
    if (hasShare(now)) refuseStopped(now)
    if (hasShare(now) || isTakenBack(now.watch!))
      throw new AppError('conflict', 'All requests have just gone back to the version before.')
    audit(c, 'deployment.share_promoted', { object, details: passedIn({ freeze }) })
    const said = `Deployment #${deployment.number} gets all requests.`
    const promoted = await withCurrentWatch(deps, now)
    return moveOn(c, { to: deploymentPath(deployment), said, json: () => deploymentJson(promoted) })
  }

  function own(c: Context) {
    const project = findProject(db, ownKey(c))
    const { id: projectId, name } = project
    const now = () => findDeployment(db, { id: c.req.param('deploymentId')!, projectId })
    const deployment = now()
    return {
      project,
      deployment,
      now,
      object: { kind: 'deployment' as const, id: deployment.id, name },
    }
  }
}

/** Requests would reach no one. */
function refuseStopped({ status }: Pick<Deployment, 'status'>) {
  if (status !== 'stopped') return
  throw new AppError(
    'conflict',
    'The containers of this deployment are stopped, so it can’t get all requests. Start them on their page, or take it back.',
  )
}

type ShareDeps = Parameters<typeof refuseShare>[0]

/** The dialog, with what was wrong in it. */
export function askShare(
  c: Context,
  deps: ShareDeps,
  { environmentId, draft }: { environmentId: string; draft: Draft },
): View {
  const { id: projectId, ownerId } = ownKey(c)
  const key = { id: environmentId, projectId, ownerId }
  const { project, environment } = findOwnEnvironment(deps.db, key)
  const refused = whyRefused(deps, { project, environmentId })
  const shown = { ...draft, message: draft.message ?? refused }
  return {
    title: `Deploy ${project.name} ${environment.name} to a share`,
    page: () => <ShareDialog {...{ project, environment, draft: shown }} />,
    json: () => ({ refused }),
  }
}

function whyRefused(deps: ShareDeps, of: { project: Project; environmentId: string }) {
  try {
    refuseShare(deps, { ...of, strategy: 'share' })
    return null
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const [field] = error.fields
    return field ? `A share of the requests ${field.message}` : error.message
  }
}

type Props = { project: Project; environment: Environment; draft: Draft }

const ShareDialog = ({ project, environment, draft }: Props) => (
  <ModalForm
    title={
      <>
        Deploy <bdi>{environment.name}</bdi> to a share of the requests
      </>
    }
    from={{ href: environmentPath(environment), name: environment.name }}
    action={`/projects/${project.id}/deployments`}
    draft={draft}
    submit="Deploy"
  >
    <input type="hidden" name="environment_id" value={environment.id} />
    <input type="hidden" name="strategy" value="share" />
    <SchemaFields schema={shareForm} values={{ percent: 10 }} />
    {project.image === null && (
      <TextField
        name="branch"
        label="Branch or tag"
        placeholder={followedInWords({ environment, project })}
        hint="Its newest commit is deployed."
        code
      />
    )}
    <p class="muted">
      The other requests reach the version that runs now. The new version is watched, and taken back
      after 24 hours unless you give it all requests.
    </p>
  </ModalForm>
)
