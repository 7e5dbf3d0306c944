import type { Overrides } from '../../src/assemble.ts'
import { firstServer } from '../../src/platform/root.ts'
import { insertServer } from '../../src/servers/store.ts'
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

export async function joinAndLeave(call: Call, client: TestClient) {
  const key = { sshUser: 'davit', sshKey: 'a key', hostKey: 'ssh-ed25519 AAAA' }
  const body = { name: 'two', address: '10.0.0.2', ...key }
  const { id } = await call('POST /settings/servers', { body })
  const of = `/settings/servers/${id}`
  await call('POST /settings/servers/:id/drain', { path: `${of}/drain` })
  await call('GET /settings/servers/:id/drain', { path: `${of}/drain` })
  await call('POST /settings/servers/:id/activate', { path: `${of}/activate` })
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
  faults.swarmLabels = async () => ({})
  faults.workerToken = async () => 'token'
  faults.getNode = async () => ({ isReady: true, isDown: false })
  faults.removeNode = async () => true
  const facts = { engine: '28.5.2', cpus: 2, memoryMb: 2048, nodeId: 'one' }
  insertServer(db, { id: firstServer, name: 'one', address: '10.0.0.1', ...facts })
}
