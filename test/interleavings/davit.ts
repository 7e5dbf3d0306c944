import { createApp } from '../../src/app.tsx'
import { assemble } from '../../src/assemble.ts'
import { parseConfig } from '../../src/config.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import * as logSchema from '../../src/db/log-schema.ts'
import { ReservedDatabase } from '../../src/db/reserved-database.ts'
import * as schema from '../../src/db/schema.ts'
import type { Deps } from '../../src/deps.ts'
import type { Git } from '../../src/git/git.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { resume } from '../../src/serve.ts'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { insertUser } from '../../src/accounts/store.ts'
import { TestClient } from '../support/client.ts'
import { fakeDocker } from './engine/docker.ts'
import type { Builder } from './engine/docker.ts'
import { FakeEngine } from './engine/engine.ts'
import type { Inventory } from './engine/objects.ts'
import { Connection } from './schedule.ts'
import type { Schedule } from './schedule.ts'
import { world } from './world.ts'

const config = parseConfig({
  DAVIT_DATA_DIR: '/nowhere',
  DAVIT_ALLOW_LOCAL_REPOS: '1',
  DAVIT_RATE_LIMIT: '100000',
  DAVIT_RATE_BURST: '100000',
  DAVIT_SETTLE_TIME: '1',
})

const secrets = new Secrets('a secret of the tests, 32 bytes long')

/** What is on disk. */
type Files = { db: Uint8Array; logDb: Uint8Array }

/** An installation while Davit doesn't run. */
export type Snapshot = { files: Files; engine: Inventory | null }

/** Databases with one user and nothing else. */
const first: Files & { user: { id: string; email: string } } = (() => {
  const db = openDatabase(':memory:')
  const values = {
    email: 'ada@example.com',
    name: null,
    passwordHash: null,
    role: 'admin',
  } as const
  const user = insertUser(db, values)
  const logDb = openLogDatabase(':memory:')
  return { db: db.$client.serialize(), logDb: logDb.$client.serialize(), user }
})()

function open<Schema extends Record<string, unknown>>(bytes: Uint8Array, schema: Schema) {
  const file = new ReservedDatabase(bytes as never, { strict: true })
  file.run('PRAGMA foreign_keys = ON')
  return drizzle(file, { schema, casing: 'snake_case' })
}

/** An engine, and the Davit that runs beside it at this time. */
export class Installation {
  readonly engine: FakeEngine
  readonly #schedule: Schedule
  readonly #build: Builder
  #connection!: Connection
  #stop!: AbortController
  #background: Promise<unknown>[] = []
  deps!: Deps
  #client: TestClient | undefined
  /** How often Davit was started. */
  starts = 0
  /** Requests without an answer so far. */
  pending = 0

  constructor(schedule: Schedule, build: Builder, from: Snapshot = { files: first, engine: null }) {
    this.#schedule = schedule
    this.engine = new FakeEngine(schedule, from.engine)
    this.#build = build
    this.#start(from.files)
  }

  /** What the next installation can begin with. */
  snapshot = (): Snapshot => ({ files: this.#files(), engine: this.engine.snapshot() })

  /** A user of the Davit that runs. */
  get client() {
    return (this.#client ??= new TestClient(this.deps, createApp(this.deps), first.user))
  }

  #start(files: Files) {
    this.#connection = new Connection(this.#schedule)
    this.#stop = new AbortController()
    const { signal } = this.#stop
    const deps = assemble(config, {
      secrets,
      setupCode: null,
      db: open(files.db, schema) as Deps['db'],
      logDb: open(files.logDb, logSchema) as Deps['logDb'],
      docker: fakeDocker(this.engine, this.#connection, this.#build),
      git: gitOver(this.#connection),
    })
    this.deps = deps
    this.#client = undefined
    this.#background = resume(deps, { signal }).map((work) =>
      work.catch((error) => world.journal.push(`background work failed: ${Bun.inspect(error)}`)),
    )
  }

  /** As `kill -9` and a start: what is stored stays, and what the engine was asked for may still be done. */
  async kill() {
    const files = this.#files()
    this.#forget()
    const { now, journal } = { now: world.now, journal: [...world.journal] }
    void this.#letGo()
    // what is left of it runs out, without effect: it may hold locks that the next one shares
    for (let i = 0; i < 300 && world.nextTimer < now + 120_000; i++) {
      world.fireNext()
      await world.settle()
    }
    world.forgetTimers()
    Object.assign(world, { now, journal })
    this.#start(files)
  }

  /** As SIGTERM and a start: resolves when the next one runs. */
  async restart() {
    await this.#letGo()
    const files = this.#files()
    this.#forget()
    await world.settle()
    world.forgetTimers()
    this.#start(files)
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
    return Promise.all([this.deps.jobs.stop(), ...this.#background])
  }

  #files = (): Files => ({
    db: this.deps.db.$client.serialize(),
    logDb: this.deps.logDb.$client.serialize(),
  })

  /** The engine's connections break, as when it is stopped. */
  breakConnections() {
    this.#connection.breakWaits()
  }

  /** Rows of the database, for who chooses what to do next. */
  rows = <Row>(sql: string) => this.deps.db.$client.query<Row, []>(sql).all()
}

/** A git whose repositories have one commit. */
function gitOver(connection: Connection): Git {
  const commit = { hash: 'c0ffee'.padEnd(40, '0'), author: 'Ada', message: 'A change' }
  return {
    fetch: ({ url, branch, signal }) =>
      connection.turn('git fetch', { signal }, () => ({
        ...{ mirror: '/nowhere', url, commit },
        branch: branch ?? 'main',
      })),
    listBranches: async () => ({ head: 'main', branches: [{ name: 'main', commit: commit.hash }] }),
    context: async ({ mirror }) => ({
      ...{ mirror, tree: commit.hash, alternates: [], dockerfile: 'Dockerfile', files: 1 },
      spareName: 'Dockerfile.other',
    }),
    readDockerfile: async () => 'FROM busybox\n',
    archive: () => new ReadableStream({ start: (controller) => controller.close() }),
    removeMirror: async () => false,
  }
}
