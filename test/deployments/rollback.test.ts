import { expect, test } from 'bun:test'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { anApp, answerOf, aProject, finished, logOf, rollBack, slowBuilds } from './apps.ts'
import { edgeApp } from './edge-app.ts'
import { pathOf } from './events.ts'

test('a rollback runs the earlier image again, with the variables of today', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  await project.deployFiles(anApp('second'))
  await project.set({ key: 'COLOUR', value: 'blue' })

  const answer = await rollBack(ada, first)
  const rollback = await finished(ada, answer.json)

  expect(answer.status).toBe(201)
  expect(answer.headers.get('Location')).toBe(pathOf(rollback))
  expect(rollback).toMatchObject({
    status: 'running',
    trigger: 'rollback',
    triggeredBy: 'ada@example.com',
    rollbackOf: first.id,
    image: first.image,
    commit: first.commit,
    url: first.url,
  })
  expect(rollback.steps.map(({ name }: { name: string }) => name)).toEqual(['deploying'])
  expect((await logOf(ada, rollback)).join('\n')).not.toMatch(/Cloning|Building/)
  expect(await answerOf(rollback)).toBe('first')
  const { Config } = await inspect(rollback.containerId)
  expect(Config.Env).toContain('COLOUR=blue')
})

test('images beyond those kept go, and what had them can’t be gone back to', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'), { port: 0 })
  await ada.put(`/projects/${project.id}/settings`, { keepImages: 1 })
  const { id } = await project.deploy()
  const second = await project.deployFiles(anApp('second'))
  await t.jobs.idle()

  const first = (await ada.get(pathOf({ projectId: project.id, id }))).json
  expect(first).toMatchObject({ status: 'superseded', image: null })
  const labels = [`davit.project=${project.id}`]
  const images = await t.docker.listImages({ labels })
  expect(images.flatMap(({ tags }) => tags)).toEqual([second.image])
  const { status, json } = await rollBack(ada, first)
  expect(status).toBe(409)
  expect(json.detail).toContain('no image to roll back to')
})

test('images that are to be kept since a build began stay', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'), { port: 0 })
  const keep = (keepImages: number) => ada.put(`/projects/${project.id}/settings`, { keepImages })
  const first = await project.deploy()
  await keep(1)
  project.repository.commit(anApp('second'))
  t.faults.buildImage = async function* (options) {
    await keep(2)
    yield* t.docker.buildImage(options)
  }
  await project.deploy()
  await t.jobs.idle()
  expect((await rollBack(ada, first)).status).toBe(201)
})

test('a rollback that fails leaves its image, and what runs; one without its image says so', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  await project.configure({ healthPath: '/nothing-there', healthTimeout: 1 })

  const rollback = await finished(ada, (await rollBack(ada, first)).json)

  expect(rollback).toMatchObject({ status: 'failed', error: { step: 'deploying' }, image: null })
  expect(await t.docker.inspectImage(first.image)).not.toBeNull()
  expect((await ada.get(pathOf(first))).json).toMatchObject({
    status: 'running',
    image: first.image,
  })
  expect(await answerOf(first)).toBe('first')

  await t.docker.removeImage(first.image, { force: true })
  const { error } = await finished(ada, (await rollBack(ada, first)).json)
  expect(error).toMatchObject({ step: 'deploying', code: 'image_missing' })
})

test('what never had an image, or has not finished, can’t be gone back to', async () => {
  const { t, ada } = withAda(simulatedApp())
  const builds = slowBuilds(t)
  const project = await aProject(t, ada, anApp('x'))
  builds.fail()
  const failed = await project.deploy()
  slowBuilds(t)
  const running = await project.trigger()

  expect((await rollBack(ada, failed)).status).toBe(409)
  expect((await rollBack(ada, running)).json.detail).toContain('hasn’t ended')
})

test('visitors notice no rollback: both versions run, and one rename switches', async () => {
  const { t, ada } = withAda(await edgeApp())
  const host = 'rolled.test'
  const project = await aProject(t, ada, anApp('first'), { domains: [host] })
  const first = await project.deploy()
  const second = await project.deployFiles(anApp('second'))
  const preview = (await ada.get(`${pathOf(first)}/rollback`)).json
  expect(preview).toMatchObject({ refused: null, interruption: null })
  const { wrong, count } = await t.visited(host, ['first', 'second'], async () => {
    const back = await finished(ada, (await rollBack(ada, first, { variables: 'release' })).json)
    expect(back).toMatchObject({ status: 'running', downtimeMs: null, image: first.image })
    expect(await t.text(host)).toBe('first')
    const forward = await finished(ada, (await rollBack(ada, second)).json)
    expect(forward).toMatchObject({ status: 'running', image: second.image })
    expect(await t.text(host)).toBe('second')
  })
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(10)
})

async function inspect(container: string) {
  const answer = await fetch(`http://engine/containers/${container}/json`, {
    unix: '/var/run/docker.sock',
  })
  return (await answer.json()) as { Config: { Env: string[] } }
}
