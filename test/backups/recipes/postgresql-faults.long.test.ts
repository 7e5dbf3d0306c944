import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { differenceOf, dump, undoLoad } from '../../../src/backups/recipes/index.ts'
import { imageOf } from '../../support/images/recipes.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { until } from '../../support/until.ts'
import { dumped, inspected, loaded, scene } from './scene.ts'
import { shopOf } from './shop.ts'

await ensureServiceImages({ say: console.error })

const { deps, failing, start } = scene()
const image = await imageOf('postgresql')
const env = { POSTGRES_USER: 'shop', POSTGRES_PASSWORD: 'secret', POSTGRES_DB: 'app' }
const ready = ['psql', '-h', '127.0.0.1', '-d', 'app', '-c', '']

async function server() {
  const target = await start(image, { env, ready })
  const psql = ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', 'app', '-c']
  return { target, psql, sql: (text: string) => target.run([...psql, text]) }
}

const { target, psql, sql } = await server()
await sql(shopOf(100_000))

const isHeld = "SELECT count(*) FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock'"
const endSleepers = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()`

/** Stops reading the dump of the app once its first bytes have come, until `proceed`. */
function heldDump() {
  const [held, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const kept: string[] = []
  const done = dump(deps, {
    ...target,
    signal: new AbortController().signal,
    async each({ name, write }, signal) {
      const to = new Writable({
        highWaterMark: 1,
        async write(_, __, taken) {
          if (name === 'db/app.dump') {
            held.resolve()
            await go.promise
          }
          taken()
        },
      })
      await write(to, signal)
      kept.push(name)
    },
  })
  done.catch(() => held.resolve())
  return { done, kept, held: held.promise, proceed: () => go.resolve() }
}

test('a restored copy has exactly the rows that were counted while others wrote', async () => {
  const line = `while [ ! -e /tmp/stop ]; do ${psql.map((word) => `'${word}'`).join(' ')} "
    INSERT INTO orders (customer, product, count) SELECT 1, 1, 1 FROM generate_series(1, 100);
    DELETE FROM orders WHERE id IN (SELECT id FROM orders ORDER BY random() LIMIT 37);
    UPDATE orders SET count = count + 1 WHERE id % 50 = 0" || exit; done`
  const writing = target.run(['sh', '-c', line])
  const before = await sql('SELECT count(*) FROM orders')
  await until(async () => (await sql('SELECT count(*) FROM orders')) !== before)
  const kept = await dumped(deps, target)
  await target.run(['touch', '/tmp/stop'])
  await writing
  const copy = await server()
  await loaded(deps, copy.target, kept)
  expect(differenceOf(kept.contents, await inspected(deps, copy.target))).toBeNull()
  // it is of a moment, not of now
  expect(differenceOf(kept.contents, await inspected(deps, target))).toContain('public.orders')
})

test('a change of a table that comes during a dump waits for it, and not the dump for that', async () => {
  const { done, held, proceed } = heldDump()
  await held
  const changed = sql('ALTER TABLE orders ADD COLUMN later int')
  await until(async () => (await sql('SELECT count(*) FROM pg_locks WHERE NOT granted')) !== '0')
  proceed()
  const contents = await done
  expect(contents.databases.map(({ name }) => name)).toEqual(['app', 'postgres'])
  await changed
})

test('a change of a table that comes while rows are counted keeps neither from its end', async () => {
  // an index that is built anew keeps the rows of its table from being counted, and it from nothing else
  const building = sql('BEGIN; REINDEX INDEX orders_customer_made_idx; SELECT pg_sleep(600)')
  building.catch(() => {})
  const waiting = async () => Number(await sql('SELECT count(*) FROM pg_locks WHERE NOT granted'))
  await until(async () => (await sql(isHeld)) !== '0')
  const dumping = dumped({ ...deps, lockTimeoutMs: 60_000 }, target)
  dumping.catch(() => {})
  await until(async () => (await waiting()) > 0)
  const changed = sql('ALTER TABLE products ADD COLUMN later int')
  await until(async () => (await waiting()) > 1)
  await sql(endSleepers)
  const kept = await dumping
  expect(kept.contents.databases.map(({ name }) => name)).toEqual(['app', 'postgres'])
  await changed
})

test('a table that someone else keeps locked fails a dump in time', async () => {
  const locked = sql('BEGIN; LOCK TABLE orders; SELECT pg_sleep(600)').catch(() => {})
  await until(async () => (await sql(isHeld)) !== '0')
  expect(await failing(dumped({ ...deps, lockTimeoutMs: 300 }, target))).toBe('dump_locked')
  await sql(endSleepers)
  await locked
})

test('a dump whose server is killed, or that is aborted, isn’t kept and leaves nothing running', async () => {
  const { done, kept, held, proceed } = heldDump()
  await held
  await until(() => kept.length === 2) // they don't wait for it
  await sql(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg_dump'",
  )
  proceed()
  expect(await failing(done)).toBe('dump_away')
  expect(kept).toEqual(['db-roles.sql', 'db/postgres.dump'])

  const mine = new Error('mine')
  const abort = new AbortController()
  const aborted = dump(deps, {
    ...target,
    signal: abort.signal,
    async each({ write }, signal) {
      const to = new Writable({ write: () => abort.abort(mine) })
      await write(to, signal)
    },
  })
  expect(aborted).rejects.toBe(mine)
  await failing(aborted)
})

test('what a dump failed with is the reason, and not what its end does to the other one', async () => {
  const full = new Error('full')
  const [failed, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const dumping = dump(deps, {
    ...target,
    signal: new AbortController().signal,
    async each({ name, write }, signal) {
      if (name === 'db/app.dump') {
        await failed.promise
        ended.resolve()
        throw new Error('its container was removed')
      }
      const to = new Writable({ write: (_, __, taken) => taken(full) })
      const error = await write(to, signal).catch((error) => error)
      failed.resolve()
      await ended.promise
      throw error
    },
  })
  expect(dumping).rejects.toBe(full)
  await failing(dumping)
})

test('a wrong password and a server that is stopped are told apart', async () => {
  const source = { ...target.source, env: { ...target.source.env, PGPASSWORD: 'old' } }
  expect(await failing(dumped(deps, { ...target, source }))).toBe('dump_login')
  const stopped = await server()
  await deps.docker.stopContainer(stopped.target.containerId)
  expect(await failing(dumped(deps, stopped.target))).toBe('dump_not_running')
})

test('a dump that can’t be loaded leaves the database as it was, and one that can replaces it', async () => {
  const copy = await server()
  await copy.sql("CREATE TABLE own AS SELECT 'mine' AS text")
  const kept = await dumped(deps, target)
  const app = kept.files.get('db/app.dump')!
  const spoilt = (bytes: Buffer) => ({
    ...kept,
    files: new Map(kept.files).set('db/app.dump', bytes),
  })
  const cut = spoilt(app.subarray(0, app.length * 0.9))
  expect(await failing(loaded(deps, copy.target, cut))).toBeString()
  expect(await failing(loaded(deps, copy.target, spoilt(Buffer.from('garbage'))))).toBeString()
  const newer = { ...kept, contents: { ...kept.contents, version: '99.1' } }
  expect(await failing(loaded(deps, copy.target, newer))).toBe('load_version')
  expect(await copy.sql('SELECT text FROM own')).toBe('mine')
  const names = 'SELECT string_agg(datname, $$ $$ ORDER BY datname) FROM pg_database'
  expect(await copy.sql(names)).toBe('app postgres template0 template1')

  // someone who is connected all the time doesn't keep it from being replaced
  const line = `while [ ! -e /tmp/stop ]; do ${copy.psql.map((word) => `'${word}'`).join(' ')} 'SELECT pg_sleep(60)'; done`
  const connected = copy.target.run(['sh', '-c', line]).catch(() => {})
  await loaded(deps, copy.target, { ...kept, database: 'app' })
  await copy.target.run(['touch', '/tmp/stop'])
  await copy.sql(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()",
  )
  await connected
  expect(differenceOf(kept.contents, await inspected(deps, copy.target), 'app')).toBeNull()
  expect(await copy.sql(names)).toBe('app postgres template0 template1')
})

test('a database that a killed load left closed takes connections again', async () => {
  const { contents } = await dumped(deps, target)
  const elsewhere = psql.with(psql.indexOf('app'), 'postgres')
  await target.run([...elsewhere, 'ALTER DATABASE app ALLOW_CONNECTIONS false'])
  expect(sql('SELECT 1')).rejects.toThrow()
  await undoLoad(deps, { ...target, contents, signal: new AbortController().signal })
  expect(await sql('SELECT 1')).toBe('1')
}, 120_000)

test('a database that a load has replaced is removed, when that was killed just before', async () => {
  const { contents } = await dumped(deps, target)
  await sql('CREATE DATABASE davit_replaced')
  await sql('ALTER DATABASE davit_replaced ALLOW_CONNECTIONS false')
  await undoLoad(deps, { ...target, contents, signal: new AbortController().signal })
  expect(await sql("SELECT count(*) FROM pg_database WHERE datname LIKE 'davit%'")).toBe('0')
}, 120_000)

test('what a load that was ended still does keeps neither its database nor the next load', async () => {
  const copy = await server()
  const kept = await dumped(deps, target)
  const stuck = async () => {
    await copy.sql('CREATE DATABASE davit_restoring')
    const elsewhere = copy.psql.with(copy.psql.indexOf('app'), 'davit_restoring')
    const session = copy.target.run([...elsewhere, 'SELECT pg_sleep(600)']).catch(() => {})
    const isThere = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'davit_restoring'"
    await until(async () => (await copy.sql(isThere)) === '1')
    return { session }
  }
  const undone = await stuck()
  const { contents } = kept
  await undoLoad(deps, { ...copy.target, contents, signal: new AbortController().signal })
  await undone.session
  const overtaken = await stuck()
  await loaded(deps, copy.target, { ...kept, database: 'app' })
  await overtaken.session
  expect(differenceOf(contents, await inspected(deps, copy.target), 'app')).toBeNull()
  expect(await copy.sql("SELECT count(*) FROM pg_database WHERE datname LIKE 'davit%'")).toBe('0')
}, 120_000)
