import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { startDavit } from '../support/davit.ts'
import type { DavitProcess } from '../support/davit.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'

export type Key = { projectId: string; id: string }
export type Deployment = Key & { status: string; url: string; containerId: string | null }
export type Line = { seq: number; text: string }
export type Installation = ReturnType<typeof anInstallation>

/** How a scenario starts Davit; the bench gives the executable. */
export type Launch = { command?: string[] | undefined }

const account = { email: 'ada@example.com', password: 'a long enough password' }

/** An installation on disk whose process a scenario starts, kills and starts again. */
export function anInstallation({ command }: Launch, env: Record<string, string> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'davit-faults-'))
  const dataDir = join(directory, 'data')
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const settings = {
    DAVIT_DATA_DIR: dataDir,
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_ALLOW_HOSTS: '127.0.0.1',
    DAVIT_RATE_LIMIT: '100000',
    DAVIT_RATE_BURST: '100000',
    DAVIT_STREAMS_PER_USER: '1000',
    ...env,
  }
  let davit: DavitProcess | undefined
  let journal = ''
  let seen = 0

  return {
    directory,
    dataDir,
    docker,
    /** The process of now, and a client that is logged in. */
    async start() {
      const isNew = !existsSync(join(dataDir, 'davit.db'))
      journal += readJournal()
      rmSync(join(directory, 'davit.log'), { force: true }) // it would be written over, not cut
      davit = await startDavit({ directory, env: settings, ...(command && { command }) })
      const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(600_000) })
      await client.enter(isNew ? '/auth/register' : '/auth/login', account)
      return { ...davit, client }
    },
    async kill() {
      process.kill(davit!.pid, 'SIGKILL')
      await davit!.exited
    },
    /** Lines of Davit's own log that tell of what should not happen, since the last `newRound`. */
    errors: () =>
      (journal + readJournal()).slice(seen).match(/^\{.*"level":"error".*$|^(?!\{).+$/gm) ?? [],
    newRound() {
      seen = (journal + readJournal()).length
    },
    labels: () => {
      if (!existsSync(join(dataDir, 'davit.db'))) return ['davit.instance=none'] // it never started
      return [`davit.instance=${rows<{ id: string }>('SELECT id FROM installation')[0]!.id}`]
    },
    rows,
    /** The stored log of a deployment. */
    lines: ({ id }: Pick<Key, 'id'>) =>
      rows<Line>(
        'SELECT sequence seq, text FROM deployment_logs WHERE deployment_id = ? ORDER BY sequence',
        [id],
        'logs.db',
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

export const pathOf = ({ projectId, id }: Key) => `/projects/${projectId}/deployments/${id}`

/** Reads a deployment's log over SSE until it ends or the connection does; the lines are kept. */
export function watch(client: DavitClient, deployment: Key) {
  const seen = new Map<number, string>()
  const hopes: { met: (what: string) => boolean; resolve: () => void }[] = []
  const heard: string[] = []
  const ended = (async () => {
    const body = await client.stream(`${pathOf(deployment)}/logs?format=json`, null)
    for await (const { id, name, data } of readEvents(body)) {
      if (id !== null) seen.set(Number(id), (JSON.parse(data) as Line).text)
      const what = id === null ? `${name} ${data}` : seen.get(Number(id))!
      heard.push(what)
      for (const { met, resolve } of hopes) if (met(what)) resolve()
    }
  })().catch(() => {}) // Davit was killed
  return {
    deployment,
    seen,
    /** Its lines and events in the order of their coming, an event as `status building`. */
    events: () => heard,
    ended,
    /** Resolves when a line or an event contains the text; or at the end. */
    hears(text: string) {
      const met = (what: string) => what.includes(text)
      if (heard.some(met)) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      hopes.push({ met, resolve })
      return Promise.race([promise, ended])
    },
  }
}

export type Viewer = ReturnType<typeof watch>

/** What an app answers, or why it does not. */
export const answerOf = (url: string) =>
  fetch(url).then(
    (response) => response.text(),
    (error: Error) => error.message,
  )

/** Resolves true when it holds in time. For what no event tells. */
export async function comesTrue(seconds: number, holds: () => Promise<boolean> | boolean) {
  const end = performance.now() + seconds * 1000
  while (!(await holds())) {
    if (performance.now() > end) return false
    await Bun.sleep(50)
  }
  return true
}
