import { beforeAll, expect, test } from 'bun:test'
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
