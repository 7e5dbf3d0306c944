import { afterAll, expect, onTestFinished, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { layoutIn } from '../../src/server/layout.ts'
import type { MovePlan } from '../../src/server/move/plan.ts'
import {
  openMoved,
  repositoryId,
  repositoryIn,
  repositoryKey,
} from '../../src/server/move/repository.ts'
import type { Filling } from '../../src/server/move/messages.ts'
import type { Remote } from '../../src/server/move/remote.ts'
import { openSending } from '../../src/server/move/send.ts'
import { sandbox } from '../docker/sandbox.ts'
import {
  ensureRepository,
  ensureRestic,
  repositoryKey as password,
  resticVersions,
} from '../support/images/restic.ts'
import type { ResticVersion } from '../support/images/restic.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'
import { startSshServer } from '../support/ssh-server.ts'

const { docker, labels, name } = sandbox()
const root = mkdtempSync(join(tmpdir(), 'davit-move-'))
const server = await startSshServer()
const path = process.env.PATH
afterAll(async () => {
  process.env.PATH = path
  await server.stop()
  rmSync(root, { recursive: true, force: true })
})

/** An ssh that logs in to the server of the test, and does something to what is sent. */
function withSsh(filter = '') {
  const key = join(root, 'key')
  if (!statSync(key, { throwIfNoEntry: false })) {
    Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key])
    server.allow(readFileSync(`${key}.pub`, 'utf8'))
  }
  const options = `-i ${key} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR`
  mkdirSync(join(root, 'bin'), { recursive: true })
  writeFileSync(join(root, 'bin/ssh'), `#!/bin/sh\n${filter}/usr/bin/ssh ${options} "$@"\n`)
  chmodSync(join(root, 'bin/ssh'), 0o755)
  process.env.PATH = `${root}/bin:${path}`
}

/** Both servers: volumes go to a repository that the other one holds. */
async function aMove(version: ResticVersion = '0.18') {
  const config = parseConfig({ DAVIT_RESTIC_IMAGE: await ensureRestic(version) })
  const layout = layoutIn(mkdtempSync(join(root, 'server-')))
  const instanceId = Bun.randomUUIDv7()
  onTestFinished(() => removeFromEngine(docker, [`davit.instance=${instanceId}`]))
  const destination = { host: '127.0.0.1', port: String(server.port), identity: null }
  const plan = { layout, config, destination, instanceId } as MovePlan
  const { signal } = new AbortController()
  const work = { signal, say: () => {} }
  mkdirSync(layout.moves, { recursive: true })
  writeFileSync(join(layout.moves, 'repository.key'), password)
  const repository = repositoryIn(layout, repositoryId(repositoryKey(layout)))
  cpSync(await ensureRepository(version), repository, { recursive: true })
  const there = openMoved({ config, instanceId }, { kind: 'directory', path: repository, password })
  const volume = name()
  await docker.createVolume({ name: volume, labels })
  const group = {
    ...{ id: 'a', kind: 'app' as const, name: 'shop', isRunning: true, isOver: true, state: '' },
    volumes: [{ name: volume, labels, size: 1, users: [] }],
  }
  return {
    ...{ repository, group, from: (await docker.volumeFolder(volume))! },
    /** Asks the other side for nothing, but keeps what it is asked for. */
    open() {
      const asked: Filling[] = []
      const ask = async (message: object) => void asked.push(message as Filling)
      const remote = { ask } as unknown as Remote
      const sending = openSending(plan, { moveId: 'm', remote, work })
      const exactly = async () => (await sending.exactly([group])).snapshot
      const prime = async () => {
        await sending.prime(group)
        return asked[0]!.volumes![0]!.snapshot
      }
      return { exactly, prime }
    },
    /** Returns the folder of the new server’s volume, which is emptied first or updated. */
    async restore(snapshot: string, { to = name(), isUpdate = false } = {}) {
      await docker.createVolume({ name: to, labels })
      const volumes = [{ volume: to, path: volume }]
      await there.readVolumes({ snapshot, volumes, isUpdate, signal })
      return (await docker.volumeFolder(to))!
    },
  }
}

test('a volume is the same on the other side: owners, links, holes, capabilities, odd names, and what changed since', async () => {
  withSsh()
  const { from, open, restore } = await aMove()
  writeFileSync(join(from, 'note'), 'leaves')
  chmodSync(join(from, 'note'), 0o640)
  linkSync(join(from, 'note'), join(from, 'other'))
  symlinkSync('/etc/passwd', join(from, 'link'))
  for (const name of ['-rf', 'a\nb', '🚢'.repeat(40)]) writeFileSync(join(from, name), name)
  writeFileSync(join(from, 'sparse'), '')
  truncateSync(join(from, 'sparse'), 64 * 2 ** 20)
  chmodSync(from, 0o710)
  const time = new Date('2026-01-01')
  utimesSync(join(from, 'note'), time, time)
  const sending = open()
  await sending.prime()
  // the same length, and the same time as before
  writeFileSync(join(from, 'note'), 'sailed')
  utimesSync(join(from, 'note'), time, time)
  chownSync(join(from, 'note'), 1234, 99)
  const to = await restore(await sending.exactly())
  expect(readFileSync(join(to, 'note'), 'utf8')).toBe('sailed')
  expect(lstatSync(join(to, 'other'))).toMatchObject({
    ...{ nlink: 2, mode: 0o100640, uid: 1234, gid: 99 },
  })
  expect(readlinkSync(join(to, 'link'))).toBe('/etc/passwd')
  for (const name of ['-rf', 'a\nb', '🚢'.repeat(40)])
    expect(readFileSync(join(to, name), 'utf8')).toBe(name)
  expect(statSync(join(to, 'sparse'))).toMatchObject({ size: 64 * 2 ** 20, blocks: 0 })
  expect(statSync(to).mode & 0o777).toBe(0o710)
}, 120_000)

/** All that a folder has, each with what must be the same. */
const treeOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = join(folder, name)
      const { mode, uid, gid, nlink, size, mtimeMs } = lstatSync(path)
      const isFile = (mode & 0o170000) === 0o100000
      const text = isFile ? Bun.hash(readFileSync(path)) : null
      return { name, mode, uid, gid, nlink, text, ...(isFile && { size, mtimeMs }) }
    })

/** More than one piece of restic’s. */
const large = () => crypto.getRandomValues(Buffer.alloc(60_000)).toString('hex').repeat(100)

test.each(resticVersions)(
  'restic %s updates what was restored before to what is there now, whatever became of it',
  async (version) => {
    withSsh()
    const { from, open, restore } = await aMove(version)
    const write = (name: string, text: string) => writeFileSync(join(from, name), text)
    for (const name of ['two', 'same', 'changed', 'longer', 'shorter']) write(name, large())
    linkSync(join(from, 'two'), join(from, 'names'))
    for (const name of ['gone', 'we[ird]*', '*', 'a\nb', 'file']) write(name, name)
    for (const name of ['deleted', 'file-then', 'kept'])
      mkdirSync(join(from, name, 'in'), { recursive: true })
    write('deleted/in/file', 'x')
    symlinkSync('/etc/passwd', join(from, 'link'))
    const sending = open()
    const to = name()
    await restore(await sending.prime(), { to, isUpdate: true })

    // restic would fill it with holes
    const changed = readFileSync(join(from, 'two'))
    changed.write('CHANGED', 9_000_000)
    for (const name of ['two', 'changed']) writeFileSync(join(from, name), changed)
    write('longer', `${large()}and more`)
    truncateSync(join(from, 'shorter'), 5_000_000)
    for (const name of ['gone', 'deleted', 'file-then', 'link', 'file', '*'])
      rmSync(join(from, name), { recursive: true })
    mkdirSync(join(from, 'file/with'), { recursive: true })
    write('file-then', 'a file')
    write('link', 'no link any more')
    write('file/with/more', '')
    chmodSync(join(from, 'same'), 0o600)
    chownSync(join(from, 'kept'), 1234, 99)
    const then = await restore(await sending.exactly(), { to, isUpdate: true })
    expect(treeOf(then)).toEqual(treeOf(from))
  },
  120_000,
)

test('what changes on its way, or is changed there, isn’t restored', async () => {
  withSsh()
  const { from, open, restore, repository } = await aMove()
  writeFileSync(join(from, 'big'), crypto.getRandomValues(Buffer.alloc(60_000)))
  const snapshot = await open().exactly()
  for (const one of readdirSync(join(repository, 'data'), {
    recursive: true,
    withFileTypes: true,
  })) {
    if (!one.isFile()) continue
    const file = join(one.parentPath, one.name)
    const bytes = readFileSync(file)
    bytes[100]! ^= 1
    chmodSync(file, 0o600)
    writeFileSync(file, bytes)
  }
  await expect(restore(snapshot)).rejects.toMatchObject({ code: 'target_damaged' })
}, 120_000)

test('a connection that breaks is said so, and the next try goes on', async () => {
  const { from, open, restore } = await aMove()
  writeFileSync(
    join(from, 'big'),
    crypto.getRandomValues(Buffer.alloc(60_000)).toString('hex').repeat(9),
  )
  const first =
    '$n = 20000; while ($n > 0 && ($r = sysread STDIN, $b, 4096)) { syswrite STDOUT, $b; $n -= $r }'
  withSsh(`perl -e '${first}' | `)
  await expect(open().exactly()).rejects.toMatchObject({ code: 'move_connection' })
  withSsh()
  const to = await restore(await open().exactly())
  expect(readFileSync(join(to, 'big')).equals(readFileSync(join(from, 'big')))).toBe(true)
}, 120_000)
