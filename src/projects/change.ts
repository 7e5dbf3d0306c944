import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { projectUpdateForm } from './forms.ts'
import { tryRemoveWebhook } from './remove.ts'
import { chooseRepository, deployKeyFor, isElsewhere } from './repository-choice.ts'
import { updateProject } from './store.ts'
import type { Project } from './store.ts'

type Wanted = { project: Project; input: z.output<ReturnType<typeof projectUpdateForm>> }

/** Changes what was asked for. A webhook that Davit registered does not stay where the project leaves. */
export async function changeProject(
  deps: { db: Db; secrets: Secrets; config: Config },
  { project, input }: Wanted,
): Promise<Project> {
  const { id, ownerId } = project
  const { name, branch } = input
  const chosen = chooseRepository(deps, { ownerId, asked: input, current: project })
  const changed = updateProject(deps.db, id, {
    name,
    branch,
    ...chosen,
    ...(chosen && deployKeyFor(deps, { ...project, ...chosen })),
  })
  if (!chosen || !isElsewhere(project, chosen)) return changed
  await tryRemoveWebhook(deps, project)
  return updateProject(deps.db, id, { webhookId: null })
}
