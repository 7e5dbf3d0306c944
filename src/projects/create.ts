import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { refuseMore } from '../platform/limits.ts'
import { randomToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { projectForm } from './forms.ts'
import { freeHostPort } from './host-ports.ts'
import { placesOf } from './places.ts'
import { chooseRepository, deployKeyFor } from './repository-choice.ts'
import { countEnvironments, countProjects, insertProject } from './store.ts'
import type { Project } from './store.ts'

type Wanted = {
  ownerId: string
  input: z.output<ReturnType<typeof projectForm>>
  /** Whether the answer shows the secret of the webhook. */
  isShown: boolean
}

/** Makes a project with its first environment; the secret of its webhook comes with it. */
export function createProject(
  { db, secrets, config }: { db: Db; secrets: Secrets; config: Config },
  { ownerId, input, isShown }: Wanted,
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
      ...deployKeyFor({ secrets }, { id, ...chosen }),
      branch: input.branch ?? null,
      webhookSecret: secrets.seal(webhookSecret, `webhook ${id}`),
      webhookSecretShown: isShown,
    },
    { hostPort: freeHostPort(db, placesOf({ db, config }, ownerId)) },
  )
  return { project, webhookSecret }
}
