import { afterAll, describe, expect, test } from 'bun:test'
import { insertUser } from '../../src/accounts/store.ts'
import { projects, registries } from '../../src/db/schema.ts'
import { listSources } from '../../src/git/store.ts'
import { labelFilter } from '../../src/docker/labels.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { addSource } from '../git/source.ts'
import { answerOf, idle, leftOf, made, site } from '../services/instances.ts'
import { simulatedApp, testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { contentsOf } from '../support/refusals.ts'
import { addProject, pathOf, people } from './people.ts'

const gitea = startProviderServer('gitea')
afterAll(() => gitea.stop())

describe('what a deleted user had', () => {
  test('is the heir’s at once: apps and services run on, and are found by their labels', async () => {
    const t = testApp()
    const { root, bob, eve } = people(t)
    const project = await aProject(t, bob, anApp('still here'), { volumes: ['data:/data'] })
    const first = await project.deploy()
    const service = await made(
      t,
      bob,
      site.replace('ports:', 'volumes: ["kept:/kept"]\n    ports:') + 'volumes: {kept: {}}',
    )
    const answer = await root.delete(pathOf(bob), { belongings: 'give', heirId: eve.user.id })
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        projects: ['site'],
        services: ['thing'],
        heir: { id: eve.user.id, email: eve.user.email },
      },
    ])
    expect((await bob.get('/projects')).status).toBe(401)
    expect(await answerOf(service)).toBe('hello')

    const own = (await eve.get('/containers/api')).json.containers
    expect(own.map(({ project, service }: any) => project ?? service).sort()).toEqual(
      [project.id, service.id].sort(),
    )
    for (const { id } of own) {
      expect((await eve.get(`/containers/${id}`)).json).toMatchObject({ own: true })
      expect((await eve.post(`/containers/${id}/restart`)).status).toBe(200)
    }
    const plan = (
      await root.post('/settings/prune', {
        what: ['containers', 'networks', 'volumes', 'images'],
        dryRun: true,
      })
    ).json
    const names = JSON.stringify(plan.candidates)
    for (const id of [project.id, project.environmentId, service.id])
      expect(names).not.toContain(id)

    const changed = await eve.put(`/services/${service.id}`, { GREETING: 'of eve' })
    expect(changed.json).toMatchObject({ status: 'running', error: null })
    expect(await answerOf(changed.json)).toBe('of eve')
    expect((await leftOf(t, service)).volumes).toEqual([`davit-${service.id}-kept`])
    const second = await deployedBy(eve, project.id, t)
    expect(second).toMatchObject({ status: 'running' })
    const path = `/projects/${project.id}/deployments/${first.id}/rollback`
    expect((await eve.post(path)).status).toBe(201)
    await t.jobs.idle()
    expect((await eve.get(`/projects/${project.id}/deployments`)).json.items[0].status).toBe(
      'running',
    )

    expect((await eve.delete(`/projects/${project.id}`, { volumes: true })).status).toBe(200)
    expect((await eve.delete(`/services/${service.id}`, { volumes: true })).status).toBe(200)
    const labels = labelFilter(t.instanceId)
    expect(await t.docker.listContainers({ labels, all: true })).toEqual([])
    expect(await t.docker.listVolumes({ labels })).toEqual([])
    expect(await t.docker.listNetworks({ labels })).toEqual([])
  })

  test('stays when they delete it as they are deleted, and the engine responds only then', async () => {
    const t = simulatedApp()
    const { root, bob, eve } = people(t)
    const project = await aProject(t, bob, anApp('x'), { port: 0, volumes: ['data:/data'] })
    await project.deploy()
    const preview = await bob.post(`/projects/${project.id}/envs`, { name: 'preview' })
    const service = await made(t, bob, `services: {a: {${idle}}}`)
    const asked = Promise.withResolvers<void>()
    const given = Promise.withResolvers<void>()
    let count = 0
    t.faults.info = async () => {
      if (++count === 3) asked.resolve()
      await given.promise
      return t.docker.info()
    }
    const paths = ['', `/envs/${preview.json.id}`].map((path) => `/projects/${project.id}${path}`)
    const deletions = [...paths, `/services/${service.id}`].map((path) =>
      bob.delete(path, { volumes: true }),
    )
    await asked.promise
    expect((await root.delete(pathOf(bob), { heirId: eve.user.id })).status).toBe(200)
    const before = contentsOf(t)
    given.resolve()
    expect((await Promise.all(deletions)).map(({ status }) => status)).toEqual([404, 404, 404])
    expect(contentsOf(t)).toEqual(before)
    expect((await eve.get(`/services/${service.id}`)).json.status).toBe('running')
    expect((await eve.get(`/projects/${project.id}`)).json.deleting).toBe(false)
  })

  test('has images that the heir may build on, and no one else', async () => {
    const t = simulatedApp()
    const { root, bob, eve } = people(t)
    const { image } = await (await aProject(t, bob, anApp('x'), { port: 0 })).deploy()
    await root.delete(pathOf(bob), { heirId: eve.user.id })
    const onTop = { Dockerfile: `FROM ${image}\nCMD ["sleep", "9999"]\n` }
    const own = await aProject(t, eve, onTop, { name: 'on-top', port: 0 })
    expect(await own.deploy()).toMatchObject({ status: 'running' })
    const carol = t.logIn('carol@example.com')
    const foreign = await aProject(t, carol, onTop, { name: 'of-carol', port: 0 })
    expect((await foreign.deploy()).error.code).toBe('base_image_not_found')
  })

  test('goes to the admin who deletes when no heir is named, under names that are free', async () => {
    const t = testApp()
    const { root, bob } = people(t)
    const long = 'x'.repeat(60)
    for (const name of ['site', long]) addProject(t, root, name)
    for (const name of ['site', 'site (2)', long]) addProject(t, bob, name)
    const answer = await root.delete(pathOf(bob))
    expect(answer.json).toMatchObject({ heir: { id: root.user.id } })
    const names = t.db.select().from(projects).all()
    expect(names.map(({ name }) => name).sort()).toEqual(
      ['site', 'site (2)', 'site (2) (2)', long, `${'x'.repeat(56)} (2)`].sort(),
    )
    expect(new Set(names.map(({ ownerId }) => ownerId))).toEqual(new Set([root.user.id]))
  })

  test('has services whose hosts are not those of the heir’s own', async () => {
    const t = simulatedApp()
    const { root, bob } = people(t)
    const compose = `services: {a: {${idle}}}`
    for (const [client, name] of [
      [root, 'cache'],
      [bob, 'cache'],
      [bob, 'cache 2'],
    ] as const)
      await client.post('/services/compose', { name, compose })
    await t.jobs.idle()
    expect((await root.delete(pathOf(bob))).status).toBe(200)
    const { instances } = (await root.get('/services')).json
    expect(instances.map(({ host }: { host: string }) => host).sort()).toEqual([
      'cache',
      'cache-2',
      'cache-2-2',
    ])
  })

  test('has its git sources and registry logins with it; the heir’s own login stays', async () => {
    const t = testApp()
    const { root, bob, eve } = people(t)
    gitea.add({ fullName: 'team/app' })
    const sourceId = await addSource(bob, gitea, 'ours')
    const project = addProject(t, bob, 'site')
    t.db.update(projects).set({ sourceId }).run()
    const addLogin = (ownerId: string, host: string) =>
      t.db
        .insert(registries)
        .values({ ownerId, host, username: 'x', password: 'sealed' })
        .returning()
        .get()
    for (const host of ['a.example.com', 'b.example.com']) addLogin(bob.user.id, host)
    const own = addLogin(eve.user.id, 'a.example.com')
    await root.delete(pathOf(bob), { heirId: eve.user.id })
    const ownerId = eve.user.id
    expect(listSources(t.db, ownerId)).toMatchObject([{ id: sourceId }])
    expect((await eve.get(`/projects/${project.id}`)).json).toMatchObject({ sourceId })
    const logins = (await eve.get('/settings/registries')).json.items as {
      id: string
      host: string
    }[]
    expect(logins.map(({ host }) => host).sort()).toEqual(['a.example.com', 'b.example.com'])
    expect(logins.map(({ id }) => id)).toContain(own.id)
  })

  test.each([
    ['who is not there', () => Bun.randomUUIDv7()],
    [
      'who is disabled',
      (t: TestApp) =>
        insertUser(t.db, { email: 'c@d.example', role: 'member', disabledAt: new Date() }).id,
    ],
    ['who is the one deleted', (_: TestApp, bob: TestClient) => bob.user.id],
  ])('is not given to someone %s', async (_, heirOf) => {
    const t = testApp()
    const { root, bob } = people(t)
    const answer = await root.delete(pathOf(bob), { heirId: heirOf(t, bob) })
    expect([answer.status, answer.json.errors[0].field]).toEqual([422, 'heirId'])
    expect((await bob.get('/projects')).status).toBe(200)
  })

  test('is asked about first, by name', async () => {
    const t = testApp()
    const { root, bob } = people(t)
    addProject(t, bob, 'site <one>')
    await made(t, bob, site)
    const { text } = await root.htmx('GET', `${pathOf(bob)}/delete`)
    expect(text).toContain('site &lt;one&gt;')
    expect(text).toContain('thing')
    expect(text).toContain('root@example.com (you)')
    const query = new URLSearchParams({ belongings: 'give', heir_id: root.user.id })
    const answer = await root.htmx('DELETE', `${pathOf(bob)}?${query}`)
    expect(answer.headers.get('HX-Redirect')).toBe('/settings/users')
  })
})

async function deployedBy(client: TestClient, projectId: string, t: TestApp) {
  await client.post(`/projects/${projectId}/deployments`)
  await t.jobs.idle()
  return (await client.get(`/projects/${projectId}/deployments`)).json.items[0]
}
