import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DavitClient } from '../demo/client.ts'
import { aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { freePort } from '../support/free-port.ts'
import { watch } from '../faults/watch.ts'
import type { Deployment } from '../faults/watch.ts'
import type { Files } from '../support/git-server.ts'
import { bunImage, ensureBunImage } from '../support/images/bun.ts'
import type { Installation } from '../support/installation.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { gitExample } from '../support/tls.ts'
import { until } from '../support/until.ts'
import type { Place } from './place.ts'

export type Site = Awaited<ReturnType<typeof aSite>>

/** What an installation with an edge of its own needs beside the usual: its settings, and where it listens. */
export async function anEdgeOfItsOwn() {
  await ensureEdgeImages({ say: console.error })
  await ensureBunImage({ say: console.error })
  const [http, https] = [freePort(), freePort()]
  const settings = { DAVIT_EDGE: 'caddy', DAVIT_EDGE_PORTS: `${http},${https}` }
  return { http, https, settings }
}

const hosts = { plainHost: 'app.test', secureHost: 'git.example' }

const sources = Object.fromEntries(
  ['app.ts', 'bytes.ts'].map((name) => [name, readFileSync(join(import.meta.dir, name), 'utf8')]),
)

/** The app of test/load, as a version of it is committed; with other lines in its environment. */
const filesOf = (version: string, env: Record<string, string> = {}): Files => ({
  ...sources,
  Dockerfile: [
    `FROM ${bunImage}`,
    'COPY app.ts bytes.ts /app/',
    ...Object.entries({ APP_VERSION: version, ...env }).map((pair) => `ENV ${pair.join('=')}`),
    'EXPOSE 8080',
    'CMD ["bun", "/app/app.ts"]',
  ].join('\n'),
})

/** An app that runs behind the edge at two hosts, one of them with HTTPS. */
export async function aSite(
  davit: Installation,
  {
    client,
    ports: { http, https },
    address = '127.0.0.1',
    replicas = 1,
  }: {
    client: DavitClient
    ports: { http: number; https: number }
    address?: string
    replicas?: number
  },
) {
  const repository = aRepository(davit.directory, filesOf('v0'), 'load.git')
  const site = { name: 'load', repositoryUrl: repository.url }
  const { id } = await client.post<{ id: string }>('/projects', site)
  const list = await client.get<{ items: { id: string }[] }>(`/projects/${id}/envs`)
  const environmentId = list.items[0]!.id
  const { cert: certificate, key } = gitExample
  const domains = `/envs/${environmentId}/domains`
  await client.post(domains, { host: hosts.plainHost, https: 'off' })
  await client.post(domains, { host: hosts.secureHost, https: 'own', certificate, key })
  const processes = [{ name: 'web', replicas }]
  await client.put(`/projects/${id}/envs/${environmentId}`, {
    ...{ healthPath: '/health', healthTimeout: 20, processes },
  })
  const place: Place = { address, http, https, ...hosts, ca: certificate }
  const trigger = (client: DavitClient) => client.post<Deployment>(`/projects/${id}/deployments`)
  const first = await ended(client, await trigger(client))
  if (first.status !== 'running') throw new Error(`The first deployment is ${first.status}.`)
  await until(() => answers(place, { version: 'v0' }))
  let version = 0

  return {
    environmentId,
    /** Of the environment. */
    path: `/projects/${id}/envs/${environmentId}`,
    place,
    first,
    /** The version that serves, as far as the test knows. */
    live: 'v0',
    /** Commits the next version, with these lines in its environment; answers what it is called. */
    commit(env: Record<string, string> = {}) {
      const name = `v${++version}`
      repository.commit(filesOf(name, env))
      return name
    },
    trigger,
    rollBack: (client: DavitClient, to: Deployment) =>
      client.post<Deployment>(`${pathOf(to)}/rollback`),
  }
}

/** A deployment as it ended. */
export async function ended(client: DavitClient, deployment: Deployment) {
  await watch(client, deployment).ended
  return client.get<Deployment & { error: { code: string } | null }>(pathOf(deployment))
}

/** Whether a version answers at a host, by default at the site's. */
export async function answers(
  { address, http, plainHost }: Place,
  { version, host = plainHost }: { version: string; host?: string },
) {
  const response = await fetch(`http://${address}:${http}/health`, {
    headers: { Host: host },
    keepalive: false,
    signal: AbortSignal.timeout(2000),
  }).catch(() => null)
  return response?.ok === true && (await response.text()) === version
}

/** Whether a request of a visitor is answered by that instance; it is one of several that may. */
export async function isAnsweredBy({ address, http, plainHost }: Place, instance: string) {
  const response = await fetch(`http://${address}:${http}/item?seed=1&length=1`, {
    headers: { Host: plainHost },
    keepalive: false,
    signal: AbortSignal.timeout(2000),
  }).catch(() => null)
  return response?.ok === true && response.headers.get('X-Instance') === instance
}
