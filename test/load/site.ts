import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DavitClient } from '../demo/client.ts'
import { aProject } from '../faults/project.ts'
import type { Ended } from '../faults/project.ts'
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
import type { Place } from './http1.ts'

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
    ports: { http, https },
    address = '127.0.0.1',
    replicas = 1,
  }: { ports: { http: number; https: number }; address?: string; replicas?: number },
) {
  const project = await aProject(davit, filesOf('v0'), { name: 'load' })
  const { cert: certificate, key } = gitExample
  const domains = `/envs/${project.environmentId}/domains`
  await davit.client.post(domains, { host: hosts.plainHost, https: 'off' })
  await davit.client.post(domains, { host: hosts.secureHost, https: 'own', certificate, key })
  // replicas only where no port of the server leads to them
  await davit.client.put(project.path, {
    ...{ healthPath: '/health', healthTimeout: 20, processes: [{ name: 'web', replicas }] },
  })
  const place: Place = { address, http, https, ...hosts, ca: certificate }
  const first = await project.deploy()
  if (first.status !== 'running') throw new Error(`The first deployment is ${first.status}.`)
  await until(() => answers(place, { version: 'v0' }))
  let version = 0

  return {
    environmentId: project.environmentId,
    /** Of the environment. */
    path: project.path,
    place,
    first,
    /** The version that serves, as far as the test knows. */
    live: 'v0',
    /** Commits the next version, with these lines in its environment; answers what it is called. */
    commit(env: Record<string, string> = {}) {
      const name = `v${++version}`
      project.commit(filesOf(name, env))
      return name
    },
    trigger: (client: DavitClient, asked: Record<string, unknown> = {}) =>
      client.post<Deployment>(`/projects/${project.id}/deployments`, asked),
    rollBack: (client: DavitClient, to: Deployment) =>
      client.post<Deployment>(`${pathOf(to)}/rollback`),
  }
}

/** A deployment as it ended. */
export async function ended(client: DavitClient, deployment: Deployment) {
  await watch(client, deployment).ended
  return client.get<Ended>(pathOf(deployment))
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

/** The status of a request that no one sends twice; 0 when it breaks off. */
export const post = ({ address, http, plainHost }: Place, path: string) =>
  fetch(`http://${address}:${http}${path}`, { method: 'POST', headers: { Host: plainHost } }).then(
    ({ status }) => status,
    () => 0,
  )
