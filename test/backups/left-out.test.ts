import { expect, test } from 'bun:test'
import { fillServer } from '../../src/backups/server/fill-server.ts'
import { getPlan } from '../../src/backups/store.ts'
import type { OpenTarget } from '../../src/backups/targets/store.ts'
import { listTargets } from '../../src/backups/targets/store.ts'
import { aService } from './scene.ts'

type Scene = Awaited<ReturnType<typeof aService>>

/** Fills a server, of which nothing is there but for its own installation, without what is named and any target. */
async function fill({ t, ada }: Scene, { without = [] as string[], installation = 'another' }) {
  const targets = listTargets(t.db, ada.user.id).map(({ name }) => name)
  await fillServer(t.deps, {
    ...{
      without: [...targets, ...without],
      installation,
      until: new Date(),
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
])('what starts empty without %s keeps its backups: its plan is off', async (_, without) => {
  const scene = await aService()
  await scene.plan()
  await scene.backUp()
  await fill(scene, { without })
  expect(planOf(scene)).toMatchObject({ nextAt: null, problem: { reason: 'not_restored' } })
})

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
