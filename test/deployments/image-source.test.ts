import { describe, expect, onTestFinished, test } from 'bun:test'
import { removeOrphanImages } from '../../src/deployments/images.ts'
import { updateDeployment } from '../../src/deployments/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { pullImage } from '../../src/runtime/images/pull-image.ts'
import { sandbox } from '../docker/sandbox.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { pushImage } from '../support/push-image.ts'
import { startRegistry } from '../support/registry.ts'
import { aProject, anApp, deployed, finished, logOf, rollBack } from './apps.ts'
import { aProject as anImage } from './image-projects.ts'

const corner = sandbox()
const digests = ['a', 'b', 'c', 'd'].map((digit) => `sha256:${digit.repeat(64)}`)

/** A project whose source is an image, on the simulated engine; its registry says which one it has. */
async function withImage(settings: Record<string, unknown> = {}) {
  const { t, ada } = withAda(simulatedApp())
  const registry = { digest: digests[0]! }
  t.faults.imageDigest = async () => registry.digest
  const project = await anImage(ada, 'nginx:1.29', settings)
  return { t, ada, registry, ...project }
}

/** The first line of its container. */
async function outputOf(t: TestApp, { containerId }: { containerId: string }) {
  for await (const [line] of t.docker.containerLogs(containerId, { follow: true }))
    return line?.text
  throw new Error('It wrote nothing.')
}

const namesOf = async (t: TestApp) => (await t.docker.listImages()).flatMap(({ tags }) => tags)

test('a deployment pulls the image instead of cloning and building, and keeps it by its digest', async () => {
  const { t, ada, id } = await withImage()
  const deployment = await deployed(ada, id)
  expect(deployment).toMatchObject({
    status: 'running',
    repositoryUrl: null,
    branch: null,
    commit: { hash: null },
    pulled: { reference: 'nginx:1.29', digest: digests[0] },
  })
  expect(deployment.steps.map(({ name }: { name: string }) => name)).toEqual([
    'pulling',
    'deploying',
  ])
  expect(deployment.image).toStartWith(`davit/${id}:${deployment.id}-`)
  const [container] = await t.docker.listContainers({ all: true })
  expect(container!.image).toBe(deployment.image)
  expect(await logOf(ada, deployment)).toContain('Pulling nginx:1.29')
})

test('each takes what the tag names by then, and a rollback the one that was pulled', async () => {
  const { ada, id, registry } = await withImage()
  const first = await deployed(ada, id)
  registry.digest = digests[1]!
  const second = await deployed(ada, id)
  expect(second.pulled.digest).toBe(digests[1])
  expect(second.image).not.toBe(first.image)

  const preview = (await ada.get(`/projects/${id}/deployments/${first.id}/rollback`)).json
  expect(preview.commit).toMatchObject({
    from: { pulled: second.pulled },
    to: { pulled: first.pulled },
  })
  const back = await finished(ada, (await rollBack(ada, first)).json)
  expect(back).toMatchObject({ status: 'running', image: first.image, pulled: first.pulled })
})

test('of the images that were pulled only the newest are kept, and none of a deleted project', async () => {
  const { t, ada, id, path, registry } = await withImage({ keepImages: 2 })
  const made = []
  for (const digest of digests) {
    registry.digest = digest
    made.push(await deployed(ada, id))
    await t.jobs.idle()
  }
  const own = async () => (await namesOf(t)).filter((name) => name.startsWith('davit/'))
  expect((await own()).toSorted()).toEqual(
    made
      .slice(2)
      .map(({ image }) => image as string)
      .toSorted(),
  )
  expect((await rollBack(ada, made[0])).status).toBe(409)

  expect((await ada.delete(path)).status).toBe(200)
  expect(await own()).toEqual([])
})

test('a deployment that fails leaves no image, and what a crash left goes at the next start', async () => {
  const { t, ada, id } = await withImage()
  t.faults.createContainer = () => Promise.reject(new Failure('exited', 'It ended.', 'See.'))
  const failed = await deployed(ada, id)
  expect([failed.status, failed.error.step, failed.image]).toEqual(['failed', 'deploying', null])
  await t.jobs.idle()
  delete t.faults.createContainer
  const own = async () => (await namesOf(t)).filter((name) => name.startsWith('davit/'))
  expect(await own()).toEqual([])

  const running = await deployed(ada, id)
  const { id: image } = (await t.docker.inspectImage(running.image))!
  const orphan = running.image.replace(running.id, failed.id)
  await t.docker.tagImage(image, orphan) // not a name that Davit gave
  await removeOrphanImages(t.deps, { signal: new AbortController().signal })
  expect((await own()).toSorted()).toEqual([orphan, running.image].toSorted())
  updateDeployment(t.db, running.id, { image: null, status: 'failed' })
  await removeOrphanImages(t.deps, { signal: new AbortController().signal })
  expect(await own()).toEqual([orphan])
})

test('an image that is gone fails the deployment, though an older one of its tag is here', async () => {
  const { t, ada, id } = await withImage()
  const first = await deployed(ada, id)
  t.faults.imageDigest = () =>
    Promise.reject(new Failure('image_not_found', 'The registry has no image.', 'Check.'))
  const second = await deployed(ada, id)
  expect(second).toMatchObject({
    status: 'failed',
    error: { step: 'pulling', code: 'image_not_found' },
  })
  expect((await ada.get(`/projects/${id}/deployments/${first.id}`)).json.status).toBe('running')
})

test('another tag or digest of the image can be deployed, nothing else', async () => {
  const { ada, id, path } = await withImage()
  const other = await deployed(ada, id, { image: `docker.io/library/nginx@${digests[2]}` })
  expect(other.pulled.reference).toBe(`docker.io/library/nginx@${digests[2]}`)
  for (const [field, value] of [
    ['image', 'httpd:2'],
    ['image', 'evil.example.com/nginx:1.29'],
    ['image', '-v /:/host'],
    ['image', 'davit.invalid/00000000000000000000000000000000/docker.io/library/nginx:1.29'],
    ['branch', 'main'],
    ['commit', 'a'.repeat(40)],
    ['repositoryUrl', 'https://git.example.com/a/b.git'],
  ] as const) {
    const refused = await ada.post(`${path}/deployments`, { [field]: value })
    expect([value, refused.status, refused.json.errors[0].field]).toEqual([value, 422, field])
  }
})

test('a pipeline deploys a tag of the image with the hook, and joins one that names its digest', async () => {
  const { t, ada, id, environmentId } = await withImage()
  const asked = { name: 'pipeline', scopes: ['deploy'], projectId: id }
  const { token } = (await ada.post('/settings/tokens', asked)).json
  const hook = async (body: object) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ environmentId, ...body }) }
    const response = await t.app.request('/hooks/deploy', init)
    return { status: response.status, json: (await response.json()) as any }
  }
  const { status, json } = await hook({ image: 'nginx:1.30', wait: true })
  expect([status, json.status, json.pulled.reference]).toEqual([201, 'running', 'nginx:1.30'])
  expect((await hook({ image: 'evil.example.com/app:1' })).status).toBe(422)
  expect((await hook({ commit: 'a'.repeat(40) })).status).toBe(422)

  t.deps.jobs.wake = () => {}
  const named = await hook({ image: `nginx@${digests[1]}` })
  expect([named.status, (await hook({ image: `nginx@${digests[1]}` })).status]).toEqual([201, 200])
  expect((await hook({ image: 'nginx:1.30' })).status).toBe(201)
})

describe('the source of a project', () => {
  test('is a repository or an image, one of them', async () => {
    const { ada } = withAda(simulatedApp())
    const image = 'nginx:1.29'
    const repositoryUrl = 'https://git.example.com/a/b.git'
    for (const [body, field] of [
      [{ image, repositoryUrl }, 'image'],
      [{ image: 'Not An Image' }, 'image'],
      [{ image: `davit.invalid/${'0'.repeat(32)}/docker.io/x:1` }, 'image'],
      [{}, 'repositoryUrl'],
    ] as const) {
      const refused = await ada.post('/projects', { name: 'x', ...body })
      expect([refused.status, refused.json.errors[0].field]).toEqual([422, field])
    }
  })

  test('can be changed from one to the other', async () => {
    const { ada, id, path } = await withImage()
    await deployed(ada, id)
    const repositoryUrl = 'https://git.example.com/a/b.git'
    const built = await ada.put(path, { repositoryUrl })
    expect(built.json).toMatchObject({ repositoryUrl, image: null })
    const again = await ada.put(path, { image: 'nginx:1.30' })
    expect(again.json).toMatchObject({ repositoryUrl: null, image: 'nginx:1.30' })
    expect((await ada.put(path, { sourceId: null })).json).toMatchObject({ image: 'nginx:1.30' })
    expect((await deployed(ada, id)).pulled.reference).toBe('nginx:1.30')
  })

  test('is shown where a repository would be, with the forms that it has', async () => {
    const { ada, id, path, environmentId } = await withImage()
    const deployment = await deployed(ada, id)
    const form = (await ada.page('/projects/new?from=image')).text
    expect(form).toContain('name="image"')
    expect(form).not.toContain('name="repository_url"')
    for (const page of [
      path,
      `${path}/settings`,
      '/projects',
      `${path}/envs`,
      `${path}/deployments`,
    ])
      expect((await ada.page(page)).text, page).toContain('nginx:1.29')
    const settings = (await ada.page(`${path}/settings`)).text
    for (const name of ['dockerfile_path', 'watch_paths', 'build_settings.start', 'repository_url'])
      expect(settings).not.toContain(`name="${name}"`)
    expect(settings).toContain('name="keep_images"')
    const edit = (await ada.page(`${path}/envs/${environmentId}/edit`)).text
    expect(edit).not.toContain('name="branch"')
    expect(edit).toContain('Deploy new images')
    const shown = (await ada.page(`${path}/deployments/${deployment.id}`)).text
    expect(shown).toContain(digests[0]!)
    expect(shown).not.toContain('Branch</dt>')
    expect((await ada.get(`${path}/detection`)).json).toMatchObject({
      kind: 'image',
      problem: null,
    })
    expect((await ada.get(`${path}/watched-files?watchPaths=src`)).json.commit).toBeNull()

    const created = await ada.form('/projects', { image: 'library/httpd:2', name: '' })
    expect((await ada.get(created.headers.get('Location')!)).json.name).toBe('httpd')
  })
})

test('a private image runs once its owner has a login, follows its registry, is rolled back to, and leaves with its project', async () => {
  const { t, ada } = withAda(testApp())
  const user = { username: 'puller', password: 'a password that opens it' }
  const registry = await startRegistry(user)
  onTestFinished(() => registry.stop())
  const auth = { ...user, serveraddress: registry.host }
  const image = await pushImage(corner, { auth, line: 'echo the first > /version' })
  const { id, path, environmentId } = await anImage(ada, image.replace(/:1$/, ':*'))
  const processes = [{ name: 'web', command: ['sh', '-c', 'cat /version; exec sleep 9999'] }]
  await ada.put(`${path}/envs/${environmentId}`, { processes, releaseCommand: 'cat /version' })
  expect((await deployed(ada, id)).error.step).toBe('pulling')

  await ada.post('/settings/registries', { host: registry.host, ...user })
  const first = await deployed(ada, id)
  expect(first.status).toBe('running')
  await pushImage(corner, {
    auth,
    line: 'echo the second > /version',
    repo: image.replace(/:1$/, ''),
  })
  await t.deps.images.look({ signal: new AbortController().signal })
  await t.jobs.idle()
  const [found] = (await ada.get(`${path}/deployments`)).json.items
  const second = await finished(ada, found)
  expect(second).toMatchObject({
    status: 'running',
    trigger: 'image',
    pulled: { reference: image },
  })
  expect(await outputOf(t, second)).toBe('the second')
  expect(second.pulled.digest).not.toBe(first.pulled.digest)

  const back = await finished(ada, (await rollBack(ada, first)).json)
  expect([back.status, await outputOf(t, back)]).toEqual(['running', 'the first'])
  expect(await corner.docker.inspectImage(image)).toBeNull()
  await t.jobs.idle()
  expect((await ada.delete(path)).status).toBe(200)
  for (const deployment of [first, second])
    expect(await corner.docker.inspectImage(deployment.image)).toBeNull()
})

test('what a deployment pulled is no one else’s, even by its name', async () => {
  const { t, ada, id } = await withImage()
  const { image } = await deployed(ada, id)
  const { signal } = new AbortController()
  const pulledBy = (client: TestClient) => pullImage(t, { ownerId: client.user.id, image, signal })
  expect((await pulledBy(ada)).name).toEndWith(image)
  await expect(pulledBy(t.logIn('bob@example.com'))).rejects.toThrow('has no image')
})

test('a project that builds takes no image', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'))
  const refused = await ada.post(`/projects/${project.id}/deployments`, { image: 'nginx:1.29' })
  expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'image'])
})
