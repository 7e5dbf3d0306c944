import { expect, test } from 'bun:test'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { aBuild, anApp, aProject, cancel, finished, logOf, slowBuilds, triggered } from './apps.ts'
import { eventsOf, logs, pathOf, reaches, statusOf } from './events.ts'
import type { Key } from './events.ts'

const aSite = (t: TestApp, client: TestClient, name: string) =>
  aProject(t, client, anApp('x'), { name })

test('an environment has one deployment at a time; only the newest of those that wait is run', async () => {
  const { t, ada } = withAda(simulatedApp({ DAVIT_BUILD_CONCURRENCY: '8' }))
  const builds = slowBuilds(t)
  const project = await aSite(t, ada, 'site')
  const first = await project.trigger()
  await logs(ada, first, 'It builds')
  builds.fail()
  const [second, third, fourth] = [
    await project.trigger(),
    await project.trigger(),
    await project.trigger(),
  ]

  expect(await statusOf(ada, first)).toBe('building')
  expect(await statusOf(ada, second)).toBe('superseded')
  expect(await statusOf(ada, third)).toBe('superseded')
  expect(await statusOf(ada, fourth)).toBe('pending')
  expect(await logOf(ada, third)).toEqual([
    'A newer deployment of this environment superseded it while queued.',
  ])
  const ends = []
  for await (const { name, data } of eventsOf(ada, third)) if (name !== 'message') ends.push(data)
  expect(ends).toEqual(['superseded', 'superseded'])

  await cancel(ada, first)
  expect((await finished(ada, fourth)).error.code).toBe('build_failed')
})

test('no more builds run at once than DAVIT_BUILD_CONCURRENCY, and a rollback needs no place', async () => {
  const { t, ada } = withAda(simulatedApp({ DAVIT_BUILD_CONCURRENCY: '2' }))
  const running = await (await aSite(t, ada, 'app')).deploy()
  await t.jobs.idle()
  slowBuilds(t)
  const builds = []
  for (const name of ['one', 'two', 'three'])
    builds.push(await (await aSite(t, ada, name)).trigger())
  await Promise.all(builds.slice(0, 2).map((deployment) => logs(ada, deployment, 'It builds')))

  expect(await statusOf(ada, builds[2])).toBe('pending')
  const rollback = (await ada.post(`${pathOf(running)}/rollback`)).json
  await reaches(ada, rollback, 'deploying')
  expect(await statusOf(ada, builds[2])).toBe('pending')

  await cancel(ada, builds[0])
  await logs(ada, builds[2], 'It builds')
  for (const deployment of builds.slice(1)) await cancel(ada, deployment)
})

test('owners take turns: the many builds of one delay another’s by no more than the one that runs', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const first = await (await aProject(t, ada, aBuild('sleep 2222'), { name: 'first' })).trigger()
  await logs(ada, first, 'RUN')
  const waiting: [TestClient, Key][] = []
  for (const name of ['a', 'b', 'c'])
    waiting.push([ada, await (await aProject(t, ada, aBuild('exit 1'), { name })).trigger()])
  for (const name of ['x', 'y'])
    waiting.push([bob, await (await aProject(t, bob, aBuild('exit 1'), { name })).trigger()])
  await cancel(ada, first)

  const ended = await Promise.all(waiting.map(([client, one]) => finished(client, one)))
  const inOrder = ended.toSorted((a, b) => (a.finishedAt < b.finishedAt ? -1 : 1))
  // whose source is here first builds first, but no owner’s second one before it
  const owners = inOrder.map(({ triggeredBy }) => triggeredBy.split('@')[0])
  expect(owners.indexOf('bob')).toBeLessThanOrEqual(1)
  const ofAda = inOrder.filter(({ triggeredBy }) => triggeredBy.startsWith('ada'))
  expect(ofAda.map(({ id }) => id)).toEqual(ofAda.map(({ id }) => id).toSorted())
})

test('a secret that can’t be opened fails its deployment once, and hides its log', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aSite(t, ada, 'site')
  await project.set({ key: 'TOKEN', value: 'hidden', secret: true })
  t.db.$client.run('UPDATE variables SET value = ?', ['damaged'])

  const deployment = await project.deploy()

  expect(deployment).toMatchObject({ status: 'failed', error: { step: null, code: 'internal' } })
  expect(new Set(await logOf(ada, deployment))).toEqual(new Set(['***']))
})

test('deleting a project ends its deployments, those that wait too, and their streams', async () => {
  const { t, ada } = withAda(simulatedApp())
  slowBuilds(t)
  const project = await aSite(t, ada, 'site')
  const first = await project.trigger()
  await logs(ada, first, 'It builds')
  const second = await triggered(ada, project.id)
  const streams = [first, second].map((deployment) => Array.fromAsync(eventsOf(ada, deployment)))

  expect((await ada.delete(`/projects/${project.id}`)).status).toBe(200)

  for (const events of await Promise.all(streams))
    expect(events.at(-1)).toMatchObject({ name: 'done', data: 'cancelled' })
  const labels = [`davit.project=${project.id}`]
  expect(await t.docker.listContainers({ labels, all: true })).toEqual([])
  expect(await t.docker.listImages({ labels })).toEqual([])
})
