import type { z } from 'zod'
import { AppError, conflictField, invalidField } from '../platform/errors.ts'
import { showsSecret } from '../web/compress.ts'
import { textFile } from '../web/text-file.ts'
import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { showLookup } from '../git/lookup-views.tsx'
import { listSources } from '../git/store.ts'
import { randomToken } from '../platform/secrets.ts'
import { isTag } from '../registries/tag-pattern.ts'
import { refuseWithoutEngine, volumesOf } from '../runtime/remove.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { activitySorts, listed, listingOf, sortedBy } from '../web/listing.tsx'
import { pageOf, paged } from '../web/paging.ts'
import { bodyOrQuery, query } from '../web/query.ts'
import { show, showSaved } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import {
  detectionQuery,
  placeQuery,
  projectUpdateForm,
  removalForm,
  watchedFilesQuery,
  whyNotWatched,
} from './forms.ts'
import { buildForm } from './build-form.ts'
import { whereSet } from './davit-file.ts'
import { DetectionForm, detectProject } from './detection.tsx'
import type { FindStack } from './detection.tsx'
import { DetectionView } from './detection-view.tsx'
import { projectJson } from './json.ts'
import { aboutProject, ownKey, ownProject } from './own-project.ts'
import { ProjectFrame } from './project-frame.tsx'
import { answerRemoval, RemovalModal } from './removal.tsx'
import { shownHook } from './registry-hook.ts'
import { removeProject } from './remove.ts'
import type { RemovalDeps } from './remove.ts'
import { whyUnreadable } from './repository-choice.ts'
import { chooseFrom } from './repository-fields.tsx'
import { changeProject } from './save.ts'
import { BuildForm, ProjectForm, ProjectSettings } from './settings-page.tsx'
import {
  findLiveProject,
  findProject,
  listDeployedProjects,
  listProjects,
  listTargets,
  previewIds,
  sharedCode,
  updateProject,
} from './store.ts'
import type { Project } from './store.ts'
import { activityOf, ProjectsPage, textOf } from './views.tsx'
import { findWatched, WatchedFilesList } from './watched-files.tsx'
import { webhookRoutes } from './webhook-routes.tsx'
import { setWebhookSecret } from './webhook.ts'

const ofPreviews =
  'Their data is lost. Otherwise the volumes stay where they are, but for those of previews.'

const savedWithoutHook =
  'Project saved. Pushes still deploy by its webhook. Without a git source, remove that at the provider when you delete the project.'

/** Projects, their settings and deletion. The deployments slice creates them and shows their deployments. */
export const projectRoutes = (deps: RemovalDeps, findStack: FindStack) => {
  const { db, config } = deps
  const audit = auditor(db)
  const projectInput = input(projectUpdateForm(config), (c, draft) =>
    settings(c, draft, ProjectForm),
  )
  const buildInput = input(buildForm, (c, draft) =>
    settings(c, draft, isDetection(draft.values) ? DetectionForm : BuildForm),
  )

  return factory
    .createApp()
    .get('/projects', paged(), (c) => {
      const ownerId = userOf(c).id
      return show(c, {
        title: 'Projects',
        live: {},
        page: () => {
          const listing = listingOf(c, activitySorts)
          const all = sortedBy(listDeployedProjects(db, ownerId), listing.sort, activityOf)
          return <ProjectsPage listing={listing} list={listed(all, listing, textOf)} />
        },
        json: () => {
          const page = c.req.valid('query')
          const list = pageOf(listProjects(db, { ownerId, ...page }), page)
          return { ...list, items: list.items.map(projectJson) }
        },
      })
    })
    .put('/projects/:id', ownProject(deps), projectInput, async (c) => {
      const asked = { project: findLiveProject(db, ownKey(c)), input: c.var.input }
      const { project, leavesWebhook } = await changeProject(deps, asked)
      if (!isEmpty(c.var.input)) audit(c, 'project.changed', aboutProject(project))
      const to = `/projects/${project.id}/settings`
      const said = leavesWebhook ? savedWithoutHook : 'Project saved.'
      return showSaved(c, { to, said, ...settings(c, emptyDraft, ProjectForm) })
    })
    .get('/projects/:id/settings', query(placeQuery), (c) => {
      const { contextDir, watchPaths } = c.req.valid('query')
      const values = {
        ...(contextDir !== undefined && { context_dir: contextDir }),
        ...(watchPaths !== undefined && { watch_paths: watchPaths }),
      }
      return show(c, settings(c, { ...emptyDraft, values }))
    })
    .put('/projects/:id/settings', ownProject(deps), buildInput, async (c) => {
      const current = findLiveProject(db, ownKey(c))
      const { id } = current
      const { webhookSecret, ...changes } = c.var.input
      refuseShared(current, changes)
      if (changes.checkTag && !(current.image && isTag(current.image)))
        throw invalidField('checkTag', onlyTags)
      refuseUnfit(current, changes)
      // Null requests a new secret.
      const newSecret = webhookSecret === null ? randomToken() : webhookSecret
      if (newSecret) {
        const { signal } = c.req.raw
        await setWebhookSecret(deps, { project: current, secret: newSecret, signal })
      }
      const project = updateProject(db, id, changes)
      if (!isEmpty(c.var.input)) audit(c, 'project.changed', aboutProject(project))
      if (newSecret) {
        audit(c, 'webhook.secret_changed', aboutProject(project))
        showsSecret(c)
      }
      return showSaved(c, {
        to: `/projects/${project.id}/settings`,
        said: 'Build settings saved.',
        ...settings(c, emptyDraft, changes.buildSettings === undefined ? BuildForm : DetectionForm),
        json: () => ({
          ...projectJson(project),
          ...(newSecret && {
            webhookSecret: newSecret,
            ...shownHook(c, deps, { project, secret: newSecret }),
          }),
        }),
      })
    })
    .get('/projects/:id/watched-files', query(watchedFilesQuery), async (c) => {
      const project = findProject(db, ownKey(c))
      const patterns = c.req.valid('query').watchPaths ?? []
      const { signal } = c.req.raw
      const watched = await findWatched(deps, { project, patterns, signal })
      const view = () => <WatchedFilesList {...watched} />
      const onPage = () =>
        patterns.length > 0 ? view() : <p>No paths are given: every push deploys.</p>
      const crumbs = [settingsOf(project)]
      return showLookup(c, 'Watched files', { view, onPage, crumbs, json: () => watched })
    })
    .get('/projects/:id/detection', query(detectionQuery), async (c) => {
      const project = findProject(db, ownKey(c))
      const { signal } = c.req.raw
      const found = await detectProject({ ...deps, findStack }, { project, signal })
      if (c.req.valid('query').format === 'dockerfile') {
        if (found.dockerfile === null)
          throw new AppError('conflict', found.problem?.message ?? 'It isn’t built as one image.')
        return textFile(c, { name: 'Dockerfile', pieces: [found.dockerfile].values() })
      }
      const view = () => <DetectionView {...{ project, found }} />
      const crumbs = [settingsOf(project)]
      return showLookup(c, 'What the repository is', { view, crumbs, json: () => found })
    })
    .get('/projects/:id/delete', async (c) => {
      const { id, name } = findProject(db, ownKey(c))
      const volumes = await volumesOf(deps, { projectId: id })
      return show(c, {
        title: `Delete ${name}`,
        page: () => (
          <RemovalModal
            {...{ of: 'project', id, name, volumes, typed: true }}
            {...(previewIds(db, id).size > 0 && { volumesHint: ofPreviews })}
          >
            <p>
              Its containers, their images, its network, its mirror of the repository, its
              deployments and their logs are deleted. This can’t be undone. Backups stay, under{' '}
              <a href="/backups">All backups</a>.
            </p>
          </RemovalModal>
        ),
        json: () => ({ volumes }),
      })
    })
    .delete('/projects/:id', ownProject(deps), bodyOrQuery(removalForm), async (c) => {
      await refuseWithoutEngine(deps, { projectId: findProject(db, ownKey(c)).id })
      const project = findProject(db, ownKey(c)) // it may be someone else's by now
      const { id, name } = project
      const volumes = c.var.input.volumes ?? project.deletingVolumes
      db.transaction(() => {
        const deletingAt = project.deletingAt ?? new Date()
        updateProject(db, id, { deletingAt, deletingVolumes: volumes })
        audit(c, 'project.deleted', aboutProject(project))
      })
      const work = removeProject(deps, { project, volumes })
      return answerRemoval(c, work, {
        of: 'project',
        id,
        name,
        acceptTimeout: config.acceptTimeout,
      })
    })
    .route('/', webhookRoutes(deps))

  function refuseShared(project: Project, changes: z.output<typeof buildForm>) {
    const code = sharedCode(db, project.id)
    if (code?.settings.build && changes.buildSettings !== undefined)
      throw conflictField('buildSettings', whereSet(code))
    const { watchPaths = project.watchPaths } = changes
    if (code?.settings.watchPaths && !Bun.deepEquals(watchPaths ?? [], project.watchPaths))
      throw conflictField('watchPaths', whereSet(code))
  }

  /** A Compose file is of a repository, and the service with the addresses is of a Compose file. */
  function refuseUnfit(project: Project, changes: z.output<typeof buildForm>) {
    const { composeFile = project.composeFile, composeService } = changes
    for (const field of ['composeFile', 'composeService'] as const)
      if (changes[field] && project.image !== null)
        throw invalidField(field, 'can’t be set: this project deploys an image.')
    if (composeService && !composeFile)
      throw invalidField('composeService', 'is a service of a Compose file. Set that too.')
  }

  /** All of them; where htmx asks, only the form that was sent. */
  function settings(c: Context, draft: Draft, Form?: typeof ProjectSettings) {
    const project = findProject(db, ownKey(c))
    const sources = listSources(db, project.ownerId)
    const from = chooseFrom(c.req.query('from'), { draft, sources, project })
    const code = sharedCode(db, project.id)
    const shown = { project, code, draft: withStored(draft, project), sources, from }
    return {
      title: `${project.name}: settings`,
      page: () => (
        <ProjectFrame project={project} tab="settings" environments={listTargets(db, project.id)}>
          <ProjectSettings {...shown} />
        </ProjectFrame>
      ),
      ...(Form && { partial: () => <Form {...shown} /> }),
      json: () => projectJson(project),
    }
  }
}

/** A stored value that is invalid by today's rules is shown as a field error, where it can be fixed. */
function withStored(draft: Draft, project: Project): Draft {
  const errors = { ...draft.errors }
  const note = (name: string, refusal: string | null) => {
    if (refusal !== null && !(name in draft.values)) errors[name] = refusal
  }
  note('repository_url', whyUnreadable(project))
  note('watch_paths', project.watchPaths.map(whyNotWatched).find(Boolean) ?? null)
  return { ...draft, errors }
}

const onlyTags =
  'is for an image with a tag: a pattern is always checked, and a digest never changes.'

const settingsOf = ({ id, name }: Project) => ({ href: `/projects/${id}/settings`, name })

const isDetection = (values: Draft['values']) =>
  Object.keys(values).some((name) => name.startsWith('build_settings.'))

const isEmpty = (input: object) => Object.keys(input).length === 0
