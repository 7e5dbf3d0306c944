import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  differenceOf,
  recipeOf,
  refuseNewer,
  renamedImages,
} from '../../../src/backups/recipes/index.ts'
import type { Contents } from '../../../src/backups/recipes/index.ts'
import { engineOf } from '../../../src/backups/recipes/recipe.ts'
import type { Component } from '../../../src/runtime/component.ts'
import { insertStack } from '../../../src/runtime/images/stack-store.ts'
import { planContainers } from '../../../src/services/compose/containers.ts'
import {
  readCompose,
  readTemplate,
  samplesOf,
  stackOf,
} from '../../../src/services/compose/template.ts'
import { withImageVolumes } from '../../../src/services/image-volumes.ts'
import { newDatabases } from '../../support/databases.ts'

const templates = join(import.meta.dir, '../../../src/services/templates')

/** Why the files of these say it all: what is in them survives a copy while nothing writes. */
const onlyFiles: Record<string, string> = {
  changedetection: 'JSON files',
  gitea: 'SQLite, git repositories',
  gotify: 'SQLite, images',
  grafana: 'SQLite',
  meilisearch: 'LMDB, which a copy in a pause leaves whole',
  memos: 'SQLite',
  minio: 'objects as files',
  n8n: 'SQLite',
  nats: 'streams as files, with checksums',
  ntfy: 'SQLite, attachments',
  rabbitmq: 'queues as files, with a journal',
  'uptime-kuma': 'SQLite',
  vaultwarden: 'SQLite, attachments, keys',
}

const readCatalogue = async () =>
  Promise.all(
    (await readdir(templates)).map(async (file) => {
      const text = await Bun.file(join(templates, file)).text()
      const template = readTemplate(text, { file })
      return { name: basename(file, '.yaml'), text, template, components: plan(template) }
    }),
  )

const plan = (template: ReturnType<typeof readTemplate>) =>
  planContainers(stackOf(template, samplesOf(template)), {
    ...{ id: 'x', name: 'x', publishAddress: '127.0.0.1' },
  })

test('each template of the catalogue says how its databases are dumped, or has only files', async () => {
  for (const { name, template, components } of await readCatalogue()) {
    const { backup } = template
    expect([name, backup === null]).toEqual([name, name in onlyFiles])
    const recipe = recipeOf({ id: 'x', components, backup })
    // recognised by its images it would be the same
    const found = recipeOf({ id: 'x', components, backup: null })
    expect([name, found.databases]).toEqual([name, recipe.databases])
    for (const { env, component } of recipe.databases) {
      const isInside = component === 'redis' && name !== 'redis' // reached by its own service only
      const secret = env.PGPASSWORD ?? env.MYSQL_PWD ?? env.DAVIT_CONFIG ?? env.REDISCLI_AUTH
      expect([name, secret !== '']).toEqual([name, !isInside])
    }
    // each volume is a database's, stored, or can be made again
    const volumes = new Set(
      components.flatMap(({ options }) => options.volumes?.map((v) => v.name) ?? []),
    )
    const held = components.flatMap(({ name, options }) =>
      recipe.databases.some((one) => one.component === name) ? (options.volumes ?? []) : [],
    )
    expect([name, volumes.size]).toEqual([
      name,
      new Set(held.map((v) => v.name)).size + recipe.volumes.length + (backup?.without.length ?? 0),
    ])
  }
})

const compose = (text: string) => plan(readCompose(text, { file: 'compose.yaml' }))

test('databases of a Compose file are recognised by their images, with the credentials that it has', () => {
  const components = compose(`
services:
  web:
    image: ghcr.io/ada/shop:1
    volumes: [uploads:/data, shared:/shared]
  worker: { image: 'ghcr.io/ada/shop:1', volumes: ['shared:/shared'] }
  vectors:
    image: pgvector/pgvector:pg17
    environment: { POSTGRES_PASSWORD_FILE: /run/secrets/password }
    secrets: [password]
    volumes: [vectors:/var/lib/postgresql/data]
  bitnami:
    image: bitnami/postgresql:16
    environment: { POSTGRESQL_USERNAME: app, POSTGRESQL_PASSWORD: own, POSTGRESQL_POSTGRES_PASSWORD: admin }
    volumes: [bitnami:/bitnami/postgresql]
  time: { image: timescale/timescaledb-ha:pg16, volumes: ['time:/data'], environment: { POSTGRES_USER: t } }
  maria: { image: 'lscr.io/linuxserver/mariadb', volumes: ['maria:/config'], environment: { MYSQL_ROOT_PASSWORD: r } }
  percona: { image: 'percona/percona-server:8.4', volumes: ['percona:/var/lib/mysql'], environment: { MYSQL_ROOT_PASSWORD: p } }
  random: { image: 'mysql:8', volumes: ['random:/var/lib/mysql'], environment: { MYSQL_RANDOM_ROOT_PASSWORD: '1' } }
  cache: { image: 'redis:7' }
  queue: { image: 'redis:7', command: redis-server --requirepass "qq" --appendonly yes, volumes: ['queue:/data'] }
  documents: { image: mongo, volumes: ['documents:/data/db'], environment: { MONGO_INITDB_ROOT_USERNAME: m, MONGO_INITDB_ROOT_PASSWORD: mm } }
  exporter: { image: prometheuscommunity/postgres-exporter, volumes: ['exporter:/x'] }
secrets: { password: { content: 'from a file' } }
volumes: { uploads: {}, shared: {}, vectors: {}, bitnami: {}, time: {}, maria: {}, percona: {}, queue: {}, documents: {}, exporter: {}, random: {} }
`)
  const { databases, volumes } = recipeOf({ id: 'x', components, backup: null })
  const env = Object.fromEntries(databases.map((one) => [one.component, one.env]))
  expect(Object.keys(env).toSorted()).toEqual([
    'bitnami',
    'documents',
    'maria',
    'percona',
    'queue',
    'time',
    'vectors',
  ])
  expect(env.vectors).toMatchObject({ PGUSER: 'postgres', PGPASSWORD: 'from a file' })
  expect(env.bitnami).toMatchObject({ PGUSER: 'postgres', PGPASSWORD: 'admin' })
  expect(env.time).toMatchObject({ PGUSER: 't', PGPASSWORD: '' })
  expect(env.maria).toMatchObject({ MYSQL_PWD: 'r' })
  expect(env.queue).toMatchObject({ REDISCLI_AUTH: 'qq' })
  expect(env.documents).toMatchObject({ DAVIT_USER: 'm', DAVIT_CONFIG: '{"password":"mm"}' })
  expect(volumes.toSorted()).toEqual([
    'davit-x-exporter',
    'davit-x-random',
    'davit-x-shared',
    'davit-x-uploads',
  ])
})

const mysqlRoot = 'environment: { MYSQL_ROOT_PASSWORD: r }'

const databases: [image: string, volumes: string, more?: string][] = [
  ['postgres:17', 'data:/var/lib/postgresql/data, other:/backups'],
  ['postgres:18', 'data:/var/lib/postgresql, other:/certs'],
  ['postgres', 'data:/pg, other:/backups', 'environment: { PGDATA: /pg/data }'],
  ['postgres', 'data:/pg, other:/backups', 'command: postgres -D /pg'],
  ['timescale/timescaledb-ha', 'data:/home/postgres/pgdata, other:/backups'],
  ['bitnami/postgresql', 'data:/bitnami/postgresql, other:/backups'],
  ['mysql', 'data:/var/lib/mysql, other:/etc/mysql/conf.d', mysqlRoot],
  ['mariadb', 'data:/var/lib, other:/backups', mysqlRoot],
  ['mariadb', 'data:/m, other:/backups', `command: --datadir=/m, ${mysqlRoot}`],
  ['mongo', 'data:/data/db, config:/data/configdb, other:/data/backups'],
  ['mongo', 'data:/m, other:/backups', 'command: --dbpath /m'],
  ['redis', 'data:/data, other:/etc/redis'],
  ['valkey/valkey', 'data:/v, other:/etc/valkey', 'command: valkey-server --dir /v'],
  // nothing says where the data is
  ['lscr.io/linuxserver/mariadb', 'data:/config, config:/elsewhere, other:/certs:ro', mysqlRoot],
]

test.each(
  databases.map(([image, volumes, more = 'init: true']) => [image, volumes, more] as const),
)(
  'of a database of %s with %s all volumes but those with its data are stored as files',
  (image, volumes, more) => {
    const components = compose(`
services:
  db: { image: ${image}, ${more}, volumes: [${volumes.replaceAll(/[a-z]+:[^,]+/g, '"$&"')}] }
volumes: { data: {}, config: {}, other: {} }
`)
    for (const backup of [
      null,
      { databases: { db: engineOf(image)! }, without: [], queries: {} },
    ]) {
      const recipe = recipeOf({ id: 'x', components, backup })
      expect(recipe.databases).toHaveLength(1)
      expect(recipe.volumes).toEqual(['davit-x-other'])
      const dumped = volumes.includes('config:') ? ['data', 'config'] : ['data']
      expect(recipe.dumped).toEqual(dumped.map((name) => `davit-x-${name}`))
    }
  },
)

test('what the image of a database declares, and its file doesn’t mount, is taken for its data', () => {
  const file = readCompose(
    'services: { db: { image: bitnami/postgresql, volumes: ["other:/certs"] } }\nvolumes: { other: {} }',
    {
      file: 'compose.yaml',
    },
  )
  const image = { volumes: ['/bitnami/postgresql', '/docker-entrypoint-initdb.d'] }
  const { services } = stackOf(file, samplesOf(file))
  const components = withImageVolumes(
    plan(file).map((component) => ({ ...component, image }) as never),
    { id: 'x', services },
  ) as never as Component[]
  const { volumes, dumped } = recipeOf({ id: 'x', components, backup: null })
  expect([volumes, dumped.length]).toEqual([['davit-x-other'], 2])
})

test('an image of a private registry or with another name is recognised, too', () => {
  const component = (image: string) =>
    ({
      name: 'db',
      options: { image, env: { MYSQL_ROOT_PASSWORD: 'x' }, volumes: [{ name: 'v', path: '/v' }] },
      files: [],
    }) as never as Component
  const engines = (image: string, images = new Map<string, string>()) =>
    recipeOf({ id: 'x', components: [component(image)], backup: null, images }).databases.map(
      ({ engine }) => engine,
    )
  expect(
    engines(`davit.invalid/${'a'.repeat(32)}/registry.example.com__5000/team/postgres:17`),
  ).toEqual(['postgresql'])
  expect(engines('docker.io/library/postgres:17.11@sha256:' + '0'.repeat(64))).toEqual([
    'postgresql',
  ])
  expect(engines('davit/x:y', new Map([['db', 'mariadb:11']]))).toEqual(['mysql'])
  expect(engines('ada/not-postgres-at-all')).toEqual([])
  expect(engines('ada/mypostgres')).toEqual([])
})

test('the images of an environment with a Compose file are known by the names in it', () => {
  const { db } = newDatabases()
  const of = (image: string, reference: string | null) => ({ image, key: image, reference })
  insertStack(db, {
    ...{ image: 'davit/x:y', file: 'compose.yaml', texts: {} },
    services: { web: of('davit/x:y', null), db: of('davit/x:y.db', 'postgres:17') },
  })
  const components = ['davit/x:y', 'davit/x:y.db', 'redis:7'].map(
    (image, index) => ({ name: ['web', 'db', 'cache'][index], options: { image } }) as Component,
  )
  expect([...renamedImages(db, components)]).toEqual([['db', 'postgres:17']])
})

const contents = (version: string, engine: Contents['engine'] = 'postgresql'): Contents => ({
  ...{ component: 'db', engine, version },
  databases: [
    {
      name: 'app',
      file: 'db/app.dump',
      tables: [{ name: 'public.a', rows: 2 }],
      extensions: ['x'],
    },
  ],
  roles: { file: 'db/roles.sql', names: ['ada'] },
})

test('a newer major version is refused before anything is touched, and another engine', () => {
  const code = (...[from, to]: [Contents, Contents]) => {
    try {
      refuseNewer(from, to)
    } catch (error) {
      return (error as { code: string }).code
    }
    return undefined
  }
  expect(code(contents('17.2'), contents('17.0'))).toBeUndefined()
  expect(code(contents('15.14'), contents('17.11'))).toBeUndefined()
  expect(code(contents('18beta1'), contents('17.11'))).toBe('load_version')
  expect(code(contents('9.6.1'), contents('9.5.9'))).toBe('load_version')
  expect(code(contents('8.4.11', 'mysql'), contents('8.0.40', 'mysql'))).toBe('load_version')
  expect(code(contents('11.8.8-MariaDB', 'mysql'), contents('8.4.1', 'mysql'))).toBe('load_engine')
  expect(code(contents('8', 'redis'), contents('8'))).toBe('load_engine')
})

test('what differs after a restore is found: rows, tables, databases, extensions and roles', () => {
  const wanted = contents('17')
  const but = (change: (copy: Contents) => unknown) => {
    const copy = structuredClone(wanted)
    change(copy)
    return differenceOf(wanted, copy)
  }
  expect(but(() => {})).toBeNull()
  expect(but((c) => c.databases.push({ name: 'other', file: '', tables: [] }))).toBeNull()
  expect(but((c) => c.roles!.names.push('bob'))).toBeNull()
  expect(but((c) => (c.databases[0]!.tables[0]!.rows = 1))).toContain('1 rows in place of 2')
  expect(but((c) => (c.databases[0]!.tables[0]!.rows = 3))).toContain('3 rows')
  expect(but((c) => (c.databases[0]!.tables = []))).toContain('public.a')
  expect(but((c) => c.databases[0]!.tables.push({ name: 'b', rows: 0 }))).toContain('2 tables')
  expect(but((c) => (c.databases = []))).toContain('app')
  expect(but((c) => (c.databases[0]!.extensions = []))).toContain('extension x')
  expect(but((c) => (c.roles!.names = []))).toContain('role ada')
})
