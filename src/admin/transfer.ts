import { getUser } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { giveStatuses } from '../deployments/status-store.ts'
import { listJobIds } from '../jobs/store.ts'
import { giveEvents } from '../notifications/store.ts'
import { invalidField } from '../platform/errors.ts'
import { journal } from '../platform/journal.ts'
import { findProject, updateProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { registerWebhook } from '../projects/webhook.ts'
import { randomToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { User } from '../web/factory.ts'
import { findOtherLive } from './change-user.ts'
import { deleteUser, hasWebhook, listProjectsOf, listServicesOf } from './store.ts'
import { giveDavit, setOwner } from './transfer-store.ts'

type Transfer = { id: string; by: User; heirId: string }

/**
 * Deletes another user. Everything they own is transferred to the heir in the same transaction, and
 * keeps running. Webhook secrets are replaced, because the deleted user may know them.
 */
export const transferAll = ({ db, secrets }: { db: Db; secrets: Secrets }, wanted: Transfer) =>
  asWriter(db, (tx) => {
    const { id, by, heirId } = wanted
    const user = findOtherLive(tx, { id, by })
    const heir = heirId === id ? undefined : getUser(tx, heirId)
    if (!heir || heir.disabledAt)
      throw invalidField('heirId', 'must be another user whose account is enabled.')
    const work = listJobIds(tx, { ownerId: id })
    const services = listServicesOf(tx, id)
    const projects = listProjectsOf(tx, id)
    for (const project of projects)
      updateProject(db, project.id, {
        webhookSecret: secrets.seal(randomToken(), `webhook ${project.id}`),
        webhookSecretShown: false,
        webhookOutdated: hasWebhook(tx, project),
      })
    // a member gets nothing that has the secrets of all users
    if (heir.role !== 'admin') giveDavit(tx, { from: id, to: by.id })
    setOwner(tx, { from: id, to: heirId })
    giveEvents(tx, { from: id, to: heirId })
    giveStatuses(tx, { from: id, to: heirId })
    deleteUser(tx, id)
    return { user, heir, projects, services, work }
  })

/**
 * Updates webhooks that Davit registered with the new secrets. If a provider refuses
 * or can't be reached, the project's page shows what is left to do.
 */
export async function renewWebhooks(
  deps: { db: Db; secrets: Secrets; config: Config },
  { projects, heirId }: { projects: Project[]; heirId: string },
) {
  for (const { id, repository } of projects.filter(({ webhookId }) => webhookId !== null))
    try {
      const project = findProject(deps.db, { id, ownerId: heirId })
      await registerWebhook(deps, { project, signal: AbortSignal.timeout(10_000) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      journal.warn('a webhook could not be updated with its new secret', {
        project: id,
        repository,
        reason,
      })
    }
}
