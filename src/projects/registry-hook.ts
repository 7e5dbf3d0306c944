import type { Context } from 'hono'
import type { Config } from '../config.ts'
import { sameSecret } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { requestOrigin } from '../web/own-host.ts'
import type { Project } from './store.ts'

/**
 * The secret in the address to which registries report new images, since most can send no header. It follows
 * from the project's webhook secret, so whoever replaces that replaces the address.
 */
const hookSecret = (secrets: Secrets, { id }: Pick<Project, 'id'>, webhookSecret: string) =>
  `${id}.${secrets.sign(`registry hook of ${id} ${webhookSecret}`)}`

/** In constant time. False too for a project whose webhook secret can no longer be read. */
export function isHookSecret(
  secrets: Secrets,
  project: Pick<Project, 'id' | 'webhookSecret'>,
  secret: string,
) {
  try {
    const webhookSecret = secrets.open(project.webhookSecret, `webhook ${project.id}`)
    return sameSecret(hookSecret(secrets, project, webhookSecret), secret)
  } catch {
    return false
  }
}

/** The address as JSON, where the webhook secret may be shown and the project deploys an image. */
export const shownHook = (
  c: Context,
  { config, secrets }: { config: Config; secrets: Secrets },
  { project, secret }: { project: Project; secret: string },
) =>
  project.image === null
    ? {}
    : {
        registryHook: `${requestOrigin(c, config)}/hooks/registry/${hookSecret(secrets, project, secret)}`,
      }
