import { expect, test } from 'bun:test'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { aProject, logOf } from './apps.ts'

const second = serverId(2)

const files = (command: string): Files => ({
  'compose.yaml': `services:
  worker: {image: busybox, command: [sleep, '${command}']}
  db: {image: busybox, command: [sleep, '999'], volumes: [data:/data]}
volumes: {data: {}}
`,
})

test('a Compose file runs as a whole on one server, and stays where its volumes are', async () => {
  const nothing = { containers: [], networks: [], volumes: [], images: [] }
  const other = new FakeEngine(realClock, { ...nothing, made: 1000 })
  other.serverId = second
  const { t, ada } = withAda(simulatedApp({}, { otherEngines: [fakeDocker(other, atOnce)] }))
  for (const [id, network] of other.networks) t.engine.networks.set(id, network)
  Object.assign(other, { networks: t.engine.networks })
  storeServers(t.db, [{ zone: 'away' }, { zone: 'away' }])
  const project = await aProject(t, ada, files('1'))
  await ada.put(`/projects/${project.id}/settings`, {
    ...{ composeFile: 'compose.yaml', composeService: 'worker' },
  })
  await project.configure({ port: 0, placement: { server: 'server2' } })
  const path = `/projects/${project.id}/envs/${project.environmentId}`
  const live = async () => {
    const { json } = await ada.get(path)
    const all = json.live.instances as { process: string; serverId: string; containerId: string }[]
    return Object.fromEntries(all.map((one) => [one.process, [one.serverId, one.containerId]]))
  }

  const first = await project.deploy()
  expect([first.status, await logOf(ada, first)]).toEqual(['running', expect.anything()])
  const { db, web: worker } = await live()
  expect([db![0], worker![0]]).toEqual([second, second])
  expect([other.volumes.size, t.engine.volumes.size]).toEqual([1, 0])
  expect((await ada.get(path)).json.pinnedTo).toBe(second)

  const refused = await ada.put(path, { placement: null })
  expect([refused.status, refused.json.errors]).toEqual([409, [expect.anything()]])
  // the emptier one would be chosen
  await project.configure({ placement: { labels: { zone: 'away' }, spread: 'servers' } })
  project.repository.commit(files('2'))
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  const now = await live()
  expect(now.db).toEqual(db!)
  expect([now.web![0], now.web![1] === worker![1]]).toEqual([second, false])
})
