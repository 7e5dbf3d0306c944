import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { startGitServer } from '../support/git-server.ts'
import { aBuild, aCommand, anApp, answerOf, aProject, cancel, finished, logOf } from './apps.ts'
import { eventsOf, logs, pathOf } from './events.ts'

/** Whether a process whose command line has the text runs on this machine. */
const isRunning = (text: string) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => commandOf(pid).includes(text))

function commandOf(pid: string) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // it has ended
  }
}

const madeBy = async ({ docker, instanceId }: TestApp) => {
  const labels = [`davit.instance=${instanceId}`]
  const containers = await docker.listContainers({ labels, all: true })
  const images = await docker.listImages({ labels })
  return { containers: containers.map(({ id }) => id), images: images.flatMap(({ tags }) => tags) }
}

const nothing = { containers: [], images: [] }

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

test('cancel ends a clone from a server that hangs, and its git', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const server = startGitServer('/nowhere')
  server.mode = 'hang'
  const project = await aProject(t, ada, anApp('x'), { url: `${server.url}app.git` })
  const deployment = await project.trigger()
  while (server.requests.length === 0) await Bun.sleep(5)
  expect(isRunning(server.host)).toBe(true)

  const { json } = await cancel(ada, deployment)

  expect(json).toMatchObject({ status: 'cancelled', error: null })
  expect(json.steps).toHaveLength(1)
  expect(json.steps[0].finishedAt).toBeString()
  expect(isRunning(server.host)).toBe(false)
  server.stop()
})

test('cancel ends a build and the command that it runs', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, aBuild('sleep 4321.5'))
  const deployment = await project.trigger()
  await logs(ada, deployment, 'RUN')
  while (!isRunning('sleep\x004321.5')) await Bun.sleep(10)

  const { json } = await cancel(ada, deployment)

  expect(json.status).toBe('cancelled')
  const patience = performance.now() + 5000
  while (isRunning('sleep\x004321.5') && performance.now() < patience) await Bun.sleep(20)
  expect(isRunning('sleep\x004321.5')).toBe(false)
  expect(await madeBy(t)).toEqual(nothing)
})

test('cancel at the gate takes the new container away, and the old one serves again', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  project.repository.commit(aCommand('sleep 9999'))
  const second = await project.trigger()
  await logs(ada, second, 'Waiting for an answer')

  const { json } = await cancel(ada, second)

  expect(json).toMatchObject({ status: 'cancelled', containerId: null, image: null, error: null })
  expect(json.downtimeMs).toBeGreaterThan(0)
  expect(await answerOf(first)).toBe('first')
  expect((await ada.get(pathOf(first))).json.status).toBe('running')
  expect(await madeBy(t)).toEqual({ containers: [first.containerId], images: [first.image] })
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

  expect(json.status).toBe('cancelled')
  const after = await t.docker.inspectContainer(first.containerId)
  expect(after!.startedAt!.getTime()).toBeGreaterThan(before!.startedAt!.getTime())
  expect(await answerOf({ url: `${first.url}/passwd` })).toContain('root')
  expect((await madeBy(t)).containers).toEqual([first.containerId])
})

test('two cancels at once are one', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, aBuild('sleep 5432'))
  const deployment = await project.trigger()
  await logs(ada, deployment, 'RUN')

  const answers = await Promise.all([cancel(ada, deployment), cancel(ada, deployment)])

  expect(answers.map(({ status, json }) => [status, json.status])).toEqual([
    [200, 'cancelled'],
    [200, 'cancelled'],
  ])
  expect((await logOf(ada, deployment)).filter((line) => line.startsWith('Cancel'))).toHaveLength(1)
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

test('deploy, roll back and cancel at once, twenty times: one end for each, one container', async () => {
  const t = testApp({ DAVIT_BUILD_CONCURRENCY: '2' })
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  const all: { projectId: string; id: string }[] = []

  for (let round = 0; round < 20; round++) {
    const [deployment, rollback] = await Promise.all([
      project.trigger(),
      ada.post(`${pathOf(first)}/rollback`).then(({ json }) => json),
    ])
    all.push(deployment, rollback)
    await Bun.sleep((round * 37) % 400) // somewhere in the clone, the build, the switch
    await Promise.all([cancel(ada, rollback), cancel(ada, deployment), cancel(ada, deployment)])
  }
  await t.queue.idle()

  for (const deployment of all) {
    const ends = ['cancelled', 'superseded']
    expect(ends).toContain((await ada.get(pathOf(deployment))).json.status)
    const statuses = []
    for await (const { name, data } of eventsOf(ada, deployment))
      if (name === 'status') statuses.push(data)
    expect(statuses).toHaveLength(1)
  }
  expect((await finished(ada, first)).status).toBe('running')
  expect(await answerOf(first)).toBe('first')
  expect(await madeBy(t)).toEqual({ containers: [first.containerId], images: [first.image] })
}, 60_000)
