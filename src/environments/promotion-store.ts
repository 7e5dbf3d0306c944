import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Changes } from '../db/columns.ts'
import type { Db, Tx } from '../db/index.ts'
import { getRow, listRows } from '../db/queries.ts'
import { environments } from '../db/schema.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { getPreview } from './preview-store.ts'

/** As it will be; without an id when it is new. */
type Wanted = { id: string | null } & Pick<Environment, 'name' | 'projectId'> &
  Pick<Changes<typeof environments>, 'promoteFrom' | 'promoteAutomatically'>
type Environment = typeof environments.$inferSelect

/** Those that get their versions from it. */
export const listPromotedTo = (db: Db, environmentId: string) =>
  listRows(
    db,
    environments,
    and(eq(environments.promoteFrom, environmentId), isNull(environments.deletingAt)),
    asc(environments.id),
  )

/** Throws unless it can get its versions from where it says. Call it in the transaction that stores that. */
export function refuseUnfitSource(
  tx: Tx,
  { id, name, projectId, promoteFrom = null, promoteAutomatically }: Wanted,
) {
  if (promoteFrom === null) {
    if (!promoteAutomatically) return
    throw invalidField('promoteAutomatically', 'needs an environment to promote from.')
  }
  if (id !== null && getPreview(tx, id))
    throw invalidField('promoteFrom', 'can’t be set: its versions are those of a pull request.')
  const names = [name]
  for (let from: string | null = promoteFrom; from !== null;) {
    const source: Environment | undefined = getRow(tx, environments, eq(environments.id, from))
    if (source?.projectId !== projectId || source.deletingAt)
      throw invalidField('promoteFrom', 'must be an environment of this project.')
    if (getPreview(tx, from))
      throw invalidField('promoteFrom', 'can’t be a preview: it is deleted with its pull request.')
    names.unshift(source.name)
    if (source.id === id)
      throw invalidField('promoteFrom', `would be a circle: ${names.join(' → ')}.`)
    from = source.promoteFrom
  }
}

/** Throws while others get their versions from it. */
export function refusePromoted(db: Db, { id }: Pick<Environment, 'id'>) {
  const names = listPromotedTo(db, id).map(({ name }) => name)
  if (names.length === 0) return
  throw new AppError(
    'conflict',
    `${names.join(', ')} gets its versions from this environment. Change “Promote from” there first.`,
  )
}
