import type { UserRow } from '../accounts/store.ts'
import type { Db } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { removeProject } from '../projects/remove.ts'
import type { RemovalDeps as ProjectRemoval } from '../projects/remove.ts'
import { removeService } from '../services/remove.ts'
import type { RemovalDeps as ServiceRemoval } from '../services/remove.ts'
import type { User } from '../web/factory.ts'
import { findOther, shutOut } from './change-user.ts'
import { deleteUser, listProjectsOf, listServicesOf, setAllDeleting } from './store.ts'
import { giveDavit } from './transfer-store.ts'

/** Disables another user, and marks them and everything they own for removal. */
export const beginRemoval = (
  db: Db,
  { id, by, volumes }: { id: string; by: User; volumes: boolean },
) =>
  asWriter(db, (tx) => {
    const user = findOther(tx, { id, by })
    const deletingAt = user.deletingAt ?? new Date()
    shutOut(tx, user, { deletingAt })
    // what else is stored on these targets is forgotten with the user
    giveDavit(tx, { from: id, to: by.id, isAll: true })
    setAllDeleting(tx, { ownerId: id, deletingAt, volumes })
    return { user, projects: listProjectsOf(tx, id), services: listServicesOf(tx, id) }
  })

export type RemovalDeps = ProjectRemoval & ServiceRemoval

/** Removes what a user owns, then the user. Repeatable: an interrupted removal resumes at the next start. */
export async function removeUser(deps: RemovalDeps, { id }: Pick<UserRow, 'id'>) {
  for (const project of listProjectsOf(deps.db, id))
    await removeProject(deps, { project, volumes: project.deletingVolumes })
  for (const service of listServicesOf(deps.db, id))
    await removeService(deps, { service, volumes: service.deletingVolumes })
  deleteUser(deps.db, id)
}
