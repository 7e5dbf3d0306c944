import { expect, test } from 'bun:test'
import { endWorkOfThen, listRestored, noteWhatRan } from '../../src/db/restored.ts'
import { reconcileReturning } from '../../src/deployments/reconcile-after-restore.ts'
import { insertJob, listJobIds } from '../../src/jobs/store.ts'
import { firstServer } from '../../src/platform/root.ts'
import { getMove, storeMove } from '../../src/runtime/move-store.ts'
import { pinTo } from '../../src/runtime/pin-store.ts'
import { listInstances, updateInstance } from '../../src/runtime/store.ts'
import { listAwaited } from '../../src/servers/awaited-store.ts'
import { updateServer } from '../../src/servers/store.ts'
import { recoverServices } from '../../src/services/recover.ts'
import { updateService } from '../../src/services/store.ts'
import { second, twoServers } from './scene.ts'

test('a Davit restored from a backup of during a move repeats it not, and finds what was moved', async () => {
  const s = await twoServers()
  const { t, ada, path, subject, all } = s
  expect((await ada.post(path, { server: 'server2' })).json.status).toBe('succeeded')
  await t.jobs.idle()
  const after = { up: [0, 2], live: [second], pinned: second }

  // as a backup has it that was made while it was being copied
  const of = { subjectId: subject.id, ownerId: ada.user.id }
  const job = insertJob(t.db, { ...of, kind: 'move', slot: 'move' })
  const move = getMove(t.db, subject.id)!
  const begun = { id: job.id, status: 'running', leftOn: second, leftUntil: null } as const
  storeMove(t.db, subject.id, { ...move, ...begun })
  pinTo(t.db, { id: subject.id, kind: 'service' }, firstServer)

  endWorkOfThen(t.db)
  noteWhatRan(t.db)
  expect(listJobIds(t.db, { subjectIds: [subject.id] })).toEqual([])
  await recoverServices(t.deps, { signal: new AbortController().signal })
  await t.jobs.idle()
  expect(s.state()).toEqual({ ...after, volumes: [all, all], leftOn: null })
  expect(getMove(t.db, subject.id)).toBeNull()
})

const signal = new AbortController().signal

function setAway(t: Awaited<ReturnType<typeof twoServers>>['t'], isAway: boolean) {
  t.engines.setAway({ serverId: second }, isAway)
  updateServer(t.db, second, { lastSeenAt: isAway ? new Date() : null })
}

/** A service on a second server, and a restored Davit that doesn’t reach that yet: its backup may be of before the move. */
async function restored({ isOfBefore }: { isOfBefore: boolean }) {
  const s = await twoServers()
  const { t, ada, path, subject } = s
  expect((await ada.post(path, { server: 'server2' })).json.status).toBe('succeeded')
  await t.jobs.idle()
  if (isOfBefore) {
    for (const { id } of listInstances(t.db, subject.id))
      updateInstance(t.db, id, { serverId: firstServer, containerId: `of then ${id}` })
    updateService(t.db, subject.id, { placement: null })
    pinTo(t.db, { id: subject.id, kind: 'service' }, firstServer)
  }
  setAway(t, true)
  endWorkOfThen(t.db)
  noteWhatRan(t.db)
  await recoverServices(t.deps, { signal })
  await t.jobs.idle()
  expect(s.state().up).toEqual([0, 2])
  expect(listRestored(t.db, 'service')).toHaveLength(1)
  const awaited = listAwaited(t.db, subject.id)
  expect(awaited).toMatchObject([
    { name: 'server2', hasVolumes: !isOfBefore, isSought: isOfBefore },
  ])
  return s
}

for (const isOfBefore of [false, true])
  test(`a restored Davit starts nothing that ${isOfBefore ? 'may have been moved to' : 'runs on'} a server that is away`, async () => {
    const s = await restored({ isOfBefore })
    const { t } = s
    setAway(t, false)
    await reconcileReturning(t.deps, { kind: 'service', signal })
    await t.jobs.idle()
    expect(listRestored(t.db, 'service')).toEqual([])
    expect(listAwaited(t.db, s.subject.id)).toEqual([])
    expect(s.state()).toMatchObject({ up: [0, 2], pinned: second })
  })

test('it starts them once that server was removed', async () => {
  const s = await restored({ isOfBefore: true })
  const { t } = s
  t.serverEngines.remove({ id: second })
  await reconcileReturning(t.deps, { kind: 'service', signal })
  await t.jobs.idle()
  expect(listRestored(t.db, 'service')).toEqual([])
  expect(s.state()).toMatchObject({ up: [2, 2], live: [firstServer], pinned: firstServer })
})
