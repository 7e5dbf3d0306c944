import { insertDomain } from '../../src/addresses/store.ts'
import { certificates } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { updateEnvironment } from '../../src/environments/store.ts'
import { insertLink } from '../../src/links/store.ts'
import { adoptRelease } from '../../src/runtime/store.ts'
import { insertService } from '../../src/services/store.ts'
import type { ServiceStatus } from '../../src/services/store.ts'
import { sealValues } from '../../src/services/stored-definition.ts'
import { changeServed, spans } from '../../src/traffic/store.ts'
import { Tally } from '../../src/traffic/tally.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

type State = 'live' | 'stopped'

/** A service as its row says that it is, without containers. */
export function aService(
  t: TestApp,
  { user }: TestClient,
  {
    name,
    template = 'postgres',
    status = 'running',
  }: {
    name: string
    template?: string
    status?: ServiceStatus
  },
) {
  const id = Bun.randomUUIDv7()
  const values = sealValues(t, { id, values: new Map(), file: { variables: new Map() } })
  const compose = 'services: {data: {image: busybox}}'
  const of = { id, ownerId: user.id, name, host: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') }
  return insertService(t.db, { ...of, template, version: '', compose, status, ...values }, []).id
}

/** An environment as the database has it: its containers, by process, need not be on the engine. */
export async function anApp(
  t: TestApp,
  client: TestClient,
  {
    name,
    hosts = [],
    uses = [],
    processes = { web: ['live'] },
  }: {
    name: string
    hosts?: string[]
    uses?: string[]
    processes?: Record<string, State[]>
  },
) {
  const { json: project } = await client.post('/projects', { name, repositoryUrl })
  const [environment] = (await client.get(`/projects/${project.id}/envs`)).json.items
  const id = environment.id as string
  for (const host of hosts) aDomain(t, { environmentId: id }, host)
  for (const serviceId of uses) insertLink(t.db, { environmentId: id, serviceId, variables: {} })
  updateEnvironment(t.db, id, {
    processes: Object.entries(processes).map(([process, { length }]) => ({
      ...{ name: process, command: null, replicas: length, memoryMb: null, cpus: null },
    })),
  })
  const states = Object.values(processes).flat()
  if (states.length > 0) {
    const deployment = insertDeployment(t.db, {
      ...{ projectId: project.id, environmentId: id, repositoryUrl },
      ...{ trigger: 'manual', triggeredBy: client.user.email },
      status: states.includes('live') ? 'running' : 'stopped',
    })
    adoptRelease(t.db, {
      workload: { id, kind: 'app' },
      id: deployment.id,
      containers: Object.entries(processes).flatMap(([component, own]) =>
        own.map((state) => ({ component, containerId: Bun.randomUUIDv7(), state })),
      ),
    })
  }
  return { id, projectId: project.id as string }
}

/** A name whose DNS and certificate are well. */
export function aDomain(t: TestApp, holder: Parameters<typeof insertDomain>[1], host: string) {
  const { id } = insertDomain(t.db, holder, { host }, t)
  const notAfter = new Date(Date.now() + 80 * 86_400_000)
  const known = { dnsOk: true, dnsFound: ['192.0.2.1'], checkedAt: new Date(), notAfter }
  t.db
    .insert(certificates)
    .values({ host, status: 'issued', issuer: 'An authority', ...known })
    .run()
  return id
}

/** Has the app believe that its Caddy serves. */
export function servedByCaddy({ edge }: TestApp) {
  for (const [name, value] of Object.entries({ mode: 'caddy', isOn: true, trouble: null }))
    Object.defineProperty(edge, name, { get: () => value, configurable: true })
}

/** Requests of this minute. */
export function requested(
  { logDb }: TestApp,
  { sourceId, key }: { sourceId: string; key: string },
  { requests, failed = 0 }: { requests: number; failed?: number },
) {
  const time = (Math.floor(Date.now() / 60_000) + 1) * 60
  const { served } = new Tally()
  changeServed(logDb, { sourceId, key, span: spans.minute, time }, () => ({
    ...{ ...served, requests, status2: requests - failed, status5: failed },
  }))
}
