import { describe, expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { Answer, TestClient } from '../support/client.ts'
import { aBuild, anApp, aProject, cancel, finished, rollBack } from './apps.ts'

/** Calls what stands in for a call of the engine once, when it is made for that image. */
function whenRemoved(t: TestApp, image: string, before: () => Promise<void>) {
  t.faults.removeImage = async (...args) => {
    if (args[0] === image) await before()
    return t.docker.removeImage(...args)
  }
}

describe('a rollback to an image that a clean-up is removing', () => {
  async function twoDeployments(t: TestApp, ada: TestClient) {
    const project = await aProject(t, ada, anApp('first'), { port: 0 })
    const first = await project.deploy()
    await t.jobs.idle()
    project.repository.commit(anApp('second'))
    await ada.put(`/projects/${project.id}/settings`, { keepImages: 1 })
    return { project, first }
  }

  test('is refused while it is being removed, by the one after a deployment or by hand', async () => {
    const { t, ada } = withAda(simulatedApp())
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
      expect(await t.docker.inspectImage(first.image)).toBeNull()
      await ada.delete(`/projects/${project.id}`)
    }
  })

  test('is possible again when it could not be removed', async () => {
    const { t, ada } = withAda(simulatedApp())
    const { project, first } = await twoDeployments(t, ada)
    whenRemoved(t, first.image, () => Promise.reject(new EngineError(409, 'It is used.')))
    await project.deploy()
    await t.jobs.idle()

    const rollback = await finished(ada, (await rollBack(ada, first)).json)
    expect(rollback).toMatchObject({ status: 'running', image: first.image })
  })

  test('that began before runs it, and it stays; none ever builds', async () => {
    const { t, ada } = withAda(simulatedApp())
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
    const { t, ada } = withAda(testApp())
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
