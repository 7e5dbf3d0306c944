import { assemble } from '../../src/assemble.ts'
import { backupFirst } from '../../src/backups/backup-first.ts'
import { backupsRoutes } from '../../src/backups/routes.tsx'
import { pruneRoutes } from '../../src/containers/clean-up/routes.tsx'
import { containerRoutes } from '../../src/containers/routes.tsx'
import { parseConfig } from '../../src/config.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import * as logSchema from '../../src/db/log-schema.ts'
import { ReservedDatabase } from '../../src/db/reserved-database.ts'
import * as schema from '../../src/db/schema.ts'
import type { Deps } from '../../src/assemble.ts'
import { newProjectRoutes } from '../../src/deployments/new-project-routes.tsx'
import { deploymentRoutes } from '../../src/deployments/routes.tsx'
import { projectMap } from '../../src/map/routes.tsx'
import { actRoutes } from '../../src/apps/act-routes.tsx'
import { environmentRoutes } from '../../src/apps/routes.tsx'
import { variableRoutes } from '../../src/environments/variable-routes.tsx'
import type { Git } from '../../src/git/git.ts'
import { findStack } from '../../src/deployments/stack/find.ts'
import { projectRoutes } from '../../src/projects/routes.tsx'
import { Secrets } from '../../src/platform/secrets.ts'
import { resume } from '../../src/serve.ts'
import { freeze } from '../../src/deployments/freezes.tsx'
import { keepFreezes } from '../../src/deployments/keep-freezes.ts'
import { resourceRoutes } from '../../src/resources/routes.tsx'
import { givenVariables } from '../../src/links/given.ts'
import { runRoutes } from '../../src/runs/routes.tsx'
import { server } from '../../src/servers/server.tsx'
import { serviceRoutes } from '../../src/services/routes.tsx'
import { answerError } from '../../src/web/failures.tsx'
import type { Env } from '../../src/web/factory.ts'
import { Hono } from 'hono'
import { LinearRouter } from 'hono/router/linear-router'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { insertUser } from '../../src/accounts/store.ts'
import { SimulatedRestic } from '../backups/simulated-restic.ts'
import { fakeDocker } from './engine/docker.ts'
import type { Builder } from './engine/docker.ts'
import { FakeEngine } from './engine/engine.ts'
import { isReached, leadBy } from './edge.ts'
import type { Led } from './edge.ts'
import type { Inventory } from './engine/objects.ts'
import { noServers } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { Connection } from './schedule.ts'
import type { Schedule } from './schedule.ts'
import { world } from './world.ts'

const config = parseConfig({
  DAVIT_DATA_DIR: '/dev/null/nowhere', // nothing can be written there
  DAVIT_EDGE: 'direct',
  DAVIT_ALLOW_LOCAL_REPOS: '1',
  DAVIT_RATE_LIMIT: '100000',
  DAVIT_RATE_BURST: '100000',
  DAVIT_SETTLE_TIME: '1',
})

export const secrets = new Secrets('a secret of the tests, 32 bytes long')

/** An installation while Davit doesn't run. */
export type Snapshot = { disk: Disk; engine: Inventory | null }

/** Databases with one user and nothing else. */
const first = (() => {
  const db = openDatabase(':memory:')
  const values = {
    email: 'ada@example.com',
    name: null,
    passwordHash: null,
    role: 'admin',
  } as const
  const user = insertUser(db, values)
  openInstallation(db, secrets)
  const logDb = openLogDatabase(':memory:')
  return { db: db.$client.serialize(), logDb: logDb.$client.serialize(), user }
})()

/** What is stored, whose changes can be taken back: to open databases anew takes longer than an order. */
export class Disk {
  readonly db = open(first.db, schema) as Deps['db']
  readonly logDb = open(first.logDb, logSchema) as Deps['logDb']

  /** What it answers takes back all that was stored since. Of two the later one comes first. */
  remember() {
    const run = (sql: string) => [this.db, this.logDb].map(({ $client }) => $client.run(sql))
    run('SAVEPOINT remembered')
    return () => {
      run('ROLLBACK TO remembered')
      run('RELEASE remembered')
    }
  }
}

function open<Schema extends Record<string, unknown>>(bytes: Uint8Array, schema: Schema) {
  const file = new ReservedDatabase(bytes as never, { strict: true })
  file.run('PRAGMA foreign_keys = ON')
  return drizzle(file, { schema, casing: 'snake_case' })
}

type Options = {
  hasEdge?: boolean
  /** Other servers, beside that of the engine. */
  withServers?: (schedule: Schedule, engine: FakeEngine) => Fleet
}

/** An engine, and the Davit that runs beside it at this time. */
export class Installation {
  readonly engine: FakeEngine
  readonly restic = new SimulatedRestic()
  readonly #disk: Disk
  readonly #schedule: Schedule
  readonly #build: Builder
  #connection!: Connection
  #stop!: AbortController
  #background: Promise<unknown>[] = []
  deps!: Deps
  /** Null where apps are reached by their own ports. */
  readonly led: Led | null
  readonly #servers: Fleet | undefined
  #app: ReturnType<typeof routesOf> | undefined
  /** How often Davit was started. */
  starts = 0
  /** Requests without an answer so far. */
  pending = 0

  constructor(
    schedule: Schedule,
    build: Builder,
    { disk, engine }: Snapshot = { disk: new Disk(), engine: null },
    { hasEdge = false, withServers }: Options = {},
  ) {
    this.#schedule = schedule
    this.engine = new FakeEngine(schedule, engine)
    this.#build = build
    this.#disk = disk
    this.led = hasEdge ? new Map() : null
    this.#servers = withServers?.(schedule, this.engine)
    world.isReached = (address) => isReached(this.engine, address) || this.#isThere(address)
    this.#start()
  }

  #isThere = (address: string) => this.#servers?.isReached(address) ?? false

  /** What the next installation can begin with. */
  snapshot = (): Snapshot => ({ disk: this.#disk, engine: this.engine.snapshot() })

  /** What the Davit that runs answers to its user. */
  async send(method: string, path: string, body: object) {
    this.#app ??= routesOf(this.deps)
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
    return this.#app.request(path, { method, headers, body: JSON.stringify(body) })
  }

  #start() {
    this.#connection = new Connection(this.#schedule)
    this.#stop = new AbortController()
    const { signal } = this.#stop
    const { db, logDb } = this.#disk
    const docker = fakeDocker(this.engine, this.#connection, this.#build)
    const git = gitOver(this.#connection)
    const connection = this.#connection
    const openRestic = this.restic.opener((...turn) => connection.turn(...turn))
    const outside = { docker, git, openRestic, ...this.#servers?.connect(connection, docker) }
    const deps = assemble(config, { secrets, setupCode: null, db, logDb, ...outside })
    this.deps = deps
    deps.watched.setCountedUntil(Infinity) // there are no requests
    const { led } = this
    if (led) leadBy(led, deps, { connection: this.#connection, schedule: this.#schedule })
    this.#app = undefined
    this.#background = [...resume(deps, { signal }), keepFreezes(deps, { signal })].map((work) =>
      work.catch((error) => world.journal.push(`background work failed: ${Bun.inspect(error)}`)),
    )
  }

  /** As `kill -9` and a start: what is stored stays, and what the engine was asked for may still be done. */
  async kill() {
    const takeBack = this.#disk.remember()
    this.#forget()
    const { now, journal } = { now: world.now, journal: [...world.journal] }
    void this.#letGo()
    // what is left of it runs out, without effect: it may hold locks that the next one shares
    await world.settle()
    for (let i = 0; i < 300 && world.nextTimer < now + 120_000; i++) {
      world.fireNext()
      await world.settle()
    }
    world.forgetTimers()
    takeBack()
    Object.assign(world, { now, journal })
    this.#start()
  }

  /** As SIGTERM and a start: resolves when the next one runs. */
  async restart() {
    await this.#letGo()
    const takeBack = this.#disk.remember()
    this.#forget()
    await world.settle()
    world.forgetTimers()
    takeBack()
    this.#start()
  }

  /** Nothing that this one still does or answers counts. */
  #forget() {
    this.starts++
    this.pending = 0
    this.#schedule.cut(this.#connection)
  }

  #letGo() {
    this.#stop.abort()
    this.deps.streams.endAll()
    const { jobs, instanceTasks, watches } = this.deps
    return Promise.all([jobs.stop(), instanceTasks.stop(), watches.stop(), ...this.#background])
  }

  /** The engine's connections break, as when it is stopped. */
  breakConnections() {
    this.#connection.breakWaits()
  }

  /** Rows of the database, for who chooses what to do next. */
  rows = <Row>(sql: string) => this.deps.db.$client.query<Row, []>(sql).all()
}

/** The routes that the actions ask, for the one user; what stands before them has tests of its own. */
function routesOf(deps: Deps) {
  const app = new Hono<Env>({ router: new LinearRouter() }) // the usual one takes long to be made
  app.onError(answerError)
  app.use((c, next) => {
    const { id, email } = first.user
    c.set('user', { id, email, name: null, role: 'admin' })
    return next()
  })
  const slices = [
    newProjectRoutes,
    (deps: Deps) => projectRoutes(deps, findStack),
    (deps: Deps) => deploymentRoutes(deps, projectMap(deps)),
    environmentRoutes,
    (deps: Deps) => resourceRoutes(deps, freeze),
    actRoutes,
    (deps: Deps) => variableRoutes(deps, givenVariables(deps)),
    (deps: Deps) => serviceRoutes(deps, backupFirst(deps)),
    runRoutes,
    containerRoutes,
    backupsRoutes,
    pruneRoutes,
    (deps: Deps) => resourceRoutes({ ...deps, ...noServers }, server),
  ]
  for (const routes of slices) app.route('/', routes(deps))
  return app
}

export const composeFile = 'compose.yaml'

const compose = `services:
  web: {build: ., depends_on: [db]}
  worker: {build: worker}
  db: {image: "postgres:17", volumes: ["data:/var/lib/postgresql/data"]}
volumes: {data: {}}`

/** A git whose repositories have one commit; at the root a build sees other files each time. */
function gitOver(connection: Connection): Git {
  const commit = { hash: 'c0ffee'.padEnd(40, '0'), author: 'Ada', message: 'A change' }
  return {
    fetch: ({ url, branch, signal }) =>
      connection.turn('git fetch', { signal }, () => ({
        ...{ mirror: '/nowhere', url, commit, hasHistory: false, refType: null },
        branch: branch ?? 'main',
      })),
    importUpload: async () => ({ commit: commit.hash, files: 1, bytes: 1 }),
    listBranches: async () => ({ head: 'main', branches: [{ name: 'main', commit: commit.hash }] }),
    listRefs: async () => `${commit.hash}\trefs/heads/main\n`,
    pathsOf: async () => null,
    directory: async () => ({
      paths: [composeFile],
      read: async () => compose,
      readAll: async () => new Map(),
      follow: async (path) => path,
    }),
    readTip: async () => ({ dockerfiles: ['Dockerfile'], composeFiles: [], files: null }),
    context: async ({ mirror }, { contextDir }) => ({
      ...{ mirror, tree: commit.hash, alternates: [], dockerfile: 'Dockerfile', files: 1 },
      ...{ spareName: 'Dockerfile.other', shows: null },
      ...{
        procfile: null,
        planned: null,
        digest: contextDir === '.' ? String(world.now) : contextDir,
      },
    }),
    readDockerfile: async () => 'FROM busybox\n',
    archive: async () => new ReadableStream({ start: (controller) => controller.close() }),
    removeMirror: async () => false,
  }
}
