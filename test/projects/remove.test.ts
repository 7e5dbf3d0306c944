import { expect, onTestFinished, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { recover } from '../../src/deployments/recover.ts'
import { Failure } from '../../src/platform/errors.ts'
import { updateEnvironment } from '../../src/environments/store.ts'
import { labelFilter, labelsFor } from '../../src/docker/labels.ts'
import { updateProject } from '../../src/projects/store.ts'
import { aProject, aRepository, anApp, deployed } from '../deployments/apps.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

type Removed = { kind: string; name: string }

/** How many objects of each kind the engine has of a project, or of all of this installation. */
async function countOnEngine({ docker, instanceId }: TestApp, projectId?: string) {
  const labels = labelFilter(instanceId, projectId ? { projectId } : {})
  return {
    containers: (await docker.listContainers({ labels, all: true })).length,
    images: (await docker.listImages({ labels })).length,
    networks: (await docker.listNetworks({ labels })).length,
    volumes: (await docker.listVolumes({ labels })).length,
  }
}

const rowsOf = ({ db, logDb }: TestApp) => [
  ...['projects', 'environments', 'variables', 'deployments'].map(
    (table) => db.$client.query<{ n: number }, []>(`SELECT count(*) n FROM ${table}`).get()!.n,
  ),
  logDb.$client.query<{ n: number }, []>('SELECT count(*) n FROM output_blocks').get()!.n,
]

const kinds = (removed: Removed[]) => removed.map(({ kind }) => kind)

const nothing = { containers: 0, images: 0, networks: 0, volumes: 0 }
const mirrors = ({ dataDir }: TestApp) => readdirSync(join(dataDir, 'mirrors'))

test('what begins to be deleted while the engine is asked for an image isn’t deployed', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id, deploy } = await aProject(t, ada, anApp('x'), { port: 0 })
  await deploy()
  const before = rowsOf(t)
  t.faults.inspectImage = async (...asked) => {
    updateProject(t.db, id, { deletingAt: new Date() })
    return t.docker.inspectImage(...asked)
  }
  const answer = await ada.post(`/projects/${id}/deployments`, { reuseImage: true })
  expect(answer.status).toBe(409)
  expect(rowsOf(t)).toEqual(before)
})

test('what is deleted takes along all that was made for it, and nothing else', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_BUILD_CONCURRENCY: '2' }))
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: aRepository(t.dataDir, anApp('hello')).url,
  })
  const path = `/projects/${project.id}`
  const kept = await ada.post('/projects', { name: 'kept', repositoryUrl: project.repositoryUrl })
  const [production] = (await ada.get(`${path}/envs`)).json.items
  expect((await ada.delete(`${path}/envs/${production.id}`)).status).toBe(409)
  const volumes = ['data:/data']
  const { json: staging } = await ada.post(`${path}/envs`, { name: 'staging', volumes })
  const [, other] = await Promise.all(
    [production, staging].map(({ id }) => deployed(ada, project.id, { environmentId: id })),
  )
  expect(await countOnEngine(t)).toEqual({ containers: 2, images: 2, networks: 1, volumes: 1 })

  const removed = await ada.delete(`${path}/envs/${production.id}`)
  expect(removed.status).toBe(200)
  expect(kinds(removed.json.removed)).toEqual(['container', 'image', 'environment'])
  expect(await countOnEngine(t)).toEqual({ containers: 1, images: 1, networks: 1, volumes: 1 })
  const logged = t.logDb.$client.query<{ id: string }, []>(
    'SELECT DISTINCT log_id id FROM output_blocks',
  )
  expect(logged.all()).toEqual([{ id: other.id }])
  expect(await (await fetch(other.url)).text()).toBe('hello')

  await ada.post(`/envs/${staging.id}/variables`, { key: 'A', value: 'x' })
  expect((await ada.page(`${path}/delete`)).text).toContain(`davit-${staging.id}-data`)
  const foreign = await foreignOf(t, other.image)
  const answer = await ada.delete(path, { volumes: true })
  expect(answer.status, answer.text).toBe(200)
  expect(kinds(answer.json.removed)).toEqual(['container', 'network', 'volume', 'project'])
  expect(rowsOf(t)).toEqual([1, 1, 0, 0, 0])
  expect(mirrors(t)).toHaveLength(1) // another project needs it
  expect((await ada.get(path)).status).toBe(404)
  expect((await ada.delete(path)).status).toBe(404)
  expect(fetch(other.url)).rejects.toThrow()
  expect((await t.docker.inspectContainer(foreign.container))!.state).toBe('running')
  expect(await t.docker.inspectImage(other.image)).not.toBeNull()
  expect((await t.docker.listVolumes()).map(({ name }) => name)).toContain(foreign.name)
  expect((await t.docker.listNetworks()).map(({ id }) => id)).toContain(foreign.network)

  const last = await ada.delete(`/projects/${kept.json.id}`)
  expect(kinds(last.json.removed)).toEqual(['git mirror', 'project'])
  expect(mirrors(t)).toEqual([])
})

/** A container that someone runs by hand from an image of ours, whose labels come along. */
async function foreignOf(t: TestApp, image: string) {
  const name = `foreign-${Bun.randomUUIDv7()}`
  await t.docker.createVolume({ name })
  const network = await t.docker.createNetwork({ name })
  const container = await t.docker.createContainer({
    name,
    image,
    network,
    memoryBytes: 16 * 1024 * 1024,
    cpus: 0.1,
    pidsLimit: 8,
    volumes: [{ name, path: '/foreign' }],
  })
  onTestFinished(async () => {
    await t.docker.removeContainer(container, { force: true })
    await t.docker.removeNetwork(network)
    await t.docker.removeVolume(name)
    await t.docker.removeImage(image, { force: true })
  })
  await t.docker.startContainer(container)
  return { name, network, container }
}

test('deletions that a crash broke off go on at the next start, and meanwhile nothing deploys', async () => {
  const { t, ada } = withAda(simulatedApp())
  const origin = { repositoryUrl: 'file:///srv/x.git' }
  const { json: project } = await ada.post('/projects', { name: 'going', ...origin })
  const { json: other } = await ada.post('/projects', { name: 'staying', ...origin })
  const path = `/projects/${project.id}`
  const { json: staging } = await ada.post(`/projects/${other.id}/envs`, { name: 'staging' })
  const envPath = `/projects/${other.id}/envs/${staging.id}`
  await t.docker.createVolume({
    name: `davit-test-${project.id}`,
    labels: labelsFor({ ...ours(t, ada), projectId: project.id }),
  })
  await t.docker.createContainer({
    name: `davit-test-${staging.id}`,
    image: 'busybox',
    network: 'none',
    labels: labelsFor({ ...ours(t, ada), projectId: other.id, environmentId: staging.id }),
    memoryBytes: 16 * 1024 * 1024,
    cpus: 0.1,
    pidsLimit: 8,
  })
  updateProject(t.db, project.id, { deletingAt: new Date(), deletingVolumes: true })
  updateEnvironment(t.db, staging.id, { deletingAt: new Date() })

  expect((await ada.put(path, { name: 'other' })).status).toBe(409)
  expect((await ada.post(`${path}/deployments`)).status).toBe(409)
  expect((await ada.post(`${path}/envs`, { name: 'third' })).status).toBe(409)
  expect((await ada.get(path)).json.deleting).toBe(true)
  const asked = { environmentId: staging.id }
  expect((await ada.post(`/projects/${other.id}/deployments`, asked)).status).toBe(409)
  expect((await ada.put(envPath, { branch: 'next' })).status).toBe(409)
  expect((await ada.post(`/envs/${staging.id}/variables`, { key: 'A', value: 'x' })).status).toBe(
    409,
  )
  expect((await ada.get(envPath)).json.deleting).toBe(true)
  expect((await ada.page(`/projects/${other.id}/envs`)).text).toContain('being deleted')

  await recover(t.deps, { signal: new AbortController().signal })
  expect((await ada.get(path)).status).toBe(404)
  expect((await ada.get(envPath)).status).toBe(404)
  expect(await countOnEngine(t)).toEqual(nothing)
})

const ours = ({ instanceId }: TestApp, { user }: TestClient) => ({
  instanceId,
  kind: 'app' as const,
  ownerId: user.id,
})

test('volumes go only when they are named, in the query or the body, of a form or JSON', async () => {
  const { t, ada } = withAda(simulatedApp())
  const ask: ((path: string) => Promise<{ status: number; text: string }>)[] = [
    (path) => ada.delete(`${path}?volumes=1`),
    (path) => ada.delete(path, { volumes: true }),
    (path) => ada.htmx('DELETE', path, { volumes: '1' }),
    (path) => ada.htmx('DELETE', `${path}?volumes=on`),
  ]
  for (const send of ask) {
    const { json: project } = await ada.post('/projects', {
      name: 'site',
      repositoryUrl: 'file:///srv/x.git',
    })
    const name = `davit-test-${project.id}`
    const labels = Object.fromEntries(
      labelFilter(t.instanceId, { projectId: project.id }).map((label) => label.split('=')),
    )
    await t.docker.createVolume({ name, labels })
    for (const wrong of ['?volumes=maybe', '?volumes='])
      expect((await ada.delete(`/projects/${project.id}${wrong}`)).status).toBe(422)
    const answer = await send(`/projects/${project.id}`)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.text).toContain(name)
    expect(await countOnEngine(t)).toEqual(nothing)
  }
})

test('a deletion is recorded from its beginning, and not when the engine can’t be asked', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: 'file:///srv/x.git',
  })
  const path = `/projects/${project.id}`
  const fault = () => Promise.reject(new Failure('engine_timeout', 'No answer.', 'Wait.'))
  const deletions = () =>
    t.db.$client
      .query<{ name: string }, []>(
        "SELECT object_name name FROM audit_events WHERE action = 'project.deleted'",
      )
      .all()

  t.faults.info = fault
  expect((await ada.delete(path)).status).toBeGreaterThanOrEqual(500)
  expect(deletions()).toEqual([])
  expect((await ada.get(path)).json.deleting).toBe(false)

  delete t.faults.info
  t.faults.listContainers = fault
  expect((await ada.delete(path)).status).toBeGreaterThanOrEqual(500)
  expect(deletions()).toEqual([{ name: 'site' }])
  expect((await ada.get(path)).json.deleting).toBe(true)
})

test('of two environments deleted at once one stays', async () => {
  const { ada } = withAda(simulatedApp())
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: 'file:///srv/x.git',
  })
  const path = `/projects/${project.id}/envs`
  await ada.post(path, { name: 'staging' })
  const both = (await ada.get(path)).json.items
  const answers = await Promise.all(
    both.map(({ id }: { id: string }) => ada.delete(`${path}/${id}`)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await ada.get(path)).json.items).toHaveLength(1)
})

test('an environment that takes long to go is recorded at once, and goes on after the answer', async () => {
  const { t, ada } = withAda(simulatedApp({}, { config: { acceptTimeout: 50 } }))
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: 'file:///srv/x.git',
  })
  const { json: staging } = await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })
  const path = `/projects/${project.id}/envs/${staging.id}`
  const { promise: slow, resolve: release } = Promise.withResolvers<void>()
  t.faults.listContainers = () => slow.then(() => [])

  const answer = await ada.delete(path)
  expect([answer.status, answer.headers.get('Location')]).toEqual([202, path])
  expect(answer.json).toEqual({ removed: [] })
  const recorded = t.db.$client.query(
    "SELECT 1 FROM audit_events WHERE action = 'environment.deleted'",
  )
  expect(recorded.all()).toHaveLength(1)
  // should it fail, it can be tried again in its settings, to which all of its pages lead
  expect((await ada.page(`${path}/edit`)).text).toContain('value="Delete environment"')
  for (const page of [path, `/projects/${project.id}/envs`])
    expect((await ada.page(page)).text).toContain(`href="${path}/edit"`)

  release()
  while ((await ada.get(path)).status !== 404) await new Promise(setImmediate)
})

test('a deployment that comes while its environment goes leaves nothing behind', async () => {
  const { t, ada } = withAda(simulatedApp())
  const repository = aRepository(t.dataDir, anApp('hello'))
  const { json: project } = await ada.post('/projects', {
    name: 'a',
    repositoryUrl: repository.url,
  })
  const path = `/projects/${project.id}`
  for (let i = 0; i < 5; i++) {
    const { json: staging } = await ada.post(`${path}/envs`, { name: 'staging' })
    const body = { environmentId: staging.id }
    const going = ada.delete(`${path}/envs/${staging.id}`)
    await Bun.sleep(i * 3)
    const { status } = await ada.post(`${path}/deployments`, body)
    expect([201, 409, 422]).toContain(status)
    expect((await going).status).toBe(200)
  }
  await t.jobs.idle()
  expect(await countOnEngine(t)).toMatchObject({ containers: 0, images: 0 })
  expect(rowsOf(t)).toEqual([1, 1, 0, 0, 0])
})
