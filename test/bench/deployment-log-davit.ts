import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'

/** A Davit that builds with the classic builder, which clips no output, and a project in it. */
export async function startLogBench(directory: string, executable: string[]) {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  const repository = makeRepository(fresh, 'app.git')
  const env = {
    DAVIT_DATA_DIR: join(fresh, 'data'),
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_BUILDER: 'classic',
    DAVIT_STREAMS_PER_USER: '100000',
    DAVIT_RATE_LIMIT: '1000000',
    DAVIT_RATE_BURST: '1000000',
  }
  const davit = await startDavit({ directory: fresh, command: executable, env })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(900_000) })
  await client.get('/health') // brings the cookie with the CSRF token
  await client.post('/auth/register', { email: 'bench@example.com', password: Bun.randomUUIDv7() })
  const made = { name: 'bench', scopes: ['read'] }
  const { token } = await client.post<{ token: string }>('/settings/tokens', made)
  commitFiles(repository, { Dockerfile: 'FROM busybox\n' })
  const project = await client.post<{ id: string }>('/projects', {
    name: 'bench',
    repositoryUrl: `file://${repository}`,
  })
  return {
    pid: davit.pid,
    /** Shows who reads. */
    header: `Authorization: Bearer ${token}`,
    /** Deploys the Dockerfile; answers the address of the deployment. */
    async deploy(dockerfile: string) {
      commitFiles(repository, { Dockerfile: dockerfile })
      const path = `/projects/${project.id}/deployments`
      const { id } = await client.post<{ id: string }>(path)
      return `${davit.url}${path}/${id}`
    },
    cancel: (address: string) => client.post(`${new URL(address).pathname}/cancel`),
    stop: davit.stop,
  }
}

/** A Dockerfile whose build runs the script, whatever the engine has in its cache, and then fails. */
export const failingBuild = (script: string) =>
  `FROM busybox\nRUN ${script}; exit 1 # ${Bun.randomUUIDv7()}\n`
