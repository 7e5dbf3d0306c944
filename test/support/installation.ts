import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { setupCodeIn, startDavit } from './davit.ts'
import type { DavitProcess } from './davit.ts'
import { removeFromEngine } from './remove-from-engine.ts'
import { readBlock } from '../../src/logs/block.ts'

export type Installation = ReturnType<typeof anInstallation>

/** How a scenario starts Davit; the bench gives the executable. */
export type Launch = { command?: string[] | undefined }

type Place = {
  dataDir?: string
  /** Docker as the test reaches it, where Davit does so with TLS or ssh. */
  host?: string
}

/** Of the first user. */
export const account = { email: 'ada@example.com', password: 'a long enough password' }

/** An installation on disk whose process a test starts, kills and starts again. */
export function anInstallation(
  { command, ...place }: Launch & Place = {},
  env: Record<string, string> = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'davit-installation-'))
  const dataDir = place.dataDir ?? join(directory, 'data')
  const host = place.host ?? env.DOCKER_HOST ?? process.env.DOCKER_HOST
  const docker = connectDocker({ host })
  const settings = {
    DAVIT_DATA_DIR: dataDir,
    DAVIT_EDGE: 'direct',
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_ALLOW_HOSTS: '127.0.0.1',
    DAVIT_RATE_LIMIT: '100000',
    DAVIT_RATE_BURST: '100000',
    DAVIT_STREAMS_PER_USER: '1000',
    ...env,
  }
  let davit: DavitProcess | undefined
  let client: DavitClient | undefined
  let journal = ''
  let seen = 0
  let instanceId = 'none' // until it has started

  return {
    directory,
    dataDir,
    settings,
    docker,
    get instanceId() {
      return instanceId
    },
    /** Of the process that was started last. */
    pid: () => davit!.pid,
    /** Logged in to the process that was started last. */
    get client() {
      return client!
    },
    /** The process of now, and a client that is logged in. */
    async start() {
      const isNew = !existsSync(join(dataDir, 'davit.db'))
      journal += readJournal()
      rmSync(join(directory, 'davit.log'), { force: true }) // it would be written over, not cut
      davit = await startDavit({ directory, env: settings, ...(command && { command }) })
      instanceId = rows<{ id: string }>('SELECT id FROM installation')[0]!.id
      client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(1_800_000) })
      const setupCode = setupCodeIn(dataDir)
      await client.enter(isNew ? '/auth/register' : '/auth/login', { ...account, setupCode })
      return { ...davit, client }
    },
    async kill() {
      process.kill(davit!.pid, 'SIGKILL')
      await davit!.exited
    },
    /** Asks it to end; answers its exit status. */
    stop: () => davit!.stop(),
    /** All that its processes have said of themselves. */
    journal: () => journal + readJournal(),
    /** Lines of Davit's own log that tell of what should not happen, since the last `newRound`. */
    errors: () =>
      (journal + readJournal()).slice(seen).match(/^\{.*"level":"error".*$|^(?!\{).+$/gm) ?? [],
    newRound() {
      seen = (journal + readJournal()).length
    },
    labels: () => [`davit.instance=${instanceId}`],
    rows,
    /** The stored log of a deployment. */
    lines: ({ id }: { id: string }) =>
      rows<{ first: number; data: Uint8Array }>(
        'SELECT first, data FROM output_blocks WHERE log_id = ? ORDER BY first',
        [id],
        'logs.db',
      ).flatMap(({ first, data }) =>
        readBlock({ first, data: Buffer.from(data) }).map(({ sequence, text }) => ({
          seq: sequence,
          text,
        })),
      ),
    /** Ends it and takes away all that it made. */
    async leave() {
      await davit?.stop()
      await removeFromEngine(docker, this.labels())
      rmSync(directory, { recursive: true, force: true })
    },
  }

  function readJournal() {
    const log = join(directory, 'davit.log')
    return existsSync(log) ? readFileSync(log, 'utf8') : ''
  }

  /** Asks a database beside Davit, which may be dead. */
  function rows<Row>(sql: string, values: string[] = [], file = 'davit.db') {
    using db = new Database(join(dataDir, file), { readonly: true })
    return db.query<Row, string[]>(sql).all(...values)
  }
}
