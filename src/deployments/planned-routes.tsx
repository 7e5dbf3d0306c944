import type { Context } from 'hono'
import { refuseUngiven } from '../accounts/token-scope.ts'
import { auditor } from '../audit/record.ts'
import { deletePlanned, getPlanned } from '../environments/planned-store.ts'
import type { Planned } from '../environments/planned-store.ts'
import { plannedJson, plannedPath } from '../environments/planned.tsx'
import { followedInWords } from '../environments/followed.ts'
import { environmentIn } from '../environments/own-environment.ts'
import { findEnvironment } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { environmentPath } from '../environments/paths.ts'
import { AppError } from '../platform/errors.ts'
import type { Config } from '../config.ts'
import { ownProject } from '../projects/own-project.ts'
import type { Project } from '../projects/store.ts'
import { ModalForm } from '../web/dialog.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { HiddenFields } from '../web/form.tsx'
import { input } from '../web/input.ts'
import { moveOn, show } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { userOf } from '../web/user-of.ts'
import { planDeployment } from './planned.ts'
import type { PlanDeps } from './planned.ts'
import { planForm } from './trigger-forms.ts'

const path = '/projects/:id/envs/:envId/planned'

/** The scope a token needs to deploy other code than the project's: the same as for changing the project. */
const toRepoint = { method: 'PUT', path: '/projects/:id' }

/** Other code would get the environment's secrets. */
export function refuseOtherCode(
  c: Context,
  project: Project,
  { repositoryUrl }: { repositoryUrl?: string | null | undefined },
) {
  const { token } = (c as Context<Env>).var
  if (token && repositoryUrl && repositoryUrl !== project.repositoryUrl)
    refuseUngiven(token, toRepoint)
}

export function planner(deps: PlanDeps) {
  const audit = auditor(deps.db)
  return function plan(
    c: Context,
    project: Project,
    asked: Parameters<typeof planDeployment>[1]['asked'],
  ) {
    const { token } = (c as Context<Env>).var
    const by = { trigger: token ? 'api' : 'manual', plannedBy: userOf(c).email } as const
    const planned = planDeployment(deps, { project, asked, ...by })
    const key = { id: planned.environmentId, projectId: project.id }
    const { name } = findEnvironment(deps.db, key)
    audit(c, 'deployment.planned', {
      object: { kind: 'environment', id: key.id, name: `${project.name} ${name}` },
      details: { at: planned.at.toISOString() },
    })
    const said = `A deployment to ${name} is planned.`
    const json = () => plannedJson(planned)
    const location = plannedPath(key)
    return moveOn(c, { to: environmentPath(key), location, created: true, said, json })
  }
}

/** The deployment that waits for its time. */
export const plannedRoutes = (deps: PlanDeps & { config: Config }) => {
  const { db, scheduler } = deps
  const audit = auditor(db)
  const plan = planner(deps)
  const form = planForm(deps.config)

  return factory
    .createApp()
    .get(path, (c) => show(c, ask(c, emptyDraft)))
    .post(path, ownProject(deps), input(form, ask), (c) => {
      const { project, environment } = environmentIn(deps, c)
      refuseOtherCode(c, project, c.var.input)
      return plan(c, project, { ...c.var.input, environmentId: environment.id })
    })
    .delete(path, ownProject(deps), (c) => {
      const { project, environment } = environmentIn(deps, c)
      if (!deletePlanned(db, environment.id))
        throw new AppError('conflict', `No deployment to ${environment.name} is planned.`)
      scheduler.wake()
      const name = `${project.name} ${environment.name}`
      audit(c, 'deployment.unplanned', {
        object: { kind: 'environment', id: environment.id, name },
      })
      const said = 'The planned deployment is cancelled.'
      return moveOn(c, { to: environmentPath(environment), said, json: () => ({}) })
    })

  function ask(c: Context, draft: Draft): View {
    const { project, environment } = environmentIn(deps, c)
    const planned = getPlanned(db, environment.id)
    return {
      title: `Deploy ${project.name} ${environment.name} later`,
      page: () => <PlanDialog {...{ project, environment, planned, form, draft }} />,
      json: () => ({ planned: planned && plannedJson(planned) }),
    }
  }
}

type DialogProps = {
  project: Project
  environment: Environment
  planned: Planned | null
  form: ReturnType<typeof planForm>
  draft: Draft
}

const PlanDialog = ({ project, environment, planned, form, draft }: DialogProps) => {
  const ref = planned?.version.tag ? 'tag' : 'branch'
  const stored = planned && {
    at: planned.at.toISOString().slice(0, 16),
    zone: 'UTC',
  }
  const { repositoryUrl, noCache } = planned?.version ?? {}
  const kept = [
    ...(repositoryUrl ? [{ name: 'repository_url', value: repositoryUrl }] : []),
    ...(noCache ? [{ name: 'no_cache', value: '1' }] : []),
  ]
  return (
    <ModalForm
      title={
        <>
          Deploy <bdi>{environment.name}</bdi> later
        </>
      }
      from={{ href: environmentPath(environment), name: environment.name }}
      action={plannedPath(environment)}
      draft={draft}
      submit={planned ? 'Change time' : 'Plan deployment'}
    >
      <HiddenFields fields={kept} />
      <SchemaFields
        schema={form}
        names={['at', 'zone', ...(project.image === null ? [ref, 'commit'] : ['image'])]}
        values={{ ...planned?.version, ...stored }}
        more={{
          [ref]: {
            placeholder: followedInWords({ environment, project }),
            hint: 'Its newest commit at that time is deployed.',
          },
          commit: { placeholder: 'newest at that time' },
          image: { placeholder: project.image ?? '', hint: 'It is pulled at that time.' },
        }}
      />
      <p class="muted">
        Pushes are deployed until then as usual. An environment has one planned deployment at most:
        a new one replaces it.
      </p>
    </ModalForm>
  )
}
