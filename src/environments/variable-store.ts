import { and, asc, desc, eq, lt } from 'drizzle-orm'
import { countRows } from '../db/count.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { variables } from '../db/schema.ts'
import { refuseDuplicate } from '../db/unique.ts'
import type { Duplicates } from '../db/unique.ts'
import { AppError, invalidField, notFound } from '../errors.ts'
import { refuseMore } from '../limits.ts'
import { steeringRefusal, steersBuilder } from '../projects/build-arguments.ts'
import type { Secrets } from '../secrets.ts'
import type { Page } from '../web/paging.ts'

type Row = typeof variables.$inferSelect

/** A variable as it may be shown: the value of a secret one is null. */
export type Variable = Omit<Row, 'value'> & { value: string | null }

/** A variable as the container gets it. */
export type OpenVariable = Pick<Row, 'key' | 'value' | 'secret' | 'buildTime'>

type Values = { key: string; value: string; secret: boolean; buildTime: boolean }

export const listVariables = (db: Db, environmentId: string): Variable[] =>
  selectVariables(db, environmentId).map(hideSecret)

/** A page of them with one too many, newest first. */
export const pageOfVariables = (
  db: Db,
  { environmentId, cursor, limit }: { environmentId: string } & Page,
): Variable[] =>
  db
    .select()
    .from(variables)
    .where(
      and(
        eq(variables.environmentId, environmentId),
        cursor ? lt(variables.id, cursor) : undefined,
      ),
    )
    .orderBy(desc(variables.id))
    .limit(limit + 1)
    .all()
    .map(hideSecret)

/** With secret values opened: for the container and the masking of logs, never for an answer. */
export const openVariables = (db: Db, secrets: Secrets, environmentId: string): OpenVariable[] =>
  selectVariables(db, environmentId).map((row) => ({
    ...row,
    value: row.secret ? secrets.open(row.value, contextOf(row.id)) : row.value,
  }))

export function findVariable(db: Db, { id, environmentId }: { id: string; environmentId: string }) {
  const row = db
    .select()
    .from(variables)
    .where(and(eq(variables.id, id), eq(variables.environmentId, environmentId)))
    .get()
  if (!row) throw notFound('variable')
  return hideSecret(row)
}

export function insertVariable(
  db: Db,
  secrets: Secrets,
  { environmentId, ...values }: Values & { environmentId: string },
): Variable {
  refuseSteering(values)
  const ofSame = eq(variables.environmentId, environmentId)
  refuseMore('variables', countRows(db, variables, ofSame))
  const id = newId()
  const value = values.secret ? secrets.seal(values.value, contextOf(id)) : values.value
  return refuseDuplicate(
    () =>
      hideSecret(
        db
          .insert(variables)
          .values({ ...values, id, environmentId, value })
          .returning()
          .get(),
      ),
    duplicates,
  )
}

/** Sets all pairs or none; one that is there already gets the new value and keeps its marks. */
export const setVariables = (
  db: Db,
  secrets: Secrets,
  {
    environmentId,
    pairs,
    secret,
  }: { environmentId: string; pairs: Map<string, string>; secret: boolean },
) =>
  db.transaction(() => {
    const known = new Map(selectVariables(db, environmentId).map((row) => [row.key, row]))
    for (const [key, value] of pairs) {
      const row = known.get(key)
      if (row) updateVariable(db, secrets, row, { value })
      else insertVariable(db, secrets, { environmentId, key, value, secret, buildTime: false })
    }
  })

/** Changes the fields present. A secret that becomes readable needs a new value: the old one never comes back. */
export function updateVariable(
  db: Db,
  secrets: Secrets,
  current: Pick<Row, 'id' | 'secret' | 'key' | 'buildTime'>,
  changes: { [Field in keyof Values]?: Values[Field] | undefined },
): Variable {
  const { key = current.key, buildTime = current.buildTime } = changes
  if ('key' in changes || 'buildTime' in changes) refuseSteering({ key, buildTime })
  const secret = changes.secret ?? current.secret
  if (current.secret && !secret && changes.value === undefined) {
    const message = 'wants the value again: a secret one can not be shown.'
    throw new AppError('invalid', message, { fields: [{ field: 'value', message }] })
  }
  const plain = changes.value ?? (secret && !current.secret ? readValue(db, current.id) : undefined)
  const value =
    plain === undefined ? undefined : secret ? secrets.seal(plain, contextOf(current.id)) : plain
  return refuseDuplicate(
    () =>
      hideSecret(
        db
          .update(variables)
          .set({ ...changes, secret, value })
          .where(eq(variables.id, current.id))
          .returning()
          .get(),
      ),
    duplicates,
  )
}

function refuseSteering({ key, buildTime }: Pick<Values, 'key' | 'buildTime'>) {
  if (buildTime && steersBuilder(key)) throw invalidField('buildTime', `${key} ${steeringRefusal}`)
}

const duplicates: Duplicates = {
  'variables.environment_id, variables.key': [
    'key',
    'The environment has a variable of this name already. Change that one.',
  ],
}

export const deleteVariable = (db: Db, id: string) =>
  db.delete(variables).where(eq(variables.id, id)).run()

const selectVariables = (db: Db, environmentId: string) =>
  db
    .select()
    .from(variables)
    .where(eq(variables.environmentId, environmentId))
    .orderBy(asc(variables.key))
    .all()

const readValue = (db: Db, id: string) =>
  db.select({ value: variables.value }).from(variables).where(eq(variables.id, id)).get()!.value

const hideSecret = (row: Row): Variable => ({ ...row, value: row.secret ? null : row.value })

const contextOf = (id: string) => `variable ${id}`
