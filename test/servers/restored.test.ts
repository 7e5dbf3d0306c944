import { expect, onTestFinished, test } from 'bun:test'
import { resume } from '../../src/serve.ts'
import { getServer, listServers } from '../../src/servers/store.ts'
import { firstServer } from '../../src/platform/root.ts'
import { simulatedApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { Machine, twoMachines } from './machines.ts'

/** Davit with another server, and the same data on another machine, whose Docker is in no swarm. */
async function restored() {
  const { t, add, other } = twoMachines()
  const { json } = await add()
  const fresh = new Machine('fresh')
  fresh.nodes.set('node 10.0.0.2', true)
  const env = { DAVIT_CLUSTER_ADDRESS: '10.0.0.1' }
  const { db, logDb, secrets } = t.deps
  const again = simulatedApp(env, {
    ...{ db, logDb, secrets, docker: fresh.docker() },
    connectServer: (options = {}) => {
      other.engine.serverId = options.serverId!
      return other.docker()
    },
  })
  const stop = new AbortController()
  const background = resume(again.deps, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  await until(() => getServer(db, firstServer)?.name === 'fresh')
  const root = again.logInAsAdmin('another@example.com')
  return { db, root, fresh, other, id: json.id as string }
}

const two = { name: 'two', address: '10.0.0.2', sshUser: 'davit', sshKey: 'a secret key' }

test('after a restore on another machine the rows say that the others aren’t in its swarm', async () => {
  const { root, id } = await restored()
  const own = (await root.get(`/settings/servers/${firstServer}`)).json
  expect(own).toMatchObject({ name: 'fresh', address: '10.0.0.1' })
  await until(async () => (await root.get(`/settings/servers/${id}`)).json.state === 'draining')
  const { status, json } = await root.post(`/settings/servers/${id}/activate`)
  expect([status, json.detail]).toEqual([409, expect.stringContaining('add it again')])
  expect((await root.page('/settings/servers')).text).toContain('not in this swarm')
})

test('a server is removed there and added again, to a swarm that begins and ends with it', async () => {
  const { db, root, fresh, other, id } = await restored()
  await until(async () => (await root.get(`/settings/servers/${id}`)).json.state === 'draining')
  other.calls = []
  expect((await root.delete(`/settings/servers/${id}`)).status).toBe(200)
  expect([other.calls, fresh.calls]).toEqual([['leave'], []])
  expect(listServers(db)).toEqual([])
  const added = await root.post('/settings/servers', {
    ...two,
    hostKey: 'ssh-ed25519 AAAA root@two',
  })
  expect([added.status, fresh.calls]).toEqual([201, ['begin']])
  expect(getServer(db, firstServer)).toMatchObject({ hasBegunSwarm: true, name: 'fresh' })
  expect((await root.delete(`/settings/servers/${added.json.id}`)).status).toBe(200)
  expect(fresh.calls.at(-1)).toBe('leave')
})
