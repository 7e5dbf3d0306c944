import { posix } from 'node:path'
import type { Db } from '../../db/index.ts'
import { parseReference } from '../../registries/image-registry.ts'
import { volumesIn } from '../../runtime/component.ts'
import type { Component } from '../../runtime/component.ts'
import { shownImage } from '../../runtime/images/private-names.ts'
import { deployedImage, listServiceImages } from '../../runtime/images/stack-store.ts'
import { volumeNameOf } from '../../services/compose/containers.ts'
import type { BackupDeclaration, BackupEngine } from '../../services/compose/declaration.ts'
import { isImageVolume } from '../../services/image-volumes.ts'
import type { Source } from './tool.ts'

/** Those that servers say to keep files of their own in, by component. */
export type Folders = ReadonlyMap<string, string[]>

type Options = {
  /** The id of the service or environment. */
  id: string
  components: Component[]
  /** What its file says; by default databases are recognised by their images. */
  backup: BackupDeclaration | null
  /** As the file names the images that Davit has renamed, by component. */
  images?: ReadonlyMap<string, string>
  folders?: Folders
}

/** Those of an environment with a Compose file. */
export const renamedImages = (db: Db, components: Component[]): Map<string, string> =>
  new Map(
    components.flatMap(({ name, options: { image } }) => {
      const found = listServiceImages(db, deployedImage(image)).find(([, of]) => of.image === image)
      return found?.[1].reference ? [[name, found[1].reference] as const] : []
    }),
  )

/** How the data of a workload is backed up. */
export function recipeOf({ id, components, backup, images, folders }: Options) {
  const databases = components.flatMap((component): Source[] => {
    const { name } = component
    const image = images?.get(name) ?? component.options.image
    const engine = backup ? backup.databases[name] : engineOf(image)
    // without a volume its data is gone with its container
    if (!engine || component.oneShot || !component.options.volumes?.length) return []
    const env = credentialsOf[engine](valuesOf(component))
    return env ? [{ component: name, engine, env }] : []
  })
  const servers = new Map(databases.map(({ component, engine }) => [component, engine]))
  const data = new Set(
    components.flatMap((component) => {
      const engine = servers.get(component.name)
      const own = folders?.get(component.name) ?? []
      return engine ? dataVolumes(id, { component, engine, own }) : []
    }),
  )
  const without = new Set(backup?.without.map((volume) => volumeNameOf(id, volume)))
  // what only reads it has nothing of its own there
  const writtenBeside = new Set(
    components.flatMap(({ name, options: { volumes = [] } }) =>
      servers.has(name) ? [] : volumes.flatMap((one) => (one.readOnly ? [] : one.name)),
    ),
  )
  const all = volumesIn(components).filter((volume) => !without.has(volume))
  const isDumped = (volume: string) => data.has(volume) && !writtenBeside.has(volume)
  return {
    databases,
    /** By component, what the template has the restored copy asked. */
    queries: backup?.queries ?? {},
    /** The engine's names of volumes that are stored as files. */
    volumes: all.filter((volume) => !isDumped(volume)),
    /** Those that a dump stands for. */
    dumped: all.filter(isDumped),
    /** Paths of the host, which are never backed up. */
    unsaved: components.flatMap(
      ({ options }) => options.granted?.binds?.map((b) => b.source) ?? [],
    ),
  }
}

/** By the end of a repository's path; the namespaces of others that have the same server and tools. */
const known: [BackupEngine, RegExp][] = [
  [
    'postgresql',
    /(^|\/)(postgres|postgresql|postgis|pgvector|pgvecto-rs|vchord-postgres|timescaledb|timescaledb-ha|citus|paradedb|pgautoupgrade)$/,
  ],
  ['mysql', /(^|\/)(mysql|mysql-server|mariadb|percona|percona-server)$/],
  ['redis', /(^|\/)(redis|redis-stack|redis-stack-server|valkey|valkey-bundle)$/],
  ['mongodb', /(^|\/)(mongo|mongodb|mongodb-community-server|percona-server-mongodb)$/],
]

export function engineOf(image: string): BackupEngine | undefined {
  const path = parseReference(shownImage(image))?.path
  return path === undefined ? undefined : known.find(([, pattern]) => pattern.test(path))?.[0]
}

type Values = (name: string) => string | undefined

/** The variables of a component, and those that a file of it has, such as a secret of Compose. */
const valuesOf =
  ({ options, files }: Component): Values =>
  (name) => {
    if (name === 'command')
      return [...(options.entrypoint ?? []), ...(options.command ?? [])].join(' ')
    const value = options.env?.[name]
    const path = options.env?.[`${name}_FILE`]
    return value || files.find((file) => file.path === path)?.content.trimEnd() || undefined
  }

const firstOf = (values: Values, ...names: string[]) => {
  for (const name of names) {
    const value = values(name)
    if (value !== undefined) return value
  }
  return ''
}

/** A value of a server's command line, which may be a variable. */
function argumentOf(values: Values, option: string) {
  const match = new RegExp(`${option}[ =]+(["']?)([^\\s"']+)\\1`).exec(values('command') ?? '')
  const variable = /^\$\{?(\w+)\}?$/.exec(match?.[2] ?? '')
  return variable ? values(variable[1]!) : match?.[2]
}

/** Where images of an engine keep the data. What else is mounted in it, or has it inside, is the server’s own, too. */
const dataPaths: Record<BackupEngine, (values: Values) => (string | undefined)[]> = {
  postgresql: (values) => [
    ...['/var/lib/postgresql', '/bitnami/postgresql', '/home/postgres/pgdata'],
    ...[values('PGDATA'), values('POSTGRES_INITDB_WALDIR')],
    ...[values('POSTGRESQL_DATA_DIR'), values('POSTGRESQL_INITDB_WAL_DIR')],
    ...[argumentOf(values, '-D'), argumentOf(values, 'data_directory')],
  ],
  mysql: (values) => [
    ...['/var/lib/mysql', '/bitnami/mysql', '/bitnami/mariadb'],
    ...[values('MYSQL_DATA_DIR'), values('MARIADB_DATA_DIR'), argumentOf(values, '--datadir')],
  ],
  redis: (values) => [
    ...['/data', '/bitnami/redis', '/bitnami/valkey'],
    ...[values('REDIS_DATA_DIR'), values('VALKEY_DATA_DIR'), argumentOf(values, '--dir')],
  ],
  mongodb: (values) => [
    ...['/data/db', '/data/configdb', '/bitnami/mongodb'],
    ...[values('MONGODB_DATA_DIR'), argumentOf(values, '--dbpath')],
  ],
}

/**
 * Files of a database that runs mustn’t be restored over what was loaded into it. So where none is at a known path,
 * or at one that is its `own`, all that the server can write to are taken for its data.
 */
function dataVolumes(
  id: string,
  { component, engine, own }: { component: Component; engine: BackupEngine; own: string[] },
) {
  const writable = component.options.volumes?.filter(({ readOnly }) => !readOnly) ?? []
  const paths = [...dataPaths[engine](valuesOf(component)), ...own].filter(
    (path) => path?.startsWith('/') && path !== '/',
  )
  const known = writable.filter(
    (mount) =>
      isImageVolume(id, component.name, mount) ||
      paths.some((path) => isIn(mount.path, path!) || isIn(path!, mount.path)),
  )
  return (known.length > 0 ? known : writable).map(({ name }) => name)
}

const isIn = (path: string, folder: string) => posix.relative(folder, path).split('/')[0] !== '..'

/** Null when there are none: then its files are stored. */
const credentialsOf: Record<BackupEngine, (values: Values) => Record<string, string> | null> = {
  postgresql(values) {
    const admin = values('POSTGRESQL_POSTGRES_PASSWORD') // of Bitnami's, whose other user has few rights
    return {
      PGHOST: '127.0.0.1',
      PGPORT: values('PGPORT') ?? values('POSTGRESQL_PORT_NUMBER') ?? '5432',
      PGUSER: admin
        ? 'postgres'
        : firstOf(values, 'POSTGRES_USER', 'POSTGRESQL_USERNAME') || 'postgres',
      PGPASSWORD: admin ?? firstOf(values, 'POSTGRES_PASSWORD', 'POSTGRESQL_PASSWORD'),
      PGCONNECT_TIMEOUT: '15',
    }
  },
  mysql(values) {
    const password = firstOf(values, 'MARIADB_ROOT_PASSWORD', 'MYSQL_ROOT_PASSWORD')
    const mayBeEmpty = ['MYSQL', 'MARIADB'].flatMap((name) => [
      `${name}_ALLOW_EMPTY_PASSWORD`,
      `${name}_ALLOW_EMPTY_ROOT_PASSWORD`,
    ])
    if (!password && !firstOf(values, ...mayBeEmpty, 'ALLOW_EMPTY_PASSWORD')) return null
    return { DAVIT_PORT: firstOf(values, 'MYSQL_TCP_PORT') || '3306', MYSQL_PWD: password }
  },
  redis: (values) => ({
    DAVIT_PORT: firstOf(values, 'REDIS_PORT_NUMBER', 'VALKEY_PORT_NUMBER') || '6379',
    REDISCLI_AUTH:
      argumentOf(values, 'requirepass') ?? firstOf(values, 'REDIS_PASSWORD', 'VALKEY_PASSWORD'),
  }),
  mongodb: (values) => ({
    DAVIT_USER:
      firstOf(values, 'MONGO_INITDB_ROOT_USERNAME', 'MONGODB_INITDB_ROOT_USERNAME') ||
      firstOf(values, 'MONGODB_ROOT_USER'),
    DAVIT_CONFIG: JSON.stringify({
      password: firstOf(
        values,
        'MONGO_INITDB_ROOT_PASSWORD',
        'MONGODB_INITDB_ROOT_PASSWORD',
        'MONGODB_ROOT_PASSWORD',
      ),
    }),
  }),
}
