import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { aBuild, aCommand, anApp, aProject, cancel, logOf, untilAnswers } from './apps.ts'
import { logs, pathOf } from './events.ts'

const madeBy = async ({ docker, instanceId }: TestApp) => {
  const labels = [`davit.instance=${instanceId}`]
  const containers = await docker.listContainers({ labels, all: true })
  const images = await docker.listImages({ labels })
  return { containers: containers.map(({ id }) => id), images: images.flatMap(({ tags }) => tags) }
}

test('a deployment that waits is cancelled, and never runs', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const busy = await aProject(t, ada, aBuild('sleep 3210'), { name: 'busy' })
  const first = await busy.trigger()
  await logs(ada, first, 'RUN')
  const project = await aProject(t, ada, anApp('x'))
  const waiting = await project.trigger()

  const answer = await cancel(ada, waiting)

  expect(answer.status).toBe(200)
  expect(answer.json).toMatchObject({ status: 'cancelled', steps: [], error: null })
  expect(await logOf(ada, waiting)).toEqual(['Cancelled by ada@example.com while it waited.'])
  expect((await cancel(ada, waiting)).status).toBe(409)
  expect((await ada.get(pathOf(first))).json.status).toBe('building')
})

test('cancel while the old container is being stopped lets it serve again', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const slow = 'trap "sleep 2; exit 0" TERM; httpd -p 8080 -h /etc; while :; do sleep 0.1; done'
  const project = await aProject(t, ada, aCommand(slow))
  const first = await project.deploy()
  const before = await t.docker.inspectContainer(first.containerId)
  const second = await project.trigger()
  await logs(ada, second, 'Stopping the previous container')

  const { json } = await cancel(ada, second)

  expect(json).toMatchObject({ status: 'cancelled', containerId: null, image: null, error: null })
  expect(json.downtimeMs).toBeGreaterThan(0)
  const after = await t.docker.inspectContainer(first.containerId)
  expect(after!.startedAt!.getTime()).toBeGreaterThan(before!.startedAt!.getTime())
  await untilAnswers({ url: `${first.url}/passwd` }, 'root')
  expect((await ada.get(pathOf(first))).json.status).toBe('running')
  expect(await madeBy(t)).toEqual({ containers: [first.containerId], images: [first.image] })
})

test('what has ended can not be cancelled', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, aBuild('exit 1'))
  const failed = await project.deploy()
  const { status, json } = await cancel(ada, failed)
  expect(status).toBe(409)
  expect(json.detail).toContain('failed already')
})
