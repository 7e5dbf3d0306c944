import { expect, test } from 'bun:test'
import { insertDeployment } from '../../../src/deployments/store.ts'
import { connectDocker } from '../../../src/docker/index.ts'
import { labelsFor } from '../../../src/docker/labels.ts'
import { testApp, withRoot } from '../../support/app.ts'
import type { TestApp } from '../../support/app.ts'
import type { TestClient } from '../../support/client.ts'
import { anOwn, aStranger } from '../engine.ts'
import { earlier, of, preview } from './things.ts'
import type { Entry } from './things.ts'

/** A container of that environment which another took the place of. */
async function aSuperseded(t: TestApp, client: TestClient) {
  const { labels, deployment, id: served } = await anOwn(t, client, 'exit 0')
  const row = insertDeployment(t.db, { ...deployment, ...earlier() })
  const superseded = { ...labels, 'davit.deployment': row.id }
  return { served, id: await aStranger(t, 'exit 0', { labels: superseded }) }
}

const isThere = async (t: TestApp, id: string) => (await t.docker.inspectContainer(id)) !== null

test('a dry run names what can go and what stays, and changes nothing', async () => {
  const { t, root } = withRoot(testApp())
  const { served, id } = await aSuperseded(t, root)
  const stranger = await aStranger(t, 'exit 0')
  const busy = await aStranger(t, 'sleep 99')
  await t.docker.startContainer(busy)

  const { removed, candidates, kept } = await preview(root, ['containers'])
  expect(removed.map((thing) => thing.id)).toEqual([id])
  expect(of(candidates, id)).toMatchObject({ owner: 'davit', byDefault: true, kind: 'container' })
  expect(of(candidates, stranger)).toMatchObject({ owner: 'other', byDefault: false })
  expect(of(kept, served)!.reason).toContain('production is running in')
  expect(of(kept, busy)!.reason).toBe('it is running')
  for (const container of [id, served, stranger, busy])
    expect(await isThere(t, container)).toBe(true)
  expect(t.cleanUps.latest).toBeNull()
})

test('without items all that is Davit’s goes, and nothing of others', async () => {
  const { t, root } = withRoot(testApp())
  const { served, id } = await aSuperseded(t, root)
  const stranger = await aStranger(t, 'exit 0')
  const service = { instanceId: t.instanceId, kind: 'service', ownerId: root.user.id } as const
  const labels = labelsFor({ ...service, serviceId: Bun.randomUUIDv7() })
  const [network, volume] = ['network', 'volume'].map((what) => `test-${what}-${t.instanceId}`)
  const networkId = await t.docker.createNetwork({
    name: network!,
    labels,
    subnet: '10.213.8.0/28',
  })
  await t.docker.createVolume({ name: volume!, labels })

  const answer = await root.post('/settings/prune', {
    what: ['containers', 'images', 'networks', 'volumes'],
  })
  expect(answer.status).toBe(200)
  expect(answer.json).toMatchObject({
    dryRun: false,
    complete: true,
    removed: [
      { kind: 'container', id },
      { kind: 'network', id: networkId, name: network },
    ],
    skipped: [{ kind: 'volume', id: volume, reason: 'a volume is only removed when it is named' }],
  })
  expect(await isThere(t, id)).toBe(false)
  expect(await isThere(t, served)).toBe(true)
  expect(await isThere(t, stranger)).toBe(true)
  expect((await t.docker.listVolumes()).map(({ name }) => name)).toContain(volume!)

  const named = await root.post('/settings/prune', {
    what: ['volumes'],
    items: [`volume:${volume}`],
  })
  expect(named.json.removed).toMatchObject([{ kind: 'volume', id: volume }])
  expect((await t.docker.listVolumes()).map(({ name }) => name)).not.toContain(volume!)
})

test('with items exactly those go; what is needed by now stays, and is reported with the reason', async () => {
  const { t, root } = withRoot(testApp())
  const mine = await aSuperseded(t, root)
  const [ticked, used, served] = [
    await aStranger(t, 'exit 0'),
    await aStranger(t, 'sleep 99'),
    mine.served,
  ]
  const { candidates } = await preview(root, ['containers'])
  const items = [ticked, used].map((id) => of(candidates, id)!.item)
  await t.docker.startContainer(used)
  const gone = `container:${'0'.repeat(64)}`

  const { status, json } = await root.post('/settings/prune', {
    what: ['containers'],
    items: [...items, `container:${served}`, gone],
  })
  expect(status).toBe(200)
  expect(json.removed).toMatchObject([{ kind: 'container', id: ticked }])
  const reasons = new Map(json.skipped.map(({ id, reason }: Entry) => [id, reason]))
  expect(reasons.get(used)).toBe('it is running')
  expect(reasons.get(served)).toContain('production is running in')
  expect(reasons.get('0'.repeat(64))).toBe('it had already been removed')
  expect(await isThere(t, ticked)).toBe(false)
  expect(await isThere(t, mine.id)).toBe(true) // it may go, but was not ticked
})

test('what comes into use in the last moment is refused by the engine, and told', async () => {
  const { t, root } = withRoot(testApp())
  const id = await aStranger(t, 'sleep 99')
  const { removeContainer } = t.docker
  t.faults.removeContainer = async (...call) => {
    await t.docker.startContainer(id)
    return removeContainer(...call)
  }
  const { json } = await root.post('/settings/prune', {
    what: ['containers'],
    items: [`container:${id}`],
  })
  delete t.faults.removeContainer
  expect(json.removed).toEqual([])
  const reason = expect.stringMatching(/running container|container is running/)
  expect(json.skipped).toMatchObject([{ id, reason }])
})

test('an engine that goes away in the middle leaves what is left named, and the audit log tells', async () => {
  const { t, root } = withRoot(testApp())
  const [first, second] = [await aStranger(t, 'exit 0'), await aStranger(t, 'exit 0')]
  const { removeContainer } = t.docker
  const away = connectDocker({ host: 'unix:///nowhere/docker.sock' })
  let calls = 0
  t.faults.removeContainer = (...call) =>
    (calls++ === 0 ? removeContainer : away.removeContainer)(...call)
  const { status, json } = await root.post('/settings/prune', {
    what: ['containers'],
    items: [first, second].map((id) => `container:${id}`),
  })
  delete t.faults.removeContainer
  expect(status).toBe(200)
  expect(json).toMatchObject({ complete: false, removed: [{ kind: 'container' }] })
  expect(json.skipped).toMatchObject([{ reason: expect.stringContaining('can’t be reached') }])
  const [event] = (await root.get('/settings/audit?action=engine.pruned')).json.items
  expect(event).toMatchObject({
    actor: { email: 'root@example.com' },
    details: { removed: '1 container', skipped: '1', of: 'containers' },
  })
})
