import { expect, test } from 'bun:test'
import { insertDeployment, updateDeployment } from '../../../src/deployments/store.ts'
import { anApp, aProject, cancel } from '../../deployments/apps.ts'
import { pathOf } from '../../deployments/events.ts'
import { testApp, withRoot } from '../../support/app.ts'
import type { TestApp } from '../../support/app.ts'
import type { TestClient } from '../../support/client.ts'
import { tarContext } from '../../support/images.ts'
import { anOwn, aStranger } from '../engine.ts'
import { earlier, preview } from './things.ts'
import type { Entry } from './things.ts'

/** An environment with a deployment for each image, the last of which runs; as deployments leave them. */
async function imagesOf(t: TestApp, client: TestClient, texts: string[]) {
  const { deployment, project, labels, id } = await anOwn(t, client, 'exit 0')
  const built = []
  for (const text of texts) {
    const last = text === texts.at(-1)
    const row = last ? deployment : insertDeployment(t.db, { ...deployment, ...earlier() })
    const image = `davit/${project.id}:${row.id}`
    const output = t.docker.buildImage({
      context: tarContext({ Dockerfile: `FROM busybox\nRUN echo ${text} ${row.id} > /text` }),
      dockerfile: 'Dockerfile',
      tag: image,
      labels: { ...labels, 'davit.kind': 'build', 'davit.deployment': row.id },
    })
    for await (const _ of output);
    updateDeployment(t.db, row.id, { image })
    built.push({ id: row.id, projectId: project.id as string, image })
  }
  return { project, built, served: id }
}

test('images beyond those kept for rollback go, and no deployment can be rolled back to them', async () => {
  const { t, root } = withRoot(testApp())
  const { project, built } = await imagesOf(t, root, ['first', 'second', 'third'])
  const [first, second, third] = built as [Built, Built, Built]
  await root.put(`/projects/${project.id}/settings`, { keepImages: 2 })

  const seen = await preview(root, ['images'])
  expect(seen.removed.map(({ name }) => name)).toEqual([first.image])
  for (const { image } of [second, third])
    expect(seen.kept.find(({ name }) => name === image)!.reason).toStartWith('site-')

  const { json } = await root.post('/settings/prune', { what: ['images'] })
  expect(json.removed).toMatchObject([{ kind: 'image', name: first.image }])
  expect(await t.docker.inspectImage(first.image)).toBeNull()
  expect(await t.docker.inspectImage(second.image)).not.toBeNull()
  expect((await root.get(pathOf(first))).json.image).toBeNull()
  expect((await root.post(`${pathOf(first)}/rollback`)).status).toBe(409)
})

type Built = { id: string; projectId: string; image: string }

test('while an image goes no one can roll back to it; if it does not go, they can again', async () => {
  const { t, root } = withRoot(testApp())
  const { project, built } = await imagesOf(t, root, ['first', 'second'])
  const first = built[0]!
  await root.put(`/projects/${project.id}/settings`, { keepImages: 1 })
  const { removeImage } = t.docker
  let asked = 0
  t.faults.removeImage = async (...call) => {
    asked = (await root.post(`${pathOf(first)}/rollback`)).status
    await aStranger(t, 'exit 0', { image: first.image }) // made by hand in this moment
    return removeImage(...call)
  }
  const { json } = await root.post('/settings/prune', { what: ['images'] })
  delete t.faults.removeImage

  expect(asked).toBe(409)
  expect(json.removed).toEqual([])
  expect(json.skipped).toMatchObject([{ name: first.image }])
  expect(await t.docker.inspectImage(first.image)).not.toBeNull()
  expect((await root.get(pathOf(first))).json.image).toBe(first.image)
  const back = await root.post(`${pathOf(first)}/rollback`)
  expect(back.status).toBe(201)
  await cancel(root, back.json)
})

test('an image that a deployment has come to need since the preview is kept', async () => {
  const { t, root } = withRoot(testApp())
  const { project, built } = await imagesOf(t, root, ['first', 'second'])
  const first = built[0]!
  await root.put(`/projects/${project.id}/settings`, { keepImages: 1 })
  const [stranger, image] = [await aStranger(t, 'exit 0'), await t.docker.inspectImage(first.image)]
  const { removeContainer } = t.docker
  t.faults.removeContainer = async (...call) => {
    delete t.faults.removeContainer
    const { status } = await root.post(`${pathOf(first)}/rollback`)
    expect(status).toBe(201)
    return removeContainer(...call)
  }
  const { json } = await root.post('/settings/prune', {
    what: ['containers', 'images'],
    items: [`container:${stranger}`, `image:${image!.id}`],
  })
  expect(json.removed).toMatchObject([{ kind: 'container' }])
  expect(json.skipped).toMatchObject([{ name: first.image }])
  expect(await t.docker.inspectImage(first.image)).not.toBeNull()
  await cancel(root, (await root.get(`/projects/${project.id}/deployments`)).json.items[0])
})

test('of the build cache the entry that was named goes', async () => {
  const { t, root } = withRoot(testApp())
  const { Dockerfile, ...files } = anApp('cached')
  const step = `RUN echo ${t.instanceId} > /a`
  const project = await aProject(t, root, { ...files, Dockerfile: `${Dockerfile}\n${step}` })
  const { image, containerId } = await project.deploy()
  await t.jobs.idle()
  const named = ({ name }: Entry) => name.includes(t.instanceId)
  expect((await preview(root, ['build_cache'])).kept.find(named)!.reason).toContain('an image')
  await t.docker.removeContainer(containerId, { force: true })
  await t.docker.removeImage(image)

  const entry = (await preview(root, ['build_cache'])).candidates.find(named)!
  expect(entry).toMatchObject({ owner: 'builder', byDefault: true })
  const { json } = await root.post('/settings/prune', {
    what: ['build_cache'],
    items: [entry.item],
  })
  expect(json.removed).toMatchObject([{ kind: 'build_cache', id: entry.id, bytes: entry.bytes }])
  expect((await t.docker.diskUse()).buildCache.map(({ id }) => id)).not.toContain(entry.id)
}, 60_000)
