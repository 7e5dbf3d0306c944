import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'

export type LogDavit = Awaited<ReturnType<typeof startLogDavit>>

type Page = { items: { seq: number; stream: string; text: string }[]; nextCursor: string | null }

/**
 * A Davit as a process of its own that builds with the classic builder, which clips no output, with a
 * project in it. It can be killed and started again at the same address.
 */
export async function startLogDavit({
  command,
  builder = 'classic',
}: { command?: string[]; builder?: string } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'davit-log-'))
  const repository = makeRepository(directory, 'app.git')
  commitFiles(repository, { Dockerfile: 'FROM busybox\n' })
  const env = {
    DAVIT_DATA_DIR: join(directory, 'data'),
    TMPDIR: join(directory, 'tmp'),
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_BUILDER: builder,
    DAVIT_STREAMS_PER_USER: '100000',
    DAVIT_RATE_LIMIT: '1000000',
    DAVIT_RATE_BURST: '1000000',
  }
  mkdirSync(env.TMPDIR)
  const start = (port: string) =>
    startDavit({ directory, env: { ...env, DAVIT_PORT: port }, ...(command && { command }) })
  let davit = await start('0')
  const { url } = davit
  const client = new DavitClient({ url, signal: AbortSignal.timeout(3_600_000) })
  const password = Bun.randomUUIDv7()
  await client.enter('/auth/register', { email: 'log@example.com', password })
  const made = { name: 'log', scopes: ['read'], currentPassword: password }
  const { token } = await client.post<{ token: string }>('/settings/tokens', made)
  const values = { name: 'log', repositoryUrl: `file://${repository}` }
  const project = await client.post<{ id: string }>('/projects', values)

  return {
    url,
    client,
    projectId: project.id,
    /** Where it has its temporary files. */
    temporary: env.TMPDIR,
    /** Shows who reads. */
    authorization: `Bearer ${token}`,
    get pid() {
      return davit.pid
    },
    /** Deploys a Dockerfile; answers the path of the deployment. */
    async deploy(dockerfile: string) {
      commitFiles(repository, { Dockerfile: dockerfile })
      const path = `/projects/${project.id}/deployments`
      const { id } = await client.post<{ id: string }>(path)
      return `${path}/${id}`
    },
    /** All lines that are stored. */
    async stored(path: string) {
      const items: Page['items'] = []
      for (let cursor: string | null = '0'; cursor !== null;) {
        const page: Page = await client.get(`${path}/logs?limit=10000&cursor=${cursor}`)
        items.push(...page.items)
        cursor = page.nextCursor
      }
      return items
    },
    /** As a crash does it; whoever reads has to come back. */
    async kill() {
      process.kill(davit.pid, 'SIGKILL')
      await davit.exited
      davit = await start(new URL(url).port)
    },
    async remove() {
      await client.delete(`/projects/${project.id}`).catch(() => {})
      await davit.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A Dockerfile whose build runs the script, whatever the engine has in its cache, and then fails. */
export const failingBuild = (script: string) =>
  `FROM busybox\nRUN ${script}; exit 1 # ${Bun.randomUUIDv7()}\n`
