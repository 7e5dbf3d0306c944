import { expect, test } from 'bun:test'
import { endWorkOfThen, noteWhatRan } from '../../src/db/restored.ts'
import { insertJob, listJobIds } from '../../src/jobs/store.ts'
import { firstServer } from '../../src/platform/root.ts'
import { getMove, storeMove } from '../../src/runtime/move-store.ts'
import { pinTo } from '../../src/runtime/pin-store.ts'
import { recoverServices } from '../../src/services/recover.ts'
import { second, twoServers } from './scene.ts'

test('a Davit restored from a backup of during a move repeats it not, and finds what was moved', async () => {
  const s = await twoServers()
  const { t, ada, path, subject, all } = s
  expect((await ada.post(path, { server: 'server2' })).json.status).toBe('succeeded')
  await t.jobs.idle()
  const after = { up: [0, 2], live: [second], pinned: second }

  // as a backup has it that was made while it was being copied
  const of = { subjectId: subject.id, ownerId: ada.user.id }
  const job = insertJob(t.db, { ...of, kind: 'move', slot: 'service' })
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
