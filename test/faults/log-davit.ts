import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathOf } from '../deployments/events.ts'
import type { Key } from '../deployments/events.ts'
import { freePort } from '../support/free-port.ts'
import { account, anInstallation } from '../support/installation.ts'
import type { Launch } from '../support/installation.ts'
import { aProject } from './project.ts'

export type LogDavit = Awaited<ReturnType<typeof startLogDavit>>

/**
 * A Davit that builds with the classic builder, which clips no output, with a project in it. It can be killed
 * and started again at the same address.
 */
export async function startLogDavit({
  command,
  builder = 'classic',
}: Launch & { builder?: string } = {}) {
  const temporary = mkdtempSync(join(tmpdir(), 'davit-log-'))
  const davit = anInstallation(
    { command },
    {
      DAVIT_PORT: String(freePort()),
      DAVIT_BUILDER: builder,
      DAVIT_STREAMS_PER_USER: '100000',
      TMPDIR: temporary,
    },
  )
  const { url, client } = await davit.start()
  const made = { name: 'log', scopes: ['read'], currentPassword: account.password }
  const { token } = await client.post<{ token: string }>('/settings/tokens', made)
  const project = await aProject(davit, { Dockerfile: 'FROM busybox\n' })

  return {
    url,
    projectId: project.id,
    /** Where it has its temporary files. */
    temporary,
    /** Shows who reads. */
    authorization: `Bearer ${token}`,
    get client() {
      return davit.client
    },
    get pid() {
      return davit.pid()
    },
    /** Deploys a Dockerfile; answers the path of the deployment. */
    async deploy(dockerfile: string) {
      project.commit({ Dockerfile: dockerfile })
      return pathOf(await davit.client.post<Key>(`/projects/${project.id}/deployments`))
    },
    /** All lines that are stored. */
    stored: (path: string) => davit.lines({ id: path.split('/').at(-1)! }),
    /** As a crash does it; whoever reads has to come back. */
    async kill() {
      await davit.kill()
      await davit.start()
    },
    async remove() {
      await davit.leave()
      rmSync(temporary, { recursive: true, force: true })
    },
  }
}

/** A Dockerfile whose build runs the script, whatever the engine has in its cache, and then fails. */
export const failingBuild = (script: string) =>
  `FROM busybox\nRUN ${script}; exit 1 # ${Bun.randomUUIDv7()}\n`
