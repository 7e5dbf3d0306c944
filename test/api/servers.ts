import type { Overrides } from '../../src/assemble.ts'
import { firstServer } from '../../src/platform/root.ts'
import { listJobIds } from '../../src/jobs/store.ts'
import { sealComponents } from '../../src/runtime/component.ts'
import { changeMove } from '../../src/runtime/move-store.ts'
import { insertRelease, makeLive } from '../../src/runtime/store.ts'
import { insertServer, updateServer } from '../../src/servers/store.ts'
import { idle } from '../services/instances.ts'
import { aComponent } from '../runtime/workload.ts'
import type { Ids } from '../support/everything.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

const member = {
  ...{ engineId: 'two', hostname: 'two', isMember: false, isManager: false, nodeId: 'two' },
  ...{ address: '10.0.0.2', managers: [], hasOverlay: true, hasLiveRestore: false },
}

/** What tests of all routes are built with: a server can join, though there is none. */
export const joinable = (t: () => TestApp): Overrides => ({
  connectServer: ({ serverId = '' } = {}) => ({
    ...t().docker,
    serverId,
    info: async () => ({ ...(await t().docker.info()), version: '28.5.2' }),
    swarmState: async () => member,
    joinSwarm: async () => {},
  }),
})

type Step = { body?: object; path?: string; client?: TestClient }

type Call = (route: string, step?: Step) => Promise<{ id: string; code: string }>

export async function joinAndLeave(
  call: Call,
  { t, ada, ids, client }: { t: TestApp; ada: TestClient; ids: Ids; client: TestClient },
) {
  const key = { sshUser: 'davit', sshKey: 'a key', hostKey: 'ssh-ed25519 AAAA' }
  const body = { name: 'two', address: '10.0.0.2', ...key }
  const { id } = await call('POST /settings/servers', { body })
  const of = `/settings/servers/${id}`
  await call('POST /settings/servers/:id/drain', { path: `${of}/drain` })
  await call('GET /settings/servers/:id/drain', { path: `${of}/drain` })
  await call('POST /settings/servers/:id/activate', { path: `${of}/activate` })
  await ada.put(`/projects/${ids.project}/envs/${ids.environment}`, { port: 0 })
  await moveTo(id, call, t, { kind: 'app', id: ids.environment, path: `/envs/${ids.environment}` })
  const compose = `services: {a: {${idle}}}`
  const { json: one } = await ada.post('/services/compose', { name: 'moves', compose })
  await moveTo(id, call, t, { kind: 'service', id: one.id, path: `/services/${one.id}` })
  await call('PUT /settings/servers/:id', { path: of, body: { labels: { zone: 'east' } } })
  await call('DELETE /settings/servers/:id', { path: of })
  const withdrawn = await call('POST /settings/servers', { body: { name: 'two' } })
  const ofCode = `/settings/server-codes/${withdrawn.id}`
  await call('DELETE /settings/server-codes/:codeId', { path: ofCode })
  const { code } = await call('POST /settings/servers', {
    body: { name: 'two', address: '10.0.0.2' },
  })
  const place = { code, address: '10.0.0.2', sshPort: 22, hostKey: key.hostKey }
  await call('POST /auth/join/check', { client, body: { code } })
  const joined = await call('POST /auth/join', { client, body: place })
  await call('DELETE /settings/servers/:id', { path: `/settings/servers/${joined.id}` })
}

/** Davit's own server, in a swarm of its own; and registries let everyone in. */
export function ownServer({ db, faults }: TestApp) {
  const own = { ...member, engineId: 'one', hostname: 'one', isMember: true, isManager: true }
  faults.checkRegistry = () => Promise.resolve()
  faults.swarmState = async () => own
  faults.getSwarm = async () => ({ labels: {}, workerToken: 'token', lasts: 0, root: '' })
  faults.getNode = async () => ({ isReady: true, isDown: false })
  faults.removeNode = async () => true
  const facts = { engine: '28.5.2', cpus: 2, memoryMb: 2048, nodeId: 'one' }
  insertServer(db, { id: firstServer, name: 'one', address: '10.0.0.1', ...facts })
}

type Movable = { kind: 'app' | 'service'; id: string; path: string }

/** As if it ran something without volumes; the move is cancelled before its job begins. */
async function moveTo(server: string, call: Call, t: TestApp, { kind, id, path }: Movable) {
  const { db, jobs, config, secrets } = t
  t.engines.setAway({ serverId: server }, false)
  updateServer(db, server, { lastSeenAt: null })
  const cancel = () => jobs.cancel(listJobIds(db, { subjectIds: [id] }))
  await cancel()
  const releaseId = Bun.randomUUIDv7()
  const components = sealComponents(secrets, releaseId, [aComponent('one', {})])
  const slots = [{ component: 'one', slot: 0 }]
  const [one] = insertRelease(db, { workload: { id, kind }, id: releaseId, components, slots })
  makeLive(db, { workloadId: id, releaseId, states: new Map([[one!.id, 'live' as const]]) })
  const { acceptTimeout } = config
  Object.assign(config, { acceptTimeout: 1 })
  jobs.wake = () => {}
  const route = kind === 'app' ? '/envs/:envId/move' : '/services/:id/move'
  await call(`POST ${route}`, { path: `${path}/move`, body: { server } })
  Object.assign(config, { acceptTimeout })
  delete (jobs as { wake?: unknown }).wake
  await cancel()
  changeMove(db, id, { leftOn: firstServer })
  t.engines.setAway({ serverId: server }, true)
  await call(`DELETE ${route}`, { path: `${path}/move` })
}
