import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import type { Target } from '../../../src/backups/restic/restic.ts'
import { startCuttingProxy } from '../../support/cutting-proxy.ts'
import { failure, s3Keys, startS3 } from '../../support/s3-server.ts'
import { collect, scene, signal, write } from './scene.ts'
import { hostAddress } from './servers.ts'

const hostname = await hostAddress()
const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(3_000_000)))

describe.each(['0.14', '0.18'] as const)('restic %s', async (version) => {
  const s = await scene({ version })
  const s3 = startS3({ hostname })
  const proxy = startCuttingProxy({ to: s3.url, hostname })
  afterAll(async () => {
    proxy.stop()
    await s3.stop()
  })
  const target = s.target({ kind: 's3', endpoint: s3.url, bucket: 'backups', ...s3Keys })
  const at = (fields: Partial<Target>) => s.open({ ...target, ...fields })
  const restic = s.open(target)
  const impatient = s.open(target, { timeouts: { open: 5000, stall: 5000 } })
  const backup = { file: 'dump', tags: ['backup=1'], signal }
  let snapshot = ''

  beforeAll(async () => {
    await restic.tryOut({ signal })
    snapshot = (await restic.store({ ...backup, from: write(bytes) })).id
  })

  const read = async (from = restic) => {
    let found = Buffer.alloc(0)
    await from.read({
      ...backup,
      snapshot,
      to: async (chunks) => void (found = await collect(chunks)),
    })
    return found
  }

  const wrong: [string, Partial<Target>, string][] = [
    ['another secret key', { secretKey: 'another' }, 'target_unauthorized'],
    ['an unknown access key', { accessKey: 'unknown' }, 'target_unauthorized'],
    ['a bucket that doesn’t exist', { bucket: 'nope' }, 'target_bucket_missing'],
    ['another path', { path: 'elsewhere' }, 'target_missing'],
    ['another passphrase', { password: 'another' }, 'target_key'],
    ['a port where nothing listens', { endpoint: `http://${hostname}:9` }, 'target_unreachable'],
    ['a name that doesn’t resolve', { endpoint: 'http://nowhere.invalid' }, 'host_unresolved'],
    [
      'https where there is none',
      { endpoint: s3.url.replace('http', 'https') },
      'target_unreachable',
    ],
  ]

  test.each(wrong)('with %s it isn’t opened, and says why', async (_, fields, code) => {
    const error = await at(fields)
      .ready({ signal })
      .then(String, (error) => error)
    expect(error).toMatchObject({ code })
    for (const secret of [s3Keys.secretKey, target.password])
      expect(`${error.message} ${error.hint}`).not.toContain(secret)
  })

  test('a repository that is gone isn’t created by a backup, only by a trial', async () => {
    const moved = at({ path: 'gone' })
    expect(moved.store({ ...backup, from: write(bytes) })).rejects.toMatchObject({
      code: 'target_missing',
    })
    await Promise.allSettled([moved.ready({ signal })])
    expect(s3.objects('backups/gone')).toEqual([])
    await moved.tryOut({ signal })
    expect(await moved.list({ signal })).toEqual([])
    // what was tried is removed, its data too at the next clean-up
    expect(s3.objects('backups/gone/snapshots')).toEqual([])
  })

  const faults: [string, typeof s3.fault, RegExp][] = [
    ['hangs', () => new Promise(() => {}), /^target_slow$/],
    ['sends pages', () => new Response('<html>Welcome</html>'), /^target_unexpected$/],
    // whether it says why depends on who tries again
    ['is overloaded', () => failure(503, 'SlowDown'), /^target_(slow|unreachable)$/],
  ]

  test.each(faults)('a server that %s is told', async (_, fault, code) => {
    await using one = s.open(target, { inOne: true, timeouts: { open: 5000, stall: 5000 } })
    await one.gather({ ...backup, from: write('small') })
    s3.fault = fault
    const attempts = [impatient.ready({ signal }), one.storeGathered({ tags: [], signal })]
    const ended = await Promise.allSettled(attempts)
    s3.fault = null
    for (const one of ended)
      expect(one.status === 'rejected' ? one.reason.code : one.status).toMatch(code)
  })

  const refused: [string, number, string, string][] = [
    ['full', 507, 'XMinioStorageFull', 'target_full'],
    ['only for reading', 403, 'AccessDenied', 'target_unauthorized'],
  ]

  test.each(refused)('a target that is %s gets no backup', async (_, status, code, expected) => {
    s3.fault = (request, path) =>
      request.method === 'PUT' && path.includes('/data/') ? failure(status, code) : undefined
    const more = crypto.getRandomValues(new Uint8Array(3_000_000))
    const stored = restic.store({ ...backup, tags: ['backup=refused'], from: write(more) })
    expect(await stored.then(String, (error) => error.code)).toBe(expected)
    // nor one whose small files come together at the end
    await using one = s.open(target, { inOne: true })
    const small = crypto.getRandomValues(new Uint8Array(300_000))
    await one.gather({ ...backup, from: write(small) })
    const last = one.storeGathered({ tags: ['backup=refused'], signal })
    expect(await last.then(String, (error) => error.code)).toBe(expected)
    s3.fault = null
    expect(await one.list({ tag: 'backup=refused', signal })).toEqual([])
  })

  test('a target at which nothing can be deleted doesn’t pass its trial', async () => {
    const trial = at({ path: 'append-only' })
    await trial.prepare({ signal })
    s3.fault = (request) => (request.method === 'DELETE' ? failure(403, 'AccessDenied') : undefined)
    const error = await trial.tryOut({ signal }).then(String, (error) => error.code)
    s3.fault = null
    expect(error).toBe('target_unauthorized')
  })

  test('a connection that breaks at 90 % is continued; one that stays away fails', async () => {
    const through = s.open(
      { ...target, endpoint: proxy.url },
      { timeouts: { open: 9000, stall: 9000 } },
    )
    const large = Buffer.from(crypto.getRandomValues(new Uint8Array(20_000_000)))
    proxy.cutIn(18_000_000)
    const tags = ['backup=cut']
    const stored = await through.store({ ...backup, tags, from: write(large) })
    expect(proxy.cuts).toBe(1)
    let found = Buffer.alloc(0)
    await through.read({
      ...{ snapshot: stored.id, file: 'dump', signal },
      to: async (chunks) => void (found = await collect(chunks)),
    })
    expect(found.equals(large)).toBe(true)
    const failing = through.store({
      ...{ ...backup, tags: ['backup=away'] },
      async from(to) {
        await write(crypto.getRandomValues(new Uint8Array(18_000_000)))(to)
        proxy.isAway = true
        proxy.cut()
        await write(crypto.getRandomValues(new Uint8Array(20_000_000)))(to)
      },
    })
    expect(await failing.then(String, (error) => error.code)).toBe('target_unreachable')
    proxy.isAway = false
    expect(await restic.list({ tag: 'backup=away', signal })).toEqual([])
  })

  const harms: [string, () => void][] = [
    [
      'changed by a bit',
      () => {
        const packs = packsOfBackup()
        for (const pack of packs) {
          const content = readFileSync(pack)
          content[Math.floor(content.length / 2)]! ^= 1
          writeFileSync(pack, content)
        }
      },
    ],
    ['cut', () => packsOfBackup().forEach((pack) => truncateSync(pack, 1000))],
    ['removed', () => packsOfBackup().forEach((pack) => rmSync(pack))],
    [
      'swapped',
      () => {
        const packs = s3.objects('backups/data/')
        const contents = packs.map((pack) => readFileSync(pack))
        for (const [at, content] of contents.entries())
          writeFileSync(packs[(at + 1) % packs.length]!, content)
      },
    ],
  ]

  /** Those with its data. */
  const packsOfBackup = () =>
    s3.objects('backups/data/').filter((pack) => readFileSync(pack).length > 500_000)

  test.each(harms)(
    'files that were %s are found by a check, and never read as if they weren’t',
    async (_, harm) => {
      const kept = s3
        .objects('backups/data/')
        .map((path) => ({ path, content: readFileSync(path) }))
      const timeouts = { open: 60_000, stall: 90_000 }
      harm()
      try {
        const [ofRead, ofCheck] = await Promise.all(
          [read(s.open(target, { timeouts })), s.check(target, timeouts)].map((work) =>
            work.then(
              () => new Error('Nothing was found.'),
              (error) => error,
            ),
          ),
        )
        // a file that ends too early looks like a connection that broke
        expect(ofRead).toMatchObject({
          code: expect.stringMatching(/^target_(damaged|unreachable)$/),
        })
        expect(ofCheck).toMatchObject({ code: 'target_damaged' })
      } finally {
        for (const { path, content } of kept) writeFileSync(path, content)
      }
      expect((await read()).equals(bytes)).toBe(true)
    },
    240_000, // restic 0.14 reads a file ten times before it gives it up
  )
})
