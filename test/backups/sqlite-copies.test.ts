import { expect, test } from 'bun:test'
import { Readable } from 'node:stream'
import type { Docker } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { aService } from './scene.ts'

/** Has these found in a volume that containers go on writing to. `copied` has what was stored as copies. */
async function withDatabases(found: { size?: number; path: string | Uint8Array }[]) {
  const scene = await aService()
  const copied: (string[] | undefined)[] = []
  const list = found.flatMap(({ size = 1, path }) => [`${size} ./_data/`, path, '\n'])
  const runPiped: Docker['runPiped'] = async ({ stdout, signal }) => {
    await stdout!(Readable.from(list.map((piece) => Buffer.from(piece as string))), signal!)
    return { exitCode: 0, oomKilled: false, stderr: '' }
  }
  Object.assign(scene.t.deps.docker, { runPiped })
  scene.restic.faults.storeVolumes = async (options) => {
    copied.push(options.copies?.files)
    return scene.restic.usual.storeVolumes(options)
  }
  return { ...scene, copied }
}

test('SQLite databases are only copied while what writes to them runs', async () => {
  const { backUp, copied } = await withDatabases([{ path: 'app.db' }])
  for (const hold of ['pause', 'stop', 'none'])
    expect(await backUp({ hold })).toMatchObject({ status: 'succeeded' })
  expect(copied).toEqual([undefined, undefined, ['/volumes/_data/app.db']])
})

test('SQLite databases that the plan accepts as damaged, of odd names, or too many are stored as any file', async () => {
  const many = Array.from({ length: 300 }, (_, at) => ({ path: `many/${at}.db` }))
  const odd = [
    { path: 'cache/one.db' },
    { path: Buffer.from([0xff, 0x2e, 0x64, 0x62]) },
    { path: 'a\rb.db' },
  ]
  const { plan, backUp, copied } = await withDatabases([...odd, ...many])
  await plan({ acceptDamaged: ['data/cache'] })
  expect(await backUp({ hold: 'none' })).toMatchObject({ status: 'succeeded' })
  const [files] = copied
  expect(files).toHaveLength(199)
  expect(files!.slice(0, 2)).toEqual(['/volumes/_data/a\rb.db', '/volumes/_data/many/0.db'])
})

test('without the image that copies SQLite databases they are stored as any file', async () => {
  const { t, backUp, copied } = await withDatabases([{ path: 'app.db' }])
  const { pullImage } = t.docker
  t.faults.pullImage = (image, options) => {
    if (!image.includes('python')) return pullImage(image, options)
    throw new Failure('registry_unreachable', 'It can’t be reached.', 'Check it.')
  }
  expect(await backUp({ hold: 'none' })).toMatchObject({ status: 'succeeded' })
  expect(copied).toEqual([undefined])
})

test('SQLite databases that the disk has no room for are refused before one is copied', async () => {
  const { t, backUp, copied } = await withDatabases([{ path: 'app.db', size: 2 ** 52 }])
  const machine = await t.docker.machine()
  Object.assign(t.deps.docker, {
    remote: false,
    machine: async () => ({ ...machine, folder: '/' }),
  })
  const { error } = await backUp({ hold: 'none' })
  expect(error.code).toBe('low_disk')
  expect(copied).toEqual([])
})
