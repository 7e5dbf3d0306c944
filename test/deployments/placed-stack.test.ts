import { expect, test } from 'bun:test'
import { findResident } from '../../src/apps/relocation.ts'
import { insertJob } from '../../src/jobs/store.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { otherEngine } from '../support/other-engine.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { aProject, logOf } from './apps.ts'

const second = serverId(2)

const files = (command: string, database = 'busybox'): Files => ({
  'compose.yaml': `services:
  worker: {image: busybox, command: [sleep, '${command}']}
  db: {image: ${database}, command: [sleep, '999'], volumes: [data:/data]}
volumes: {data: {}}
`,
})

/** A project of a Compose file, beside other servers in a zone. */
async function placedStack(committed: Files, numbers = [2]) {
  const others = numbers.map((n) => otherEngine(n))
  const otherEngines = others.map(({ docker }) => docker)
  const { t, ada } = withAda(simulatedApp({}, { otherEngines }))
  for (const { engine } of others) Object.assign(engine, { networks: t.engine.networks })
  storeServers(t.db, [{ zone: 'away' }, ...others.map(() => ({ zone: 'away' }))])
  const project = await aProject(t, ada, committed)
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
  const [{ engine: other, docker: otherDocker }] = others as [ReturnType<typeof otherEngine>]
  return { t, ada, project, path, live, other, otherDocker }
}

const stateless: Files = {
  'compose.yaml': `services:
  worker: {image: busybox, command: [sleep, '1'], depends_on: [cache, other]}
  cache: {image: busybox, command: [sleep, '999']}
  other: {image: busybox, command: [sleep, '999']}
`,
}

test('a Compose file runs as a whole on one server, and stays where its volumes are', async () => {
  const { t, ada, project, path, live, other } = await placedStack(files('1'))
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
  expect(await project.deployFiles(files('2'))).toMatchObject({ status: 'running' })
  const now = await live()
  expect(now.db).toEqual(db!)
  expect([now.web![0], now.web![1] === worker![1]]).toEqual([second, false])
})

test('a push recreates only what it changes on an engine whose images have other ids', async () => {
  const { project, live, otherDocker } = await placedStack(files('1'))
  const { loadImage } = otherDocker
  otherDocker.loadImage = async (archive, options) => {
    const { id: _, ...image } = JSON.parse(Buffer.concat(await Array.fromAsync(archive)).toString())
    const copy = new Blob([JSON.stringify(image)])
    await loadImage(copy.stream(), options)
  }
  expect((await project.deploy()).status).toBe('running')
  const first = await live()
  for (const command of ['2', '3']) {
    const before = await live()
    expect((await project.deployFiles(files(command))).status).toBe('running')
    const now = await live()
    expect([now.db, now.web![1] === before.web![1]]).toEqual([first.db!, false])
  }
  expect((await project.deployFiles(files('3', 'postgres'))).status).toBe('running')
  expect((await live()).db).not.toEqual(first.db!)
})

test('a push recreates only what it changes when the images of before are gone from Davit’s own server', async () => {
  const { t, project, live } = await placedStack(files('1'))
  expect((await project.deploy()).status).toBe('running')
  const first = await live()
  await t.jobs.idle()
  for (const { tags } of await t.docker.listImages())
    for (const tag of tags) if (tag.startsWith('davit/')) await t.docker.removeImage(tag)
  expect((await project.deployFiles(files('2'))).status).toBe('running')
  expect((await live()).db).toEqual(first.db!)
})

test.each<[string, boolean]>([
  ['moves as a whole from a server that is lost', true],
  ['stays on one that is there', false],
])('without volumes it %s', async (_, isLost) => {
  const { t, project, live } = await placedStack(stateless, [2, 3])
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  await project.configure({ placement: { labels: { zone: 'away' }, spread: 'servers' } })
  const { environmentId: id } = project
  t.engines.setAway({ serverId: second }, isLost)
  t.engines.setLost({ serverId: second }, isLost)
  const stays = (await findResident(t.deps, { id: second }, id))!.stays
  expect(stays).toEqual(isLost ? null : { why: expect.anything(), todo: expect.anything() })
  if (!isLost) return
  insertJob(t.db, { id: 'move', kind: 'relocate-app', subjectId: id, ownerId: null })
  t.jobs.wake()
  await until(async () => Object.values(await live()).every(([at]) => at !== second))
  const on = Object.values(await live()).map(([at]) => at)
  expect([on.length, new Set(on).size]).toEqual([3, 1])
})
