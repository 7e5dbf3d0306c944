import { describe, expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { Answer, TestClient } from '../support/client.ts'
import { aBuild, anApp, answerOf, aProject, cancel, finished, logOf } from './apps.ts'
import { pathOf } from './events.ts'
import type { Key } from './events.ts'

const rollBack = (client: TestClient, deployment: Key) =>
  client.post(`${pathOf(deployment)}/rollback`)

test('a rollback runs the earlier image again, with the variables of today', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  project.repository.commit(anApp('second'))
  await project.deploy()
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

test('images beyond those kept go, and what had them can not be gone back to', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, anApp('first'), { port: 0 })
  await ada.put(`/projects/${project.id}/settings`, { keepImages: 1 })
  const { id } = await project.deploy()
  project.repository.commit(anApp('second'))
  const second = await project.deploy()
  await t.jobs.idle()

  const first = (await ada.get(pathOf({ projectId: project.id, id }))).json
  expect(first).toMatchObject({ status: 'superseded', image: null })
  const labels = [`davit.project=${project.id}`]
  const images = await t.docker.listImages({ labels })
  expect(images.flatMap(({ tags }) => tags)).toEqual([second.image])
  const { status, json } = await rollBack(ada, first)
  expect(status).toBe(409)
  expect(json.detail).toContain('no image to go back to')
})

test('a rollback that fails leaves its image, and what runs; one without its image says so', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
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

/** Calls what stands in for a call of the engine once, when it is made for that image. */
function whenRemoved(t: TestApp, image: string, before: () => Promise<void>) {
  t.faults.removeImage = async (...args) => {
    if (args[0] === image) await before()
    return t.docker.removeImage(...args)
  }
}

describe('a rollback to an image that a clean-up wants to remove', () => {
  async function twoDeployments(t: TestApp, ada: TestClient) {
    const project = await aProject(t, ada, anApp('first'), { port: 0 })
    const first = await project.deploy()
    await t.jobs.idle()
    project.repository.commit(anApp('second'))
    await ada.put(`/projects/${project.id}/settings`, { keepImages: 1 })
    return { project, first }
  }

  test('is refused while it is being removed, by the one after a deployment or by hand', async () => {
    const t = testApp()
    const ada = t.logIn('ada@example.com')
    const admin = t.logInAsAdmin()
    for (const cleanUp of ['after', 'by hand']) {
      const { project, first } = await twoDeployments(t, ada)
      let refused: Answer | null = null
      const attempt = async () => void (refused = await rollBack(ada, first))
      if (cleanUp === 'after') whenRemoved(t, first.image, attempt)
      else whenRemoved(t, first.image, () => Promise.reject(new Failure('x', 'Later.', '')))
      await project.deploy()
      await t.jobs.idle()
      if (cleanUp === 'by hand') {
        whenRemoved(t, first.image, attempt)
        await admin.post('/settings/prune', { what: ['images'] })
        await t.jobs.idle()
      }
      expect(refused).toMatchObject({ status: 409 })
      expect(refused!.json.detail).toContain('no image to go back to')
      expect(await t.docker.inspectImage(first.image)).toBeNull()
      await ada.delete(`/projects/${project.id}`)
    }
  })

  test('is possible again when it could not be removed', async () => {
    const t = testApp()
    const ada = t.logIn('ada@example.com')
    const { project, first } = await twoDeployments(t, ada)
    whenRemoved(t, first.image, () => Promise.reject(new EngineError(409, 'It is used.')))
    await project.deploy()
    await t.jobs.idle()

    const rollback = await finished(ada, (await rollBack(ada, first)).json)
    expect(rollback).toMatchObject({ status: 'running', image: first.image })
  })

  test('that began before runs it, and it stays; none ever builds', async () => {
    const t = testApp()
    const ada = t.logIn('ada@example.com')
    const { project, first } = await twoDeployments(t, ada)
    let rollback: Answer | null = null
    t.faults.listImages = async (...args) => {
      const found = await t.docker.listImages(...args)
      rollback ??= await rollBack(ada, first) // the clean-up has chosen by now
      return found
    }
    await project.deploy()
    await t.jobs.idle()
    const ended = await finished(ada, rollback!.json)

    expect(ended).toMatchObject({ status: 'running', image: first.image })
    expect(ended.steps.map(({ name }: { name: string }) => name)).toEqual(['deploying'])
  })

  test('fails with the reason where the image was lost while it waited', async () => {
    const t = testApp()
    const ada = t.logIn('ada@example.com')
    const { project, first } = await twoDeployments(t, ada)
    project.repository.commit(aBuild('sleep 999'))
    const building = await project.trigger()
    const waiting = (await rollBack(ada, first)).json
    t.db.$client.run('UPDATE deployments SET image = NULL WHERE id = ?', [waiting.id])
    await cancel(ada, building)

    const { status, steps, error } = await finished(ada, waiting)
    expect({ status, steps }).toEqual({ status: 'failed', steps: [] })
    expect(error.code).toBe('image_missing')
  })
})

test('what never had an image, or has not finished, can not be gone back to', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, aBuild('exit 1'))
  const failed = await project.deploy()
  project.repository.commit(aBuild('sleep 999'))
  const running = await project.trigger()

  expect((await rollBack(ada, failed)).status).toBe(409)
  expect((await rollBack(ada, running)).json.detail).toContain('has not finished')
})

async function inspect(container: string) {
  const answer = await fetch(`http://engine/containers/${container}/json`, {
    unix: '/var/run/docker.sock',
  })
  return (await answer.json()) as { Config: { Env: string[] } }
}
