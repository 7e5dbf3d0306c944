import { describe, expect, test } from 'bun:test'
import { planOf } from '../../src/addresses/plan.ts'
import { noteWhatRan } from '../../src/db/restored.ts'
import { reconcileAfterRestore } from '../../src/deployments/reconcile-after-restore.ts'
import { getJob, updateDeployment } from '../../src/deployments/store.ts'
import { endJob } from '../../src/jobs/store.ts'
import type { TestOverrides } from '../support/app.ts'
import { hash, setUp } from './pulls.ts'

/** A preview of a fork, and what approves its commits. */
async function aFork(settings: Record<string, unknown> = {}, overrides: TestOverrides = {}) {
  const s = await setUp({ forks: 'approve', ...settings }, overrides)
  await s.tell({ from: 43, head: hash(1) })
  const made = await s.find()
  const path = `${s.path}/envs/${made.id}`
  const approve = (commit: string, client = s.ada) => client.post(`${path}/approve`, { commit })
  const stored = () =>
    s.t.db.$client
      .query('SELECT requested_commit AS hash, branch, ref_type AS type FROM deployments')
      .all()
  return { ...s, made, at: path, approve, stored }
}

test('of a fork nothing is deployed until exactly that commit is approved', async () => {
  const s = await aFork()
  expect(s.reasons()).toEqual([['accepted', expect.any(String)]])
  expect(s.made.preview).toMatchObject({ fork: true, commit: hash(1), approvedCommit: null })
  expect(s.stored()).toEqual([])
  const approved = await s.approve(hash(1))
  expect(approved).toMatchObject({ status: 201, json: { environmentId: s.made.id } })
  expect(s.stored()).toEqual([{ hash: hash(1), branch: 'refs/pull/7/head', type: 'pull' }])
  expect((await s.find()).preview.approvedCommit).toBe(hash(1))
})

test('each new commit needs another approval, and one that is not the newest is refused', async () => {
  const s = await aFork()
  await s.approve(hash(1))
  await s.tell({ from: 43, action: 'synchronize', head: hash(2) })
  expect(s.stored()).toBeArrayOfSize(1)
  expect(await s.approve(hash(1))).toMatchObject({ status: 409 })
  expect(await s.approve(hash(3))).toMatchObject({ status: 409 })
  expect((await s.approve(hash(2))).status).toBe(201)
  expect((await s.approve(hash(2))).status).toBe(409)
  expect(s.commits()).toEqual([hash(1), hash(2)])
})

describe('in no other way', () => {
  test('is another commit deployed there', async () => {
    const s = await aFork()
    const deploy = (more = {}) =>
      s.ada.post(`${s.path}/deployments`, { environmentId: s.made.id, ...more })
    expect((await deploy()).status).toBe(409)
    expect((await deploy({ commit: hash(1) })).status).toBe(409)
    await s.approve(hash(1))
    for (const more of [{ branch: 'main' }, { tag: 'v1' }, { commit: hash(2) }])
      expect((await deploy(more)).status).toBe(409)
    expect((await deploy()).status).toBe(201)
    expect(s.commits()).toEqual([hash(1), hash(1)])
  })

  test('does a replay of its delivery approve it', async () => {
    const s = await aFork()
    const [delivery] = (await s.ada.get(`${s.path}/deliveries`)).json.items
    await s.ada.post(`${s.path}/deliveries/${delivery.id}/replay`)
    expect(s.stored()).toEqual([])
  })

  test('does another member', async () => {
    const s = await aFork()
    expect((await s.approve(hash(1), s.t.logIn('eve@example.com'))).status).toBe(404)
    expect(s.stored()).toEqual([])
  })
})

test('what is approved gets neither secret variables nor services', async () => {
  const s = await setUp({ forks: 'approve' })
  const variables = `/envs/${s.base.id}/variables`
  await s.ada.post(variables, { key: 'LEVEL', value: 'debug' })
  await s.ada.post(variables, { key: 'TOKEN', value: 'a secret of the base', secret: true })
  await s.link()
  for (const [number, services] of [
    [7, 'shared'],
    [8, 'fresh'],
  ] as const) {
    await s.change({ variables: ['LEVEL', 'TOKEN'], services })
    await s.tell({ from: 43, number })
    const made = await s.find(`pr-${number}`)
    expect(made.links).toEqual([])
    expect(s.openVariables(made.id)).toMatchObject([{ key: 'LEVEL' }])
  }
  expect(await s.services()).toBeArrayOfSize(1)
})

test('those that wait for their first approval take no place of the others', async () => {
  const s = await setUp({ forks: 'approve', max: 1 })
  await s.tell({ from: 43, number: 1 })
  await s.tell({ from: 43, number: 2 })
  expect(await s.find('pr-2')).toBeUndefined()
  const { id } = await s.find('pr-1')
  expect((await s.tell({ number: 3 })).status).toBe(202)
  const approve = () => s.ada.post(`${s.path}/envs/${id}/approve`, { commit: hash(1) })
  expect((await approve()).status).toBe(409) // pr-3 has the place
  await s.change({ max: 2 })
  expect((await approve()).status).toBe(201)
  await s.tell({ number: 4 })
  expect(await s.find('pr-4')).toBeUndefined()
})

test('its name is served, with a certificate, only once a commit was approved', async () => {
  const s = await aFork({}, { config: { domain: 'example.com' } })
  const isServed = () => planOf(s.t.deps).hosts.some(({ name }) => name.includes('pr-7'))
  expect(isServed()).toBe(false)
  expect((await s.approve(hash(1))).status).toBe(201)
  expect(isServed()).toBe(true)
})

test('it stays one of a fork when it is deployed again after a restore', async () => {
  const s = await aFork()
  const { json } = await s.approve(hash(1))
  updateDeployment(s.t.db, json.id, { status: 'running' })
  endJob(s.t.db, json.id)
  noteWhatRan(s.t.db)
  await reconcileAfterRestore(s.t.deps, { signal: new AbortController().signal })
  const approved = { hash: hash(1), branch: 'refs/pull/7/head', type: 'pull' }
  expect(s.stored()).toEqual([approved, approved])
})

test('after a restore, one whose commit isn’t known is not deployed again: it may not be what was approved', async () => {
  const s = await aFork()
  const { json } = await s.approve(hash(1))
  const unknown = { commitHash: null, requestedCommit: null }
  updateDeployment(s.t.db, json.id, { status: 'running', ...unknown })
  endJob(s.t.db, json.id)
  noteWhatRan(s.t.db)
  await reconcileAfterRestore(s.t.deps, { signal: new AbortController().signal })
  expect(s.stored()).toHaveLength(1)
  expect(getJob(s.t.db, json.id)!.deployment.status).toBe('stopped')
})

test('while previews of forks are off, one that is there is neither approved nor changed', async () => {
  const s = await aFork()
  await s.change({ forks: 'never' })
  expect((await s.approve(hash(1))).status).toBe(409)
  await s.tell({ from: 43, action: 'synchronize', head: hash(2) })
  expect((await s.find()).preview.commit).toBe(hash(1))
})

test('a preview of a branch never becomes one of a fork', async () => {
  const s = await setUp({ forks: 'approve' })
  await s.tell()
  await s.tell({ from: 43, action: 'synchronize', head: hash(2) })
  expect((await s.find()).preview).toMatchObject({ fork: false, commit: hash(1) })
  expect(s.commits()).toEqual([hash(1)])
})

test('its page shows the commit, and a button for it, and no markup of the title', async () => {
  const s = await setUp({ forks: 'approve' })
  await s.tell({ from: 43, title: '<img src=x onerror=alert(1)>\u202e\nx'.repeat(20) })
  const made = await s.find()
  expect(made.preview.title.length).toBeLessThanOrEqual(250)
  for (const path of [`${s.path}/envs/${made.id}`, `${s.path}/envs`, `${s.path}/previews`]) {
    const { status, text } = await s.ada.page(path)
    expect(status).toBe(200)
    expect(text).not.toContain('<img src=x')
    expect(text).toContain('approval')
  }
  const form = { commit: hash(1) }
  const { status, headers } = await s.ada.form(`${s.path}/envs/${made.id}/approve`, form)
  expect([status, headers.get('Location')]).toEqual([303, expect.stringContaining('/deployments/')])
})
