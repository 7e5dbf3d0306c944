import { expect, test } from 'bun:test'
import { firstServer } from '../../src/platform/root.ts'
import { insertInstance, listInstances } from '../../src/runtime/store.ts'
import { getServer, listServers } from '../../src/servers/store.ts'
import { endLeftSwarm } from '../../src/servers/swarm.ts'
import { twoMachines } from './machines.ts'

const signal = new AbortController().signal

/** Of a new project. */
async function environmentsPath({ root }: ReturnType<typeof twoMachines>) {
  const project = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }
  const { json } = await root.post('/projects', project)
  return `/projects/${json.id}/envs`
}

/** A container of a new app, to be inserted on a server. */
async function anInstance(s: ReturnType<typeof twoMachines>) {
  const [env] = (await s.root.get(await environmentsPath(s))).json.items
  s.t.db.$client.run('PRAGMA foreign_keys = OFF')
  const of = { releaseId: 'r', workloadId: env.id as string, component: 'web' }
  return { ...of, state: 'live', containerId: 'c' } as const
}

/** Davit dies at its next call of that kind, as the engine has done what was asked before. */
function diesAt(s: ReturnType<typeof twoMachines>, call: 'info' | 'leave') {
  const dead = new Error('killed')
  const { faults } = s.t
  if (call === 'info') faults.info = () => Promise.reject(dead)
  faults.leaveSwarm = () => Promise.reject(dead) // it undoes nothing any more
  return { starts: () => [delete faults.info, delete faults.leaveSwarm] }
}

test('a swarm that a killed Davit began is known as its own, and ended at the next start', async () => {
  const s = twoMachines()
  const davit = diesAt(s, 'info')
  await s.add()
  expect([s.own.state.isManager, listServers(s.t.db)]).toEqual([true, []])

  davit.starts()
  await endLeftSwarm(s.t.deps, { signal })
  expect(s.own.state.isMember).toBe(false)
})

test('a swarm that a killed Davit began is its own for the next join, and ends with the last server', async () => {
  const s = twoMachines()
  const davit = diesAt(s, 'info')
  await s.add()
  davit.starts()
  const { id } = (await s.add()).json
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  expect([s.own.state.isMember, listServers(s.t.db)]).toEqual([false, []])
})

test('a Davit that is killed while the last server is removed ends the swarm at its next start', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  const davit = diesAt(s, 'leave')
  await s.root.delete(`/settings/servers/${id}`)
  expect(listServers(s.t.db)).toHaveLength(1)
  davit.starts()
  await endLeftSwarm(s.t.deps, { signal })
  expect([s.own.state.isMember, listServers(s.t.db)]).toEqual([false, []])
})

test('a swarm with other servers, or of the operator, isn’t ended', async () => {
  const s = twoMachines()
  await s.add()
  await endLeftSwarm(s.t.deps, { signal })
  expect(s.own.state.isMember).toBe(true)

  const theirs = twoMachines()
  Object.assign(theirs.own.state, { isMember: true, isManager: true, nodeId: 'own' })
  await endLeftSwarm(theirs.t.deps, { signal })
  expect(theirs.own.state.isMember).toBe(true)
})

test('a server to which an app was deployed while its removal waited stays, with its state', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  const of = await anInstance(s)
  const { turn } = s.t.deps.serverEngines
  const { acquire } = turn
  turn.acquire = (signal) => {
    insertInstance(s.t.db, { ...of, serverId: id })
    return acquire.call(turn, signal)
  }
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(409)
  expect(getServer(s.t.db, id)).toMatchObject({ isDraining: false })
  expect([s.own.calls, s.other.calls]).toEqual([['begin'], ['join']])
})

test('a server that is back before its removal begins is no longer given up with what is on it', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  const of = await anInstance(s)
  insertInstance(s.t.db, { ...of, serverId: id })
  s.t.engines.setAway({ serverId: id }, true)
  const { turn } = s.t.deps.serverEngines
  const { acquire } = turn
  turn.acquire = (signal) => {
    s.t.engines.setAway({ serverId: id }, false)
    return acquire.call(turn, signal)
  }
  const answer = await s.root.delete(`/settings/servers/${id}?volumes=give_up`)
  expect(answer.status).toBe(409)
  expect(listInstances(s.t.db, of.workloadId)).toHaveLength(1)
  expect(getServer(s.t.db, id)).toMatchObject({ isDraining: false })
  expect([s.own.calls, s.other.calls]).toEqual([['begin'], ['join']])
})

test('an app that its placement keeps on Davit’s own server stays there once that is the only one', async () => {
  const s = twoMachines()
  const { id } = (await s.add({ labels: { zone: 'west' } })).json
  await s.root.put(`/settings/servers/${firstServer}`, { labels: { zone: 'east', disk: 'ssd' } })
  const path = await environmentsPath(s)
  const placed = async (name: string, placement: object) => {
    const made = await s.root.post(path, { name, port: 0, placement })
    return `${path}/${made.json.id}`
  }
  const labels = (zone: string) => ({ labels: { zone }, spread: 'servers' })
  const here = [await placed('a', labels('east')), await placed('b', { server: firstServer })]
  const there = await placed('c', labels('west'))
  s.t.engines.setAway({ serverId: id }, false)
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  for (const one of here) expect((await s.root.get(one)).json.placement).toBeNull()
  expect((await s.root.get(there)).json.placement).toEqual(labels('west'))
})

test('a server that has joined another swarm since stays in that when it is removed', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  s.t.engines.setAway({ serverId: id }, false)
  s.other.state.nodeId = 'node of another swarm'
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  expect([s.other.calls, s.other.state.isMember]).toEqual([['join'], true])
  expect([s.own.calls.includes('remove node 10.0.0.2'), listServers(s.t.db)]).toEqual([true, []])
})

test('a server whose node is down leaves the swarm when it is removed', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  s.t.engines.setAway({ serverId: id }, false)
  s.other.state.nodeId = ''
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  expect(s.other.calls).toEqual(['join', 'leave'])
})
