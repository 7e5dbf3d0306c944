import { describe, expect, test } from 'bun:test'
import { getUser } from '../../src/accounts/store.ts'
import { recoverRemovals } from '../../src/admin/recover.ts'
import { services } from '../../src/db/schema.ts'
import { recover } from '../../src/deployments/recover.ts'
import { Failure } from '../../src/platform/errors.ts'
import { labelFilter } from '../../src/docker/labels.ts'
import { recoverServices } from '../../src/services/recover.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { leftOf, made, site } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { addProject, pathOf, people } from './people.ts'

describe('deleted with the user', () => {
  test('are projects and services, and their volumes when that is asked for', async () => {
    for (const volumes of [false, true]) {
      const t = testApp()
      const { root, bob } = people(t)
      const project = await aProject(t, bob, anApp('x'), { volumes: ['data:/data'] })
      await project.deploy()
      await made(t, bob, site)
      const answer = await root.delete(pathOf(bob), { belongings: 'delete', volumes })
      expect(answer.status).toBe(200)
      expect(answer.json).toEqual({ projects: ['site'], services: ['thing'], heir: null })
      expect(getUser(t.db, bob.user.id)).toBeUndefined()
      const labels = labelFilter(t.instanceId)
      expect(await t.docker.listContainers({ labels, all: true })).toEqual([])
      expect(await t.docker.listImages({ labels })).toEqual([])
      expect(await t.docker.listVolumes({ labels })).toHaveLength(volumes ? 0 : 1)
    }
  })

  test('is nothing while the engine doesn’t respond', async () => {
    const t = testApp()
    const { root, bob } = people(t)
    addProject(t, bob, 'site')
    const away = new Failure('engine_unreachable', 'The engine is away.', 'Start it.')
    t.faults.info = () => Promise.reject(away)
    expect((await root.delete(pathOf(bob), { belongings: 'delete' })).status).toBe(503)
    expect((await bob.get('/projects')).json.items).toHaveLength(1)
  })

  test('is what a crash left, at the next start', async () => {
    const t = testApp()
    const { root, bob } = people(t)
    addProject(t, bob, 'site')
    const service = await made(t, bob, site)
    t.faults.removeNetwork = () => Promise.reject(new Error('a crash'))
    await root.delete(pathOf(bob), { belongings: 'delete' })
    expect(getUser(t.db, bob.user.id)).toMatchObject({ deletingAt: expect.any(Date) })
    expect((await root.get('/settings/users')).json.items).toContainEqual(
      expect.objectContaining({ email: bob.user.email, deleting: true }),
    )
    expect((await root.put(pathOf(bob), { disabled: false })).status).toBe(409)
    expect((await root.delete(pathOf(bob), { belongings: 'give' })).status).toBe(409)
    delete t.faults.removeNetwork
    const { signal } = new AbortController()
    await recover(t.deps, { signal })
    await recoverServices(t.deps, { signal })
    await recoverRemovals(t.deps, { signal })
    expect(getUser(t.db, bob.user.id)).toBeUndefined()
    expect(t.db.select().from(services).all()).toEqual([])
    expect((await leftOf(t, service)).networks).toEqual([])
  })
})
