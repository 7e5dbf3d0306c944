import { expect, onTestFinished, setSystemTime, test } from 'bun:test'
import { testApp, withRoot } from '../../support/app.ts'

/** An app whose engine has so many entries of a build cache, of a mebibyte each, and nothing else. */
function withCache(count: number) {
  const t = testApp()
  const entry = { parents: [], type: 'regular', description: '', inUse: false, shared: false }
  const rest = { layersSize: 0, images: [], containers: [], volumes: [] }
  t.faults.diskUse = async () => ({
    ...rest,
    buildCache: Array.from({ length: count }, (_, n) => ({
      ...entry,
      ...{ id: `entry-${n}`, size: 2 ** 20, lastUsedAt: new Date() },
    })),
  })
  t.faults.removeBuildCache = async () => 2 ** 20
  return t.logInAsAdmin()
}

const groups = (html: string) =>
  Array.from(
    html.matchAll(/<details class="prune-group"( open="")?><summary>(.*?)<\/summary>/g),
    ([, open, summary]) => ({
      isOpen: !!open,
      said: summary!
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    }),
  )

test('many things of a kind are one row with their number and size, which unfolds to each', async () => {
  const root = withCache(12_000)
  const form = { what: 'build_cache', dry_run: '1' }
  const { text } = await root.htmx('POST', '/settings/prune', form)
  expect(groups(text)).toEqual([{ isOpen: false, said: 'Build cache 12,000 11.7 GiB' }])
  expect(text.match(/name="items" value="build_cache:[^"]*" checked/g)).toEqual([
    'name="items" value="build_cache:*" checked',
  ])
  expect(text).toContain('and 11,900 more')
  const items = 'build_cache:*'
  const done = await root.htmx('POST', '/settings/prune', { what: 'build_cache', items })
  expect(groups(done.text)).toEqual([{ isOpen: false, said: 'Build cache 12,000 11.7 GiB' }])
  const none = await root.htmx('POST', '/settings/prune', { what: 'build_cache', items: '' })
  expect(groups(none.text)).toEqual([])
})

test('few things of a kind are there at once', async () => {
  const form = { what: 'build_cache', dry_run: '1' }
  const { text } = await withCache(2).htmx('POST', '/settings/prune', form)
  expect(groups(text)).toEqual([{ isOpen: true, said: 'Build cache 2 2.0 MiB' }])
})

test('the page doesn’t wait until Docker has measured its disk, and shows it when it has', async () => {
  const { t, root } = withRoot(testApp())
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof t.docker.diskUse>>>()
  let measured = 0
  t.faults.diskUse = () => {
    measured++
    return promise
  }
  const first = await root.page('/settings/prune')
  expect(first.text).toContain('Docker is measuring its disk usage')
  const before = t.changes.version
  const changed = Promise.withResolvers<void>()
  t.changes.listen(AbortSignal.timeout(30_000), changed.resolve)
  const none = { images: [], containers: [], volumes: [], buildCache: [] }
  resolve({ ...none, layersSize: 7 * 2 ** 20 })
  await changed.promise
  expect(t.changes.version).not.toBe(before)
  const { text } = await root.page('/settings/prune')
  expect(text).toContain('7.0 MiB')
  expect(text).toContain('Measured <time')
  expect(measured).toBe(1)
})

test('a program gets what was measured last, and when, while Docker takes long to measure again', async () => {
  const { t, root } = withRoot(testApp({}, { config: { acceptTimeout: 20 } }))
  const none = { images: [], containers: [], volumes: [], buildCache: [] }
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof t.docker.diskUse>>>()
  t.faults.diskUse = () => promise
  expect((await root.get('/settings/prune')).status).toBe(504)
  resolve({ ...none, layersSize: 7 })
  const first = await root.get('/settings/prune')
  expect(first.json).toMatchObject({ use: { images: 7 } })
  t.faults.diskUse = () => new Promise(() => {})
  expect((await root.get('/settings/prune')).json.measuredAt).toBe(first.json.measuredAt)
  setSystemTime(Date.now() + 120_000)
  onTestFinished(() => void setSystemTime())
  expect((await root.get('/settings/prune')).json.measuredAt).toBe(first.json.measuredAt)
})
