import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { aCommand, aProject, cancel, untilAnswers } from './apps.ts'
import { logs, pathOf } from './events.ts'

const madeBy = async ({ docker, instanceId }: TestApp) => {
  const labels = [`davit.instance=${instanceId}`]
  const containers = await docker.listContainers({ labels, all: true })
  const images = await docker.listImages({ labels })
  return { containers: containers.map(({ id }) => id), images: images.flatMap(({ tags }) => tags) }
}

test('cancel while the old container is being stopped lets it serve again', async () => {
  const { t, ada } = withAda(testApp())
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
