import { expect, test } from 'bun:test'
import { Failure } from '../../src/platform/errors.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { anApp, aProject, deployed, finished } from './apps.ts'
import { aProject as anImage } from './image-projects.ts'

/** A project that deploys an image, on the simulated engine. */
async function nginx() {
  const { t, ada } = withAda(simulatedApp())
  t.faults.imageDigest = async () => `sha256:${'a'.repeat(64)}`
  return { t, ada, ...(await anImage(ada, 'nginx:1.29')) }
}

test('a public image is pulled while others build, and by two at once', async () => {
  const { t, ada, id } = await nginx()
  const bob = t.logIn('bob@example.com')
  const { promise: built, resolve: release } = Promise.withResolvers<void>()
  const { promise: building, resolve: begun } = Promise.withResolvers<void>()
  t.faults.buildImage = async function* () {
    begun()
    await built
    throw new Failure('build_failed', 'It ended.', 'See.')
  }
  const project = await aProject(t, bob, anApp('x'), { name: 'builds' })
  const { json } = await bob.post(`/projects/${project.id}/deployments`)
  await building
  const other = await anImage(bob, 'nginx:1.29')
  const both = await Promise.all([deployed(ada, id), deployed(bob, other.id)])
  expect(both.map(({ status }) => status)).toEqual(['running', 'running'])
  const names = (await t.docker.listImages()).flatMap(({ tags }) => tags)
  expect(names.filter((name) => name.includes('nginx@'))).toEqual([])
  release()
  expect((await finished(bob, json)).status).toBe('failed')
})

test('what was deployed from another source can be deployed from the one of today', async () => {
  const { ada, id, path } = await nginx()
  const first = await deployed(ada, id)
  const again = async () => {
    const texts = [
      (await ada.page(`${path}/deployments`)).text,
      (await ada.page(`${path}/deployments/${first.id}`)).text,
    ]
    return texts.map((text) => [
      text.includes('name="image" value="nginx:1.29"'),
      text.includes('Deploy again'),
    ])
  }
  expect(await again()).toEqual([
    [true, true],
    [true, true],
  ])
  for (const source of [
    { image: 'httpd:2' },
    { repositoryUrl: 'https://git.example.com/a/b.git' },
  ]) {
    await ada.put(path, source)
    expect(await again()).toEqual([
      [false, false],
      [false, false],
    ])
  }
})

test('its environments can’t follow branches or tags', async () => {
  const { ada } = withAda(simulatedApp())
  const { path, environmentId } = await anImage(ada, 'nginx:1.29')
  for (const field of ['branch', 'tags']) {
    const changed = await ada.put(`${path}/envs/${environmentId}`, { [field]: 'v1' })
    const made = await ada.post(`${path}/envs`, { name: 'other', [field]: 'v1' })
    for (const { status, json } of [changed, made])
      expect([status, json.errors[0].field]).toEqual([422, field])
  }
})
