import { Failure } from '../../platform/errors.ts'
import type { StoredContents } from '../../db/schema.ts'
import type { BackupEngine } from '../../services/compose/declaration.ts'

/** As counted in the snapshot that a dump was made of. */
export type Contents = StoredContents & { engine: BackupEngine }

export type DatabaseContents = StoredContents['databases'][number]

export const engineNames: Record<BackupEngine, string> = {
  postgresql: 'PostgreSQL',
  mysql: 'MySQL or MariaDB',
  redis: 'Redis or Valkey',
  mongodb: 'MongoDB',
}

/** Databases only read what the same or an older version has written. */
export function refuseNewer(
  { engine, version }: Pick<Contents, 'engine' | 'version'>,
  running: Pick<Contents, 'engine' | 'version'>,
) {
  const name = engineNames[engine]
  if (running.engine !== engine)
    throw new Failure(
      'load_engine',
      `The backup is one of ${name}, but this is ${engineNames[running.engine]}.`,
      `Restore it into a service of ${name}.`,
    )
  if (flavourOf(version) !== flavourOf(running.version)) {
    if (engine === 'redis') return // it says itself what it can't read, before its data is replaced
    throw new Failure(
      'load_engine',
      `The backup is from version ${version}, which ${running.version} can’t read.`,
      'MySQL and MariaDB don’t read each other’s users and settings. Restore it into the server that it is of.',
    )
  }
  if (Bun.semver.order(majorOf(engine, version), majorOf(engine, running.version)) > 0)
    throw new Failure(
      'load_version',
      `The backup is from ${name} ${version}, which is newer than the ${running.version} that runs.`,
      `Change the version of the service to ${version} or newer, then restore again. Nothing was changed.`,
    )
}

const flavourOf = (version: string) => /MariaDB|Valkey/.exec(version)?.[0]

/** The part of a version that decides on its format: PostgreSQL's is one number since 10. */
function majorOf(engine: BackupEngine, version: string) {
  const [major = '0', minor = '0'] = version.match(/\d+/g) ?? []
  return engine === 'postgresql' && Number(major) >= 10 ? `${major}.0.0` : `${major}.${minor}.0`
}

/** Null when what was restored has all that the dump had; otherwise the first difference, for a person. */
export function differenceOf(expected: Contents, found: Contents, only?: string): string | null {
  for (const { name, tables, isInexact, extensions = [] } of expected.databases) {
    if (only !== undefined && name !== only) continue
    const database = found.databases.find((one) => one.name === name)
    if (!database) return `the database ${name} is missing`
    const there = new Map(database.tables.map((table) => [table.name, table.rows]))
    for (const { name: table, rows, fewest = rows } of tables) {
      const count = there.get(table)
      if (count === undefined) return `${table} of the database ${name} is missing`
      if (!isInexact && (count < fewest || count > rows))
        return `${table} of the database ${name} has ${count} rows in place of ${rows}`
    }
    if (there.size > tables.length)
      return `the database ${name} has ${there.size} tables in place of ${tables.length}`
    const lost = extensions.find((one) => !database.extensions?.includes(one))
    if (lost !== undefined) return `the extension ${lost} of the database ${name} is missing`
  }
  const role = expected.roles?.names.find((one) => !found.roles?.names.includes(one))
  return only === undefined && role !== undefined ? `the role ${role} is missing` : null
}

export function sizeOf(databases: DatabaseContents[]) {
  const tables = databases.flatMap((one) => one.tables)
  return { tables: tables.length, rows: tables.reduce((sum, { rows }) => sum + rows, 0) }
}

/** A file of a component, whatever its database is called. */
export const fileOf = (component: string, name: string, ending: string) =>
  `${component}/${encodeURIComponent(name).replace(/^\./, '%2E')}.${ending}`
