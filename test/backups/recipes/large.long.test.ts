import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { dump } from '../../../src/backups/recipes/index.ts'
import { imageOf } from '../../support/images/recipes.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { scene } from './scene.ts'

await ensureServiceImages({ say: console.error })

const { deps, start } = scene()
const image = await imageOf('postgresql')
const env = { POSTGRES_USER: 'shop', POSTGRES_PASSWORD: 'secret', POSTGRES_DB: 'app' }
const psql = ['psql', '-h', '127.0.0.1', '-d', 'app', '-XAtqc']
const signal = new AbortController().signal
const GiB = 2 ** 30

const server = () => start(image, { env, ready: [...psql, ''], memoryBytes: GiB })

/** Watches the memory of this process while it works, in MiB above what it was. */
async function measured<T>(work: () => Promise<T>) {
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
  const started = performance.now()
  try {
    const result = await work()
    return {
      ...{ result, seconds: (performance.now() - started) / 1000 },
      mebibytes: Math.round((peak - before) / 2 ** 20),
    }
  } finally {
    clearInterval(watch)
  }
}

test('a dump of 5 GB passes through less than 100 MiB of memory', async () => {
  const from = await server()
  // it is small on the disk, where it is compressed, and large in a dump
  await from.run([
    ...psql,
    `CREATE TABLE large AS SELECT n, repeat(md5(n::text), 32768) AS text FROM generate_series(1, 5200) n`,
  ])
  let bytes = 0
  const { seconds, mebibytes, result } = await measured(() =>
    dump(deps, {
      ...{ ...from, signal },
      async each({ write }) {
        const to = new Writable({
          write(chunk, _, done) {
            bytes += chunk.length
            done()
          },
        })
        await write(to, signal)
      },
    }),
  )
  const started = performance.now()
  await from.run(['sh', '-c', 'pg_dump -h 127.0.0.1 -Fc -Z0 app | cat > /dev/null'])
  const alone = (performance.now() - started) / 1000
  console.error(
    `${(bytes / GiB).toFixed(1)} GiB: ${seconds.toFixed(1)} s and ${mebibytes} MiB, pg_dump alone ${alone.toFixed(1)} s`,
  )
  expect(bytes).toBeGreaterThan(5 * GiB)
  expect(result.databases[0]!.tables).toEqual([{ name: 'public.large', rows: 5200 }])
  expect(mebibytes).toBeLessThan(100)
}, 900_000)
