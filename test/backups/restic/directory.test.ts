import { beforeAll, expect, mock, test } from 'bun:test'
import { makeNewer } from './newer-repository.ts'
import { collect, scene, signal, write } from './scene.ts'

const s = await scene()
const path = s.folder()
const restic = s.open({ path })
beforeAll(() => restic.tryOut({ signal }).then(() => {}))

const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
const file = 'postgresql/größe.dump'

test('what was stored is read as it was, whatever tags it gets', async () => {
  const tags = ['davit', 'backup=1']
  const stored = await restic.store({ file, tags, from: write(bytes), signal })
  expect(stored).toMatchObject({ bytes: bytes.length })
  expect(stored.addedBytes).toBeGreaterThan(bytes.length)
  await restic.tag({ snapshots: [stored.id], add: ['proven'], signal })
  const [listed] = await restic.list({ tag: 'backup=1', signal })
  expect(listed!.id).toStartWith(stored.id)
  expect(listed!.tags).toEqual([...tags, 'proven'])
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

test('a repository that a newer restic made isn’t touched', async () => {
  const target = s.target({ path: s.folder() })
  const newer = s.open(target)
  await newer.prepare({ signal })
  const printed = async (what: string) => {
    let text = ''
    await s.docker.runPiped({
      name: `test-${crypto.randomUUID()}`,
      image: s.config.resticImage,
      labels: { 'davit.instance': s.instanceId },
      network: 'none',
      entrypoint: ['restic', 'cat', what],
      env: { RESTIC_REPOSITORY: '/target', RESTIC_PASSWORD: target.password, HOME: '/tmp' },
      granted: { binds: [{ source: target.path!, path: '/target', readOnly: false }] },
      ...{ cpus: 1, memoryBytes: 512 * 2 ** 20, pidsLimit: 64 },
      stdout: async (from) => void (text = (await collect(from)).toString()),
    })
    return JSON.parse(text)
  }
  makeNewer(target.path!, { key: await printed('masterkey'), config: await printed('config') })
  expect(newer.ready({ signal })).rejects.toMatchObject({ code: 'target_newer' })
})

test('an image of restic that can’t be pulled is told before anything is read', async () => {
  const config = { ...s.config, allowHosts: ['localhost'], resticImage: 'localhost:9/restic:1' }
  const isRead = mock(write('data'))
  const stored = s.open({ path }, { config }).store({ file, tags: [], from: isRead, signal })
  expect(await stored.then(String, (error) => error.code)).toBe('registry_unreachable')
  expect(isRead).not.toHaveBeenCalled()
})
