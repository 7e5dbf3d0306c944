import { and, asc, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { countRows, getRow, listPage, listRows } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { deployments, environments, variables } from '../db/schema.ts'
import { refuseDuplicate } from '../db/failures.ts'
import { AppError, found, invalidField } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import { argumentName } from '../projects/forms.ts'
import { steeringRefusal, steersBuilder } from '../projects/build-form.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Page } from '../web/paging.ts'
import { masking } from '../logs/mask.ts'
import { rememberSecrets, sealedVariable } from '../logs/secret-store.ts'
import { whyPortUnknown } from './processes.ts'

type Row = typeof variables.$inferSelect

/** For display: the value of a secret is null. */
export type Variable = Omit<Row, 'value'> & { value: string | null }

export type OpenVariable = Pick<Row, 'key' | 'value' | 'secret' | 'buildTime'>

type VariableRow = Omit<Row, 'value'>

type Changes = { [Field in keyof OpenVariable]?: OpenVariable[Field] | undefined }

export const listVariables = (db: Db, environmentId: string): Variable[] =>
  selectVariables(db, environmentId).map(hideSecret)

/** Newest first, with one more row than the page, which shows that more follow. */
export const pageOfVariables = (
  db: Db,
  { environmentId, ...page }: { environmentId: string } & Page,
): Variable[] =>
  listPage(db, variables, eq(variables.environmentId, environmentId), page).map(hideSecret)

/** Has secrets in plain text: for containers and the masking of logs, never for a response. */
export const openVariables = (db: Db, secrets: Secrets, environmentId: string): OpenVariable[] =>
  selectVariables(db, environmentId).map((row) => ({ ...row, value: open(secrets, row) }))

const open = (secrets: Secrets, { id, value, secret }: Pick<Row, 'id' | 'value' | 'secret'>) =>
  secret ? secrets.open(value, sealedVariable(id)) : value

/** Empty when the variable was deleted. */
function openVariable(db: Db, secrets: Secrets, id: string) {
  const row = getRow(db, variables, eq(variables.id, id))
  return row ? open(secrets, row) : ''
}

export function findVariable(db: Db, { id, environmentId }: { id: string; environmentId: string }) {
  const isIt = and(eq(variables.id, id), eq(variables.environmentId, environmentId))
  return hideSecret(found('variable', getRow(db, variables, isIt)))
}

export const insertVariable = (
  db: Db,
  secrets: Secrets,
  { environmentId, ...values }: OpenVariable & { environmentId: string },
): Variable =>
  changing(db, secrets, { environmentId }, () => {
    const ofSame = eq(variables.environmentId, environmentId)
    refuseMore('variables', countRows(db, variables, ofSame))
    refuseForBuild(values)
    const id = newId()
    const value = values.secret ? secrets.seal(values.value, sealedVariable(id)) : values.value
    const row = { ...values, id, environmentId, value }
    return hideSecret(db.insert(variables).values(row).returning().get())
  })

/**
 * Sets all pairs or none. An existing variable gets the new value and keeps its flags, unless all are to be
 * secret. With `kept`, all variables with other names are deleted.
 */
export const setVariables = (
  db: Db,
  secrets: Secrets,
  {
    environmentId,
    pairs,
    field,
    isSecret,
    areSecret = false,
    kept,
  }: {
    environmentId: string
    pairs: Map<string, string>
    /** Where they were entered, for a refusal. */
    field: 'text' | 'dotenv'
    /** Decides for new variables. */
    isSecret: (key: string) => boolean
    /** Marks all of them, existing ones too. */
    areSecret?: boolean
    kept?: Set<string>
  },
) =>
  changing(db, secrets, { environmentId, field }, (ended) => {
    const stored = selectVariables(db, environmentId)
    const left = stored.filter(({ key }) => kept && !kept.has(key) && !pairs.has(key))
    for (const row of left) if (row.secret) ended.push(open(secrets, row))
    const ids = left.map(({ id }) => id)
    if (ids.length > 0) db.delete(variables).where(inArray(variables.id, ids)).run()
    const known = new Map(stored.filter((row) => !left.includes(row)).map((row) => [row.key, row]))
    const count = new Set([...known.keys(), ...pairs.keys()]).size
    if (count > known.size) refuseMore('variables', count - 1)
    const hidden: string[] = []
    const rows = [...pairs].map(([key, value]): typeof variables.$inferInsert & { id: string } => {
      const row = known.get(key) ?? { id: newId(), secret: isSecret(key), buildTime: false }
      const { id, buildTime } = row
      const secret = areSecret || row.secret
      if (secret && 'value' in row) {
        const before = open(secrets, row)
        if (before !== value) ended.push(before)
        if (!row.secret) hidden.push(before, value)
      }
      const stored = secret ? secrets.seal(value, sealedVariable(id)) : value
      return { id, environmentId, key, value: stored, secret, buildTime }
    })
    if (rows.length === 0) return
    hideInErrors(db, environmentId, hidden)
    // One statement: 500 separate ones would block everything else.
    db.insert(variables)
      .values(rows)
      .onConflictDoUpdate({
        target: variables.id,
        set: { value: sql`excluded.value`, secret: sql`excluded.secret` },
      })
      .run()
  })

/** Changes only the given fields. A secret that becomes readable needs a new value. */
export function updateVariable(
  db: Db,
  secrets: Secrets,
  current: VariableRow,
  changes: Changes,
): Variable {
  const { key = current.key, buildTime = current.buildTime } = changes
  if ('key' in changes || 'buildTime' in changes) refuseForBuild({ key, buildTime })
  if (current.secret && changes.secret === false && changes.value === undefined) {
    const message = 'must be entered again, because a secret value can’t be revealed.'
    throw new AppError('invalid', message, { fields: [{ field: 'value', message }] })
  }
  return changing(db, secrets, current, (ended) => update(db, secrets, { current, changes, ended }))
}

export const deleteVariable = (db: Db, secrets: Secrets, row: VariableRow) =>
  changing(db, secrets, row, (ended) => {
    if (row.secret) ended.push(openVariable(db, secrets, row.id))
    db.delete(variables).where(eq(variables.id, row.id)).run()
  })

/** In total, for the values of an environment, since its logs are searched for all of them. */
const mostCharacters = 500_000

/** All or nothing. `ended` collects values that are no longer secret, to stay masked in existing logs. */
function changing<Result>(
  db: Db,
  secrets: Secrets,
  { environmentId, field = 'value' }: { environmentId: string; field?: string },
  change: (ended: string[]) => Result,
): Result {
  return db.transaction(() => {
    const ended: string[] = []
    const before = lengthOfValues(db, environmentId)
    const portBefore = namedPort(db, secrets, environmentId)
    const result = refuseDuplicate(() => change(ended), duplicates)
    const after = lengthOfValues(db, environmentId)
    const port = namedPort(db, secrets, environmentId)
    if (port !== portBefore) refuseUnknownPort(db, { environmentId, field }, port)
    if (after > mostCharacters && after > before) throw tooLong(field)
    if (ended.length > 0) rememberSecrets({ db, secrets }, { environmentId }, ended)
    return result
  })
}

function namedPort(db: Db, secrets: Secrets, environmentId: string) {
  const isIt = and(eq(variables.environmentId, environmentId), eq(variables.key, 'PORT'))
  const row = getRow(db, variables, isIt)
  return row && open(secrets, row)
}

function refuseUnknownPort(
  db: Db,
  { environmentId, field }: { environmentId: string; field: string },
  port: string | undefined,
) {
  const environment = getRow(db, environments, eq(environments.id, environmentId))
  const why = environment ? whyPortUnknown(environment, port) : null
  if (why !== null) throw invalidField(field, why)
}

const tooLong = (field: string) =>
  invalidField(
    field,
    'is too long: the values of an environment can have at most 500,000 characters in total. ' +
      'Put long values into a file in the image or a volume.',
  )

/** Approximate, as it is computed from the length of encrypted values. */
const lengthOfValues = (db: Db, environmentId: string) =>
  db
    .select({
      length: sql<number>`coalesce(sum(iif(${variables.secret}, length(${variables.value}) * 3 / 4 - 28, length(${variables.value}))), 0)`,
    })
    .from(variables)
    .where(eq(variables.environmentId, environmentId))
    .get()!.length

function update(
  db: Db,
  secrets: Secrets,
  { current, changes, ended }: { current: VariableRow; changes: Changes; ended: string[] },
) {
  const { id } = current
  const secret = changes.secret ?? current.secret
  const before = openVariable(db, secrets, id)
  const plain = changes.value ?? before
  if ((current.secret && !secret) || ((current.secret || secret) && plain !== before))
    ended.push(before)
  if (secret && !current.secret) hideInErrors(db, current.environmentId, [before, plain])
  const isSame = changes.value === undefined && secret === current.secret
  const value = isSame ? undefined : secret ? secrets.seal(plain, sealedVariable(id)) : plain
  const values = { ...changes, secret, value }
  return hideSecret(db.update(variables).set(values).where(eq(variables.id, id)).returning().get())
}

/** Stored errors of deployments can quote an app's output. Logs are masked when they are read. */
function hideInErrors(db: Db, environmentId: string, values: string[]) {
  const { id, errorMessage: message, errorHint: hint } = deployments
  const failed =
    values.length === 0
      ? []
      : db
          .select({ id, message, hint })
          .from(deployments)
          .where(and(eq(deployments.environmentId, environmentId), isNotNull(message)))
          .all()
  if (failed.length === 0) return
  const mask = masking(values)
  for (const { id, message, hint } of failed) {
    const hidden = {
      errorMessage: mask(message ?? ''),
      errorHint: hint === null ? null : mask(hint),
    }
    if (hidden.errorMessage !== message || hidden.errorHint !== hint)
      db.update(deployments).set(hidden).where(eq(deployments.id, id)).run()
  }
}

function refuseForBuild({ key, buildTime }: Pick<OpenVariable, 'key' | 'buildTime'>) {
  if (!buildTime) return
  if (steersBuilder(key)) throw invalidField('buildTime', steeringRefusal(key))
  if (!argumentName.safeParse(key).success)
    throw invalidField(
      'buildTime',
      `A build argument can’t be named ${key}: a Dockerfile only has names of letters, digits and underscores.`,
    )
}

const duplicates = {
  key: 'The environment already has a variable with this name. Change that one.',
}

const selectVariables = (db: Db, environmentId: string) =>
  listRows(db, variables, eq(variables.environmentId, environmentId), asc(variables.key))

const hideSecret = (row: Row): Variable => ({ ...row, value: row.secret ? null : row.value })
