import { expect, onTestFinished, test } from 'bun:test'
import { keepFreezes } from '../../src/deployments/keep-freezes.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { fakeRegistry } from '../support/fake-registry.ts'
import { until } from '../support/until.ts'
import { bodies } from '../webhooks/registry-bodies.ts'
import { deployed, finished } from './apps.ts'
import { hour, iso, setUp } from './freezing.ts'
import { aProject } from './image-projects.ts'

test('a push that is replayed in a freeze waits for its end', async () => {
  const s = await setUp()
  s.run()
  const { id, head } = await s.push('second')
  const key = { id, projectId: s.project.id }
  expect(await finished(s.ada, key)).toMatchObject({ status: 'running', freeze: null })
  await s.freeze()
  const deliveries = `/projects/${s.project.id}/deliveries`
  const [delivery] = (await s.ada.get(deliveries)).json.items
  const { status, text } = await s.ada.post(`${deliveries}/${delivery.id}/replay`)
  expect(status, text).toBe(201)
  const [held] = await s.list()
  expect(held).toMatchObject({ status: 'waiting', freeze: { note: null } })
  await s.clock.pass(2 * hour + 1000)
  expect(await finished(s.ada, held)).toMatchObject({ status: 'running', commit: { hash: head } })
})

test('a new image waits too, found or reported by its registry, and the newest is deployed', async () => {
  const { t, ada } = withAda(simulatedApp())
  const registry = fakeRegistry()
  const stop = new AbortController()
  onTestFinished(() => (stop.abort(), registry.stop()))
  registry.push('1.0')
  const project = await aProject(ada, `${registry.image}:1.*`)
  await deployed(ada, project.id, { image: `${registry.image}:1.0` })
  void keepFreezes(t.deps, stop)
  const freezes = `/envs/${project.environmentId}/freezes`
  const made = await ada.post(freezes, { until: iso(Date.now() + hour), reason: 'the fair' })
  const list = async () => (await project.list()).map((one: string[]) => one.slice(0, 3))
  const first = ['manual', 'running', '1.0']

  const found = registry.push('1.0.1')
  for (const _ of [1, 2]) {
    await t.deps.images.look(stop)
    await t.jobs.idle()
    expect(await list()).toEqual([['image', 'waiting', '1.0.1'], first])
  }
  expect((await project.state()).last).toMatchObject({ found: { digest: found } })

  const digest = registry.push('1.1')
  const body = JSON.stringify(bodies.harbor).replace(/sha256:b{64}/, digest)
  const headers = { 'Content-Type': 'application/json' }
  const sent = { method: 'POST', headers, body }
  expect((await t.app.request(new URL(project.hook).pathname, sent)).status).toBe(202)
  await t.jobs.idle()
  expect(await list()).toEqual([
    ['webhook', 'waiting', '1.1'],
    ['image', 'superseded', '1.0.1'],
    first,
  ])
  await ada.delete(`${freezes}/${made.json.id}`)
  await until(async () => (await list())[0]![1] === 'running')
})
