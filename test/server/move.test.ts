import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { makeBackup } from '../../src/backup/make.ts'
import { getPlan, savePlan } from '../../src/backups/store.ts'
import { davitId } from '../../src/backups/subject.ts'
import type { Restic } from '../../src/backups/restic/restic.ts'
import { openDatabase } from '../../src/db/index.ts'
import type { Db } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { jobs, plannedDeployments } from '../../src/db/schema.ts'
import { listInStatus, unended } from '../../src/deployments/store.ts'
import { insertWaiting } from '../../src/deployments/waiting-store.ts'
import { listEnvironments } from '../../src/environments/store.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { insertProject } from '../../src/projects/store.ts'
import { layoutIn } from '../../src/server/layout.ts'
import type { Layout } from '../../src/server/layout.ts'
import { chooseVolumes } from '../../src/server/move/contents.ts'
import { fill } from '../../src/server/move/arrive.ts'
import { occupation } from '../../src/server/move/facts.ts'
import {
  atStart,
  drafts,
  readMove,
  refuseMoved,
  removeMove,
  writeMove,
} from '../../src/server/move/journal.ts'
import type { Received, Sent } from '../../src/server/move/journal.ts'
import { repositoryIn } from '../../src/server/move/repository.ts'
import { beforeStart } from '../../src/server/move/standstill.ts'
import { holdInstallation } from '../../src/server/locks.ts'
import { sandbox } from '../docker/sandbox.ts'

const { docker, options, name } = sandbox()
let root: string
let layout: Layout

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'davit-move-'))
  layout = layoutIn(root)
})
afterEach(() => rmSync(root, { recursive: true }))

describe('a volume', () => {
  const volume = (name: string) => ({ name, labels: {}, size: 5, users: [] })
  const group = (name: string, ...volumes: string[]) => ({
    ...{ id: name, kind: 'app' as const, name, isRunning: true, isOver: true, state: 'running' },
    volumes: volumes.map(volume),
  })
  const groups = [group('shop/production', 'v1', 'v2'), group('db', 'v3')]
  test.each([
    [{ volumes: 'all', without: [] }, 'v1 v2 v3'],
    [{ volumes: 'none', without: [] }, ''],
    [{ volumes: 'shop', without: [] }, 'v1 v2'],
    [{ volumes: 'v2,db', without: [] }, 'v2 v3'],
    [{ volumes: 'all', without: ['shop/production'] }, 'v3'],
  ])('is chosen by %j', (choice, names) => {
    const chosen = chooseVolumes(groups, choice).flatMap(({ volumes }) => volumes)
    expect(chosen.map(({ name }) => name).join(' ')).toBe(names)
    const wrong = { volumes: 'all', without: ['mail'] }
    expect(() => chooseVolumes(groups, wrong)).toThrow('There is no volume of “mail” here')
  })
})

const received: Received = {
  ...{
    phase: 'copy',
    moveId: 'm',
    from: '192.0.2.1',
    at: 0,
    instanceId: 'one',
    settings: '',
    repository: 'r',
  },
}

test('what a start of Davit does follows from the phases, and from whether a move is open', () => {
  type Phases = { sent?: Sent['phase']; received?: Received['phase']; isGuarded?: boolean }
  const does = ({ sent, received, isGuarded = true }: Phases) =>
    [true, false].map((isOpen) =>
      atStart({
        sent: sent ? { phase: sent } : null,
        received: received ? { phase: received } : null,
        ...{ isOpen, isGuarded },
      }),
    )
  expect(does({})).toEqual(['wait', 'start'])
  expect(does({ isGuarded: false })).toEqual(['start', 'start'])
  expect(does({ sent: 'copying' })).toEqual(['wait', 'resume'])
  expect(does({ sent: 'deciding' })).toEqual(['wait', 'refuse'])
  expect(does({ sent: 'moved' })).toEqual(['wait', 'refuse'])
  expect(does({ received: 'receiving' })).toEqual(['wait', 'discard'])
  expect(does({ received: 'trying' })).toEqual(['start', 'discard'])
  expect(does({ received: 'copy' })).toEqual(['wait', 'start']) // the next move is about to replace it
  expect(does({ received: 'copy', isGuarded: false })).toEqual(['start', 'start'])
  for (const phase of ['moved', 'halted'] as const)
    expect(does({ received: phase })).toEqual(['start', 'start'])
  expect(does({ sent: 'moved', received: 'moved' })).toEqual(['wait', 'refuse'])
})

test('only the copy of a rehearsal is replaced, and only by the server that it is of', () => {
  const occupied = (journal: Partial<Received>) => {
    writeMove(layout, 'received', { ...received, ...journal })
    return occupation(layout, 'one').occupied
  }
  expect(occupied({})).toBeNull()
  expect(occupation(layout, 'one').copyFrom).toBe('1970-01-01T00:00:00.000Z')
  expect(occupied({ instanceId: 'two' })).toBe('it has a copy of another server, 192.0.2.1')
  expect(occupied({ phase: 'moved' })).toBe('192.0.2.1 was moved to it for good')
  expect(occupied({ phase: 'halted' })).toContain('what was written while it replaced 192.0.2.1')
})

test('what was deleted on the old server since it was restored here is removed', async () => {
  const instanceId = Bun.randomUUIDv7()
  const [first, second] = [name(), name()]
  const made = [
    [first, { instanceId, kind: 'app' }],
    [second, { instanceId, kind: 'service' }],
    [name(), { instanceId, kind: 'edge' }],
    [name(), { instanceId: Bun.randomUUIDv7(), kind: 'app' }],
  ] as const
  onTestFinished(async () => {
    for (const [volume] of made) await docker.removeVolume(volume)
  })
  for (const [volume, of] of made)
    await docker.createVolume({ name: volume, labels: labelsFor({ ...of, ownerId: 'o' }) })
  writeMove(layout, 'received', { ...received, instanceId })
  mkdirSync(dirname(layout.settings), { recursive: true })
  writeFileSync(layout.settings, `DAVIT_DATA_DIR=${root}/data`)
  mkdirSync(repositoryIn(layout, received.repository), { recursive: true })
  const restic = { readVolumes: async () => {} } as unknown as Restic
  const restored = { name: first, labels: labelsFor({ ...made[0][1], ownerId: 'o' }) }
  const volumes = [{ snapshot: 'a', volumes: [restored] }]
  const work = { say() {}, signal: new AbortController().signal }
  const isThere = async () =>
    Promise.all(made.map(async ([volume]) => (await docker.volumeFolder(volume)) !== null))
  await fill(layout, restic, { ask: 'fill', volumes }, work) // of the first pass
  expect(await isThere()).toEqual([true, true, true, true])
  const last = fill(layout, restic, { ask: 'fill', volumes, passphrase: 'p' }, work)
  await expect(last).rejects.toHaveProperty('cause.code', 'ENOENT') // no data was sent
  expect(await isThere()).toEqual([true, false, true, true])
})

/** The database of the old server, as `prepare` changes it, after it was restored on the new one. */
async function arrived(
  prepare: (old: Db, of: { ownerId: string }) => void,
  { isFinal }: { isFinal: boolean },
) {
  const dataDir = join(root, 'data')
  const [from, passphrase] = [join(root, 'old'), 'p']
  mkdirSync(from)
  const secrets = openSecrets({ dataDir: from, secretKey: null })
  const old = openDatabase(join(from, 'davit.db'))
  onTestFinished(() => old.$client.close())
  const instanceId = openInstallation(old, secrets)
  const { id: ownerId } = insertUser(old, { email: 'a@b.example', role: 'admin' })
  prepare(old, { ownerId })
  writeMove(layout, 'received', { ...received, instanceId })
  const made = { withLogs: false, force: false, settings: {} }
  const file = join(layout.moves, drafts.received)
  await makeBackup({ config: { dataDir: from, secretKey: null }, file, passphrase, ...made })
  mkdirSync(dirname(layout.settings), { recursive: true })
  writeFileSync(layout.settings, `DAVIT_DATA_DIR=${dataDir}`)
  mkdirSync(repositoryIn(layout, received.repository), { recursive: true })
  const work = { say() {}, signal: new AbortController().signal }
  const restic = {} as Restic // no volumes are sent
  await fill(layout, restic, { ask: 'fill', volumes: [], passphrase, isFinal }, work)
  const db = openDatabase(join(dataDir, 'davit.db'))
  onTestFinished(() => db.$client.close())
  return db
}

test.each([
  ['a copy', false],
  ['a move for good', true],
])('plans of backups run on the new server of %s: %p', async (_, isFinal) => {
  const nextAt = new Date('2100-01-01')
  const plan = { targetId: 't', schedule: '0 3 * * *', nextAt }
  const db = await arrived(
    (old, { ownerId }) => savePlan(old, { kind: 'davit', id: davitId }, { ...plan, ownerId }),
    { isFinal },
  )
  expect(getPlan(db, davitId)?.nextAt).toEqual(isFinal ? nextAt : null)
})

test('the new server deploys what came due during the move, or was queued: the old one stood still', async () => {
  const past = new Date(Date.now() - 1)
  const until = past.toISOString()
  const db = await arrived(
    (old, { ownerId }) => {
      const values = { ownerId, name: 'shop', repositoryUrl: 'x', webhookSecret: 'x' }
      const { id: projectId } = insertProject(old, values, { hostPort: 20_000 })
      const environmentId = listEnvironments(old, projectId)[0]!.id
      const by = { environmentId, trigger: 'manual' } as const
      old
        .insert(plannedDeployments)
        .values({ ...by, at: past, version: {}, plannedBy: 'a@b.example' })
        .run()
      const of = { ...by, ownerId, projectId, repositoryUrl: 'x', triggeredBy: 'a@b.example' }
      insertWaiting(old, { ...of, freeze: { reason: 'the fair', until, note: null } })
      insertWaiting(old, of)
    },
    { isFinal: true },
  )
  expect(db.select().from(plannedDeployments).all()).toMatchObject([{ problem: null }])
  expect(listInStatus(db, unended).map(({ status }) => status)).toEqual(['waiting', 'pending'])
  expect(db.select().from(jobs).all()).toMatchObject([{ kind: 'deploy', status: 'waiting' }])
})

test('the end of a move removes what a killed backup has left', () => {
  writeMove(layout, 'received', received)
  for (const name of ['.leaving.backup-a1', 'leaving.backup'])
    writeFileSync(join(layout.moves, name), '')
  removeMove(layout, 'sent')
  expect(readdirSync(layout.moves)).toEqual(['received.json'])
})

describe('a start of Davit while a move is open', () => {
  const sent: Sent = {
    ...{ phase: 'copying', moveId: 'm', host: 'root@new', port: null, identity: null },
    ...{ at: 0, stopped: [] },
  }
  const guard = () => join(`${layout.unit}.d`, 'move.conf')
  beforeEach(() => {
    mkdirSync(dirname(guard()), { recursive: true })
    writeFileSync(guard(), '')
  })

  test('puts back what was interrupted', async () => {
    writeMove(layout, 'sent', sent)
    await beforeStart(layout)
    expect(readMove(layout, 'sent')).toBeNull()
    expect(existsSync(guard())).toBe(false)
  })

  test('starts what it can again: one that doesn’t start keeps nothing down', async () => {
    using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const taken = [{ container: 80, host: listener.port, address: '127.0.0.1' }]
    const command = ['sleep', '99']
    const ids: string[] = []
    for (const ports of [taken, []])
      ids.push(await docker.createContainer({ ...options(), command, ports }))
    const stopped = ids.map((id) => ({
      ...{ id, name: id, policy: { name: 'no' as const }, wasUp: true },
    }))
    writeMove(layout, 'sent', { ...sent, stopped: [{ ...stopped[0]!, id: 'gone' }, ...stopped] })
    await beforeStart(layout)
    const found = await Promise.all(ids.map((id) => docker.inspectContainer(id)))
    expect(found.map((one) => one!.state === 'running')).toEqual([false, true])
    expect(readMove(layout, 'sent')).toBeNull()
  })

  test.each(['copying', 'deciding'] as const)('waits while it runs: %s', async (phase) => {
    writeMove(layout, 'sent', { ...sent, phase })
    const hold = holdInstallation(layout)
    const start = beforeStart(layout).then(() => 'started')
    expect(await Promise.race([start, Bun.sleep(600)])).toBeUndefined()
    rmSync(join(layout.moves, 'sent.json'))
    rmSync(guard())
    expect(await start).toBe('started')
    hold.close()
  })

  test('fails on a server that another one replaces, or may replace', async () => {
    for (const phase of ['moved', 'deciding'] as const) {
      writeMove(layout, 'sent', { ...sent, phase })
      await expect(beforeStart(layout)).rejects.toThrow(/moved to new|took over/)
      expect(() => refuseMoved(layout)).toThrow(/moved to new|took over/)
      expect(existsSync(guard())).toBe(true)
    }
  })

  test('fails when someone has damaged the journal: two servers could run the same apps', async () => {
    writeMove(layout, 'sent', sent)
    writeFileSync(join(layout.moves, 'sent.json'), '{')
    await expect(beforeStart(layout)).rejects.toThrow('can’t be read')
  })
})
