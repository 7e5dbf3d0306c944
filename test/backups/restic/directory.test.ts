import { beforeAll, expect, mock, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { until } from '../../support/until.ts'
import type { Target } from '../../../src/backups/restic/restic.ts'
import { randomToken } from '../../../src/platform/secrets.ts'
import { makeNewer } from './newer-repository.ts'
import { collect, scene, signal, write } from './scene.ts'

const s = await scene()
const target = s.target({ path: s.folder() })
const restic = s.open(target)
beforeAll(() => restic.tryOut({ signal }).then(() => {}))

const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
/** A container of restic without Davit. */
const resticAt = ({ path, password }: Target) => ({
  name: `test-${crypto.randomUUID()}`,
  image: s.config.resticImage,
  labels: { 'davit.instance': s.instanceId },
  network: 'none',
  env: { RESTIC_REPOSITORY: '/target', RESTIC_PASSWORD: password, HOME: '/tmp' },
  granted: { binds: [{ source: path!, path: '/target', readOnly: false }] },
  ...{ cpus: 1, memoryBytes: 512 * 2 ** 20, pidsLimit: 64 },
})

/** What restic prints without Davit. */
async function byHand(target: Target, ...args: string[]) {
  let text = ''
  await s.docker.runPiped({
    ...resticAt(target),
    entrypoint: ['restic', ...args],
    stdout: async (from) => void (text = (await collect(from)).toString()),
  })
  return text
}

const file = 'postgresql/größe.dump'

test('what was stored is read as it was, also when someone gives it tags', async () => {
  const tags = ['davit', 'backup=1']
  const stored = await restic.store({ file, tags, from: write(bytes), signal })
  expect(stored).toMatchObject({ bytes: bytes.length })
  expect(stored.addedBytes).toBeGreaterThan(bytes.length)
  const tagged = await byHand(target, 'tag', '--add', 'mine', stored.id)
  expect(tagged).toContain('modified')
  const [listed] = await restic.list({ tag: 'backup=1', signal })
  expect(listed!.id).toStartWith(stored.id)
  expect(listed!.tags).toEqual([...tags, 'mine'])
  let read = Buffer.alloc(0)
  const to = async (from: AsyncIterable<Uint8Array>) => void (read = await collect(from))
  await restic.read({ snapshot: stored.id, file, to, signal })
  expect(read.equals(bytes)).toBe(true)
  await restic.forget({ snapshots: [stored.id], signal })
  expect(await restic.list({ tag: 'backup=1', signal })).toEqual([])
  expect(restic.read({ snapshot: stored.id, file, to, signal })).rejects.toMatchObject({
    code: 'backup_missing',
  })
})

test('what couldn’t be written whole isn’t stored', async () => {
  const mine = new Error('mine')
  const tags = ['backup=2']
  const from = async (to: Parameters<ReturnType<typeof write>>[0]) => {
    await write(bytes)(to)
    throw mine
  }
  expect(restic.store({ file, tags, from, signal })).rejects.toBe(mine)
  expect(await restic.list({ tag: 'backup=2', signal })).toEqual([])
})

test.each([false, true])(
  'what had arrived is sent again unless it was adopted: %p',
  async (adopts) => {
    const target = await s.prepared()
    const restic = s.open(target)
    // a pack has 16 to 24 MiB, another one is begun, and up to 8 MiB wait for the end of their chunk
    const large = crypto.getRandomValues(new Uint8Array(48 * 2 ** 20))
    const packs = () =>
      readdirSync(`${target.path}/data`, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /^[0-9a-f]{2}\/[0-9a-f]{64}$/.test(name),
      )
    const mine = new Error('mine')
    const cut = async (to: Parameters<ReturnType<typeof write>>[0]) => {
      await write(large)(to)
      await until(() => packs().length > 0)
      throw mine
    }
    const tags = ['backup=cut']
    expect(restic.store({ file, tags, from: cut, signal })).rejects.toBe(mine)
    if (adopts) await restic.adopt({ signal })
    const { addedBytes } = await restic.store({ file, tags, from: write(large), signal })
    expect(addedBytes < 0.8 * large.length).toBe(adopts)
  },
)

test('a repository is created with little of a processor for a key of Davit’s, and not for one that is entered', async () => {
  const usual = Math.max(0.5, (await s.docker.machine()).cpus / 2)
  const cpusFor = async (password: string) => {
    let used: number | undefined
    const runPiped: typeof s.docker.runPiped = async ({ command = [], cpus, onStderr }) => {
      const isInit = command.includes('init')
      if (isInit) used = cpus
      else onStderr!(Buffer.from('Fatal: repository does not exist'))
      return { exitCode: isInit ? 0 : 10, oomKilled: false, stderr: '' }
    }
    const docker = { ...s.docker, runPiped }
    await s.open({ path: s.folder(), password }, { docker }).prepare({ signal })
    return used
  }
  expect(await cpusFor('a word of a person, or a few')).toBe(usual)
  for (const key of [randomToken(), s.secrets.sign('repository')])
    expect(await cpusFor(key)).toBeLessThan(usual / 4)
})

test('a repository that a newer restic made isn’t touched', async () => {
  const target = await s.prepared()
  const newer = s.open(target)
  const printed = async (what: string) => JSON.parse(await byHand(target, 'cat', what))
  makeNewer(target.path!, { key: await printed('masterkey'), config: await printed('config') })
  expect(newer.ready({ signal })).rejects.toMatchObject({ code: 'target_newer' })
})

test('an image of restic that can’t be pulled is told before anything is read', async () => {
  const config = { ...s.config, allowHosts: ['localhost'], resticImage: 'localhost:9/restic:1' }
  const isRead = mock(write('data'))
  const stored = s.open(target, { config }).store({ file, tags: [], from: isRead, signal })
  expect(await stored.then(String, (error) => error.code)).toBe('registry_unreachable')
  expect(isRead).not.toHaveBeenCalled()
})

test('a lock that a killed clean-up left fails the next stream, and not the one after it', async () => {
  const locked = await s.prepared()
  const one = s.open(locked)
  await s.docker.runPiped({
    ...resticAt(locked),
    hostname: `davit-${s.instanceId.slice(-12)}`,
    entrypoint: ['sh', '-c'],
    // it has another name until it is whole
    command: [
      `restic check & until set -- /target/locks/* && case $1 in *tmp* | *'*') false ;; esac; do :; done; kill -9 $!`,
    ],
  })
  expect(readdirSync(`${locked.path}/locks`)).toHaveLength(1)
  const store = () => one.store({ file, tags: [], from: write(bytes), signal })
  expect(await store().then(String, (error) => error.code)).toBe('target_locked')
  expect((await store()).bytes).toBe(bytes.length)
})

test('a large file alone leaves nothing to gather, unless it must come last', async () => {
  await using one = s.open(target, { inOne: true })
  const large = {
    file: 'davit.backup',
    tags: ['backup=own'],
    from: write(Buffer.alloc(17 * 2 ** 20)),
  }
  const stored = await one.gather({ ...large, signal })
  expect(stored?.bytes).toBe(17 * 2 ** 20)
  expect(await one.storeGathered({ tags: [], signal })).toBeNull()
  const last = { file: 'last.json', text: 'ä'.repeat(17 * 2 ** 19) }
  expect((await one.storeGathered({ tags: [], last, signal }))?.bytes).toBe(17 * 2 ** 20)
})

test('small files and the description are one snapshot, a large one is its own, and all are read', async () => {
  const large = Buffer.alloc(18 * 2 ** 20, 7)
  const tags = ['backup=together']
  const files = {
    'db/app.dump': bytes,
    'db/große.dump': large,
    'db-roles.sql': Buffer.from('roles'),
  }
  const ids: Record<string, string | null> = {}
  let last = ''
  {
    await using one = s.open(target, { inOne: true })
    for (const [file, content] of Object.entries(files))
      ids[file] = (await one.gather({ file, tags, from: write(content), signal }))?.id ?? null
    const stored = (await one.storeGathered({ tags, signal }))!
    expect(stored.bytes).toBe(bytes.length + 5)
    last = stored.id
    const listed = await one.list({ tag: tags[0]!, signal })
    expect(listed.map(({ paths }) => paths)).toEqual([
      ['/db_gro_e.dump'],
      ['/files/db-roles.sql', '/files/db_app.dump'],
    ])
  }
  const isAlone = Object.entries(ids).filter(([, id]) => id !== null)
  expect(isAlone.map(([file]) => file)).toEqual(['db/große.dump'])
  for (const inOne of [true, false]) {
    await using reader = s.open(target, { inOne })
    for (const [file, content] of Object.entries(files)) {
      let found = Buffer.alloc(0)
      const to = async (from: AsyncIterable<Uint8Array>) => void (found = await collect(from))
      await reader.read({ snapshot: ids[file] ?? last, file, to, signal })
      expect(found.equals(content)).toBe(true)
    }
  }
  expect(await byHand(target, 'dump', last, '/db-roles.sql')).toBe('roles')
  const labels = [`davit.instance=${s.instanceId}`, 'davit.kind=backup']
  expect(await s.docker.listContainers({ labels, all: true })).toEqual([])
})
