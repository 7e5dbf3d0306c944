import { expect, spyOn, test } from 'bun:test'
import * as opening from '../../src/backups/restic/restic.ts'
import { events } from '../../src/db/schema.ts'
import { fillServer } from '../../src/backups/server/fill-server.ts'
import { getPlan } from '../../src/backups/store.ts'
import type { OpenTarget } from '../../src/backups/targets/store.ts'
import { listTargets } from '../../src/backups/targets/store.ts'
import { aService } from './scene.ts'
import { s3 } from './target-scene.ts'

type Scene = Awaited<ReturnType<typeof aService>>

/** Fills a server, of which nothing is there but for its own installation, without what is named and any target. */
async function fill(
  { t, ada }: Scene,
  {
    without = [] as string[],
    installation = 'another',
    targets = listTargets(t.db, ada.user.id).map(({ name }) => name),
    until = new Date(),
  },
) {
  await fillServer(t.deps, {
    ...{
      without: [...targets, ...without],
      installation,
      until,
      halfFilled: new Set(),
      isDry: false,
    },
    repository: { place: {} as OpenTarget, backup: 'of Davit', stored: [] },
    ...{ say() {}, signal: new AbortController().signal },
  })
}

const planOf = ({ db, service }: Scene) => getPlan(db, service.id)!

test.each([
  ['its target', []],
  ['its target and itself', ['thing']],
])(
  'what starts empty without %s keeps its backups: its plan is off, which its owner is told',
  async (_, without) => {
    const scene = await aService()
    await scene.plan()
    await scene.backUp()
    await fill(scene, { without })
    expect(planOf(scene)).toMatchObject({ nextAt: null, problem: { reason: 'not_restored' } })
    const { t, ada, service } = scene
    const about = { kind: 'backup_overdue', ownerId: ada.user.id, serviceId: service.id }
    expect(t.db.select().from(events).all()).toMatchObject([about])
  },
)

test('so it does when only its target knows of a backup', async () => {
  const scene = await aService()
  await scene.plan()
  await fill(scene, {})
  expect(planOf(scene)).toMatchObject({ nextAt: null, problem: { reason: 'not_restored' } })
})

test('what Docker still has is backed up by its plan, whatever is left out', async () => {
  const scene = await aService()
  await scene.plan()
  await scene.backUp()
  await fill(scene, { without: ['thing'], installation: scene.t.deps.instanceId })
  expect(planOf(scene)).toMatchObject({ nextAt: expect.any(Date), problem: null })
})

test.each([
  ['were made later', true],
  ['aren’t described', false],
])('so it does when its target has backups of it that %s', async (_case, isDescribed) => {
  const scene = await aService()
  const { ada, service, restic } = scene
  const target = (await ada.post('/settings/targets', s3)).json
  await scene.plan({ targetId: target.id })
  const tags = ['davit', `subject=${service.id}`, `backup=${Bun.randomUUIDv7()}`]
  const paths = isDescribed ? ['/files/backup.json'] : ['/data']
  restic.add({ tags: tags.with(1, 'subject=another'), paths: ['/data'], bytes: 1 })
  using _ = spyOn(opening, 'openRestic').mockReturnValue(restic.usual as opening.Restic)
  const others = { targets: [], until: new Date(0) }
  await fill(scene, others)
  expect(planOf(scene).problem).toBeNull()
  restic.add({ tags, paths, bytes: 1 })
  await fill(scene, others)
  expect(planOf(scene)).toMatchObject({ nextAt: null, problem: { reason: 'not_restored' } })
})
