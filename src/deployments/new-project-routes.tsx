import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import { asWriter } from '../db/queries.ts'
import type { Docker } from '../docker/index.ts'
import { listSources } from '../git/store.ts'
import type { Secrets } from '../platform/secrets.ts'
import { createProject } from '../projects/save.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { newProjectQuery, projectForm } from '../projects/forms.ts'
import { projectJson } from '../projects/json.ts'
import { aboutProject } from '../projects/own-project.ts'
import { NewProjectPage } from '../projects/new-project-page.tsx'
import { shownHook } from '../projects/registry-hook.ts'
import { nameOf, nameOfImage, usesDeployKey } from '../projects/repository-choice.ts'
import { chooseFrom } from '../projects/repository-fields.tsx'
import { findProject, listSiblings } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { fieldsOf } from '../web/form-fields.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { enqueue } from './trigger.ts'
import type { TriggerDeps } from './trigger.ts'
import { publishSuperseded } from './waiting-store.ts'
import type { Queued } from './waiting-store.ts'

/** Derives an empty name in the form from the repository or the image. API clients must send a name. */
const named = factory.createMiddleware(async function fillInName(c, next) {
  const fields = clientOf(c) === 'program' ? null : await fieldsOf(c)
  const text = (name: string) => String(fields?.get(name)?.at(-1) ?? '')
  const directory = text('context_dir').replace(/^\.?\/*$/, '')
  const address = directory || text('repository') || text('repository_url')
  const named = address ? nameOf(address) : nameOfImage(text('image'))
  if (text('name') === '' && named) fields?.set('name', [named])
  await next()
})

type NewProjectDeps = TriggerDeps & {
  config: Config
  secrets: Secrets
  docker: Pick<Docker, 'remote'>
}

/** Creates a project and, if requested, its first deployment. */
export const newProjectRoutes = (deps: NewProjectDeps) => {
  const { db, config } = deps
  const audit = auditor(db)
  const newInput = input(projectForm(config), newProject)

  return factory
    .createApp()
    .get('/projects/new', query(newProjectQuery), (c) => {
      const {
        like,
        contextDir: context_dir = '',
        watchPaths: watch_paths = '',
      } = c.req.valid('query')
      const other = like === undefined ? null : findProject(db, { id: like, ownerId: userOf(c).id })
      const values = { ...(other && commonOf(other)), context_dir, watch_paths }
      return show(c, newProject(c, { ...emptyDraft, values }))
    })
    .post('/projects', named, newInput, (c) => {
      const isShown = clientOf(c) === 'program'
      const wanted = { ownerId: userOf(c).id, input: c.var.input, isShown }
      const { project, webhookSecret, queued } = create(c, wanted)
      audit(c, 'project.created', aboutProject(project))
      if (queued) begin(c, project, queued)
      return moveOn(c, {
        to: nextPlace(project, queued),
        created: true,
        location: `/projects/${project.id}`,
        said: 'Project created.',
        json: () => ({
          ...projectJson(project),
          webhookSecret,
          ...shownHook(c, deps, { project, secret: webhookSecret }),
        }),
      })
    })

  /** Both or none: a project whose first deployment is refused would be created again. */
  function create(c: Context, wanted: Parameters<typeof createProject>[1]) {
    const trigger = (c as Context<Env>).var.token ? 'api' : 'manual'
    return asWriter(db, () => {
      const made = createProject(deps, wanted)
      const { project } = made
      const asked = { project, trigger, triggeredBy: userOf(c).email, isAsked: true } as const
      const isDeployed = wanted.input.deploy && !hasNewKey(project)
      return { ...made, queued: isDeployed ? enqueue(db, asked) : null }
    })
  }

  function begin(c: Context, { name }: Project, queued: Queued) {
    publishSuperseded(deps, queued)
    deps.jobs.wake()
    audit(c, 'deployment.triggered', {
      object: { kind: 'deployment', id: queued.deployment.id, name },
    })
  }

  /** It must be added to the repository before a clone can succeed. */
  function hasNewKey(project: Project) {
    const isSame = (other: Project) => other.deployKeyPublic === project.deployKeyPublic
    return usesDeployKey(project) && !listSiblings(db, project).some(isSame)
  }

  /** A new deploy key is shown first. */
  function nextPlace(project: Project, queued: Queued | null) {
    if (hasNewKey(project)) return `/projects/${project.id}/settings#deploy-key`
    return queued ? deploymentPath(queued.deployment) : `/projects/${project.id}`
  }

  function newProject(c: Context, draft: Draft) {
    const sources = listSources(db, userOf(c).id)
    const from = chooseFrom(c.req.query('from'), { draft, sources })
    return {
      title: 'New project',
      page: () => <NewProjectPage from={from} draft={draft} sources={sources} />,
    }
  }
}

/** As the form has it, for another app of the same repository. */
const commonOf = ({ repositoryUrl, sourceId, repository, branch }: Project) => ({
  ...(sourceId !== null && repository !== null
    ? { source_id: sourceId, repository }
    : { repository_url: repositoryUrl }),
  branch: branch ?? '',
})
