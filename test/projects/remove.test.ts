import { expect, onTestFinished, spyOn, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { recover } from '../../src/deployments/recover.ts'
import { Failure } from '../../src/errors.ts'
import { labelFilter } from '../../src/projects/labels.ts'
import { listProjectsBeingDeleted, updateProject } from '../../src/projects/store.ts'
import { patience } from '../../src/web/within.ts'
import { aRepository, anApp, deployed } from '../deployments/apps.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

type Removed = { kind: string; name: string }

/** A project that runs, with a volume. */
async function aRunningProject(t: TestApp, ada: TestClient, name = 'site') {
  const repository = aRepository(t.dataDir, anApp('hello'), `${name}.git`)
  const { json: project } = await ada.post('/projects', { name, repositoryUrl: repository.url })
  const path = `/projects/${project.id}`
  const [environment] = (await ada.get(`${path}/envs`)).json.items
  await ada.put(`${path}/envs/${environment.id}`, { volumes: ['data:/data'] })
  const deployment = await deployed(ada, project.id)
  expect(deployment.error).toBeNull()
  return { project, environment, deployment, path }
}

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
  logDb.$client.query<{ n: number }, []>('SELECT count(*) n FROM deployment_logs').get()!.n,
]

const kinds = (removed: Removed[]) => removed.map(({ kind }) => kind)

const nothing = { containers: 0, images: 0, networks: 0, volumes: 0 }
const mirrors = ({ dataDir }: TestApp) => readdirSync(join(dataDir, 'mirrors'))

test('a deleted project takes all that was made for it along, its volumes stay', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { project, environment, deployment, path } = await aRunningProject(t, ada)
  const kept = await ada.post('/projects', { name: 'kept', repositoryUrl: project.repositoryUrl })
  await ada.post(`/envs/${environment.id}/variables`, { key: 'A', value: 'x' })
  expect(await countOnEngine(t)).toEqual({ containers: 1, images: 1, networks: 1, volumes: 1 })
  expect((await ada.page(`${path}/delete`)).text).toContain(`davit-${environment.id}-data`)

  const answer = await ada.delete(path)
  expect(answer.status).toBe(200)
  expect(kinds(answer.json.removed)).toEqual(['container', 'image', 'network', 'project'])
  expect(answer.json.removed).toContainEqual({ kind: 'image', name: deployment.image })
  expect(await countOnEngine(t)).toEqual({ ...nothing, volumes: 1 })
  expect(rowsOf(t)).toEqual([1, 1, 0, 0, 0])
  expect(mirrors(t)).toHaveLength(1) // another project needs it
  expect((await ada.get(path)).status).toBe(404)
  expect(fetch(deployment.url)).rejects.toThrow()

  const last = await ada.delete(`/projects/${kept.json.id}`)
  expect(kinds(last.json.removed)).toEqual(['git mirror', 'project'])
  expect(mirrors(t)).toEqual([])
  expect((await ada.delete(path)).status).toBe(404)
})

test('volumes go only when they are named, in the query or the body, of a form or JSON', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
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

test('what is not ours stays, even where it uses what is', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { deployment, path } = await aRunningProject(t, ada)
  const name = `foreign-${Bun.randomUUIDv7()}`
  await t.docker.createVolume({ name })
  const network = await t.docker.createNetwork({ name })
  const container = await t.docker.createContainer({
    name,
    image: deployment.image, // its labels come along
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
    await t.docker.removeImage(deployment.image, { force: true })
  })
  await t.docker.startContainer(container)

  const answer = await ada.delete(path, { volumes: true })
  expect(answer.status, answer.text).toBe(200)
  expect(kinds(answer.json.removed)).toEqual([
    'container',
    'network',
    'volume',
    'git mirror',
    'project',
  ])
  expect((await t.docker.inspectContainer(container))!.state).toBe('running')
  expect(await t.docker.inspectImage(deployment.image)).not.toBeNull()
  expect((await t.docker.listVolumes()).map((volume) => volume.name)).toContain(name)
  expect((await t.docker.listNetworks()).map(({ id }) => id)).toContain(network)
})

test('a deletion that a crash broke off goes on at the next start', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { project, path } = await aRunningProject(t, ada)
  updateProject(t.db, project.id, { deletingAt: new Date(), deletingVolumes: true })
  expect((await ada.put(path, { name: 'other' })).status).toBe(409)
  expect((await ada.post(`${path}/deployments`)).status).toBe(409)
  expect((await ada.post(`${path}/envs`, { name: 'staging' })).status).toBe(409)
  expect((await ada.get(path)).json.deleting).toBe(true)

  await recover(t.deps, { signal: new AbortController().signal })
  expect(listProjectsBeingDeleted(t.db)).toEqual([])
  expect(await countOnEngine(t)).toEqual(nothing)
  expect((await ada.get(path)).status).toBe(404)
})

test('a deletion is recorded from its beginning, and not when the engine can not be asked', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
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

  t.deps.docker = { ...t.docker, info: fault }
  expect((await ada.delete(path)).status).toBeGreaterThanOrEqual(500)
  expect(deletions()).toEqual([])
  expect((await ada.get(path)).json.deleting).toBe(false)

  t.deps.docker = { ...t.docker, listContainers: fault }
  expect((await ada.delete(path)).status).toBeGreaterThanOrEqual(500)
  expect(deletions()).toEqual([{ name: 'site' }])
  expect((await ada.get(path)).json.deleting).toBe(true)
  t.deps.docker = t.docker // what the test has made is removed the usual way
})

test('a project may be deleted while it is built, and twice at once', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const slow = aRepository(t.dataDir, { Dockerfile: 'FROM busybox\nRUN sleep 60\n' })
  const { json: project } = await ada.post('/projects', { name: 'slow', repositoryUrl: slow.url })
  const path = `/projects/${project.id}`
  const { json: deployment } = await ada.post(`${path}/deployments`)
  const log = await ada.send(`${path}/deployments/${deployment.id}/logs`)
  const reader = log.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; !text.includes('sleep 60');) text += (await reader.read()).value

  const answers = await Promise.all([ada.delete(path), ada.delete(path)])
  for (const { status, text } of answers) expect([200, 404], text).toContain(status)
  await reader.cancel()
  expect(await countOnEngine(t)).toEqual(nothing)
  expect(rowsOf(t)).toEqual([0, 0, 0, 0, 0])
})

test('a deleted environment takes its own things along, and no others', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { project, environment, path } = await aRunningProject(t, ada)
  expect((await ada.delete(`${path}/envs/${environment.id}`)).status).toBe(409)
  const { json: staging } = await ada.post(`${path}/envs`, { name: 'staging' })
  const other = await deployed(ada, project.id, { environmentId: staging.id })
  expect(await countOnEngine(t)).toMatchObject({ containers: 2, images: 2 })

  const answer = await ada.delete(`${path}/envs/${environment.id}`)
  expect(answer.status).toBe(200)
  expect(kinds(answer.json.removed)).toEqual(['container', 'image', 'environment'])
  expect(await countOnEngine(t)).toEqual({ containers: 1, images: 1, networks: 1, volumes: 1 })
  const logged = t.logDb.$client.query<{ id: string }, []>(
    'SELECT DISTINCT deployment_id id FROM deployment_logs',
  )
  expect(logged.all()).toEqual([{ id: other.id }])
  expect(await (await fetch(other.url)).text()).toBe('hello')
})

test('of two environments deleted at once one stays', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
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
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: 'file:///srv/x.git',
  })
  const { json: staging } = await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })
  const path = `/projects/${project.id}/envs/${staging.id}`
  const { promise: slow, resolve: release } = Promise.withResolvers<void>()
  t.deps.docker = { ...t.docker, listContainers: () => slow.then(() => []) }
  const timeout = globalThis.setTimeout
  using _ = spyOn(globalThis, 'setTimeout').mockImplementation(((
    act: () => void,
    after: number,
    ...given: unknown[]
  ) => timeout(act, after === patience ? 0 : after, ...given)) as typeof setTimeout)

  const answer = await ada.delete(path)
  expect([answer.status, answer.headers.get('Location')]).toEqual([202, path])
  expect(answer.json).toEqual({ removed: [] })
  const recorded = t.db.$client.query(
    "SELECT 1 FROM audit_events WHERE action = 'environment.deleted'",
  )
  expect(recorded.all()).toHaveLength(1)

  release()
  while ((await ada.get(path)).status !== 404) await new Promise(setImmediate)
  t.deps.docker = t.docker
})

test('a deployment that comes while its environment goes leaves nothing behind', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
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
    expect([201, 422]).toContain(status)
    expect((await going).status).toBe(200)
  }
  await t.queue.idle()
  expect(await countOnEngine(t)).toMatchObject({ containers: 0, images: 0 })
  expect(rowsOf(t)).toEqual([1, 1, 0, 0, 0])
})
