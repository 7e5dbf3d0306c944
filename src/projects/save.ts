import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import type { Docker } from '../docker/index.ts'
import { invalidField } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import { randomToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { projectForm, projectUpdateForm } from './forms.ts'
import { freeLabel, renameLabels } from '../addresses/labels.ts'
import { freeHostPort } from '../addresses/host-ports.ts'
import { placesOf } from '../addresses/places.ts'
import { tryHandOver, tryRemoveWebhook } from './remove.ts'
import { chooseRepository, deployKeyFor } from './repository-choice.ts'
import {
  countEnvironments,
  countProjects,
  findProject,
  forgetWebhook,
  insertProject,
  listFollowing,
  updateProject,
} from './store.ts'
import type { Project } from './store.ts'

type SaveDeps = { db: Db; secrets: Secrets; config: Config }

/** Also creates the first environment. `isShown` means that the response shows the webhook's secret. */
export function createProject(
  { db, secrets, config, docker }: SaveDeps & { docker: Pick<Docker, 'remote'> },
  {
    ownerId,
    input,
    isShown,
  }: { ownerId: string; input: z.output<ReturnType<typeof projectForm>>; isShown: boolean },
): { project: Project; webhookSecret: string } {
  refuseMore('projects', countProjects(db, ownerId))
  refuseMore('environments', countEnvironments(db, ownerId))
  const id = newId()
  const chosen = chooseRepository({ db }, { ownerId, asked: input })!
  const webhookSecret = randomToken()
  const project = insertProject(
    db,
    {
      id,
      ownerId,
      name: input.name,
      ...chosen,
      ...deployKeyFor({ db, secrets }, { id, ownerId, ...chosen }),
      branch: input.branch ?? null,
      ...(input.contextDir && { contextDir: input.contextDir }),
      ...(input.watchPaths && { watchPaths: input.watchPaths }),
      composeFile: input.composeFile ?? null,
      webhookSecret: secrets.seal(webhookSecret, `webhook ${id}`),
      webhookSecretShown: isShown,
    },
    {
      hostPort: freeHostPort({ db, config, docker }, placesOf({ db, config }, ownerId)),
      label: freeLabel(db, { project: input.name, environment: 'production', ...config }),
    },
  )
  return { project, webhookSecret }
}

/**
 * Changes only the given fields. A webhook that Davit registered is removed with another repository, and stays with
 * another source of the same one. Without a source it is as one added by hand, unless another project takes it:
 * `leavesWebhook` says so.
 */
export async function changeProject(
  deps: SaveDeps,
  { project, input }: { project: Project; input: z.output<ReturnType<typeof projectUpdateForm>> },
): Promise<{ project: Project; leavesWebhook: boolean }> {
  const { id, ownerId } = project
  const { name, branch } = input
  const chosen = chooseRepository(deps, { ownerId, asked: input, current: project })
  if (chosen?.image && project.image === null) refuseForImage(deps.db, project)
  const changed = deps.db.transaction(() => {
    if (name !== undefined && name !== project.name)
      renameLabels(deps.db, { ...deps.config, id, name })
    return updateProject(deps.db, id, {
      name,
      branch,
      ...chosen,
      ...(chosen?.image && { branch: null }),
      ...(chosen && deployKeyFor(deps, { ...project, ...chosen })),
    })
  })
  const isElsewhere = chosen && chosen.repositoryUrl !== project.repositoryUrl
  const isUnsourced = chosen?.sourceId === null && !isElsewhere
  if (project.webhookId === null || !(isElsewhere || isUnsourced))
    return { project: changed, leavesWebhook: false }
  if (isElsewhere) await tryRemoveWebhook(deps, project)
  const leavesWebhook = isUnsourced && !(await tryHandOver(deps, project))
  forgetWebhook(deps.db, project)
  return { project: findProject(deps.db, project), leavesWebhook }
}

function refuseForImage(db: Db, { id, composeFile, composeService }: Project) {
  if (composeFile ?? composeService)
    throw invalidField('image', 'can’t be deployed with a Compose file. Clear that first.')
  const names = listFollowing(db, id).map(({ name }) => name)
  if (names.length > 0)
    throw invalidField(
      'image',
      `has no branches and tags, which ${names.join(', ')} follows or waits for. Change that first.`,
    )
}
