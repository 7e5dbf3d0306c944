import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { domains } from '../../src/db/schema.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { aLine, counted } from './access.ts'

test('a host that moves takes no line along: each is its owner’s of that time', async () => {
  const { t, has, log, collect, path, ada } = await counted()
  const bob = t.logIn('bob@example.com')
  const other = await anEnvironment(t, bob)
  has('app.test', { isNew: true })
  const write = (...lines: Parameters<typeof aLine>[1][]) =>
    log.write(...lines.map((line) => aLine('app.test', { duration: 0, ...line })))
  await Bun.sleep(2)
  const before = Date.now() / 1000
  write({})
  await collect()
  t.db.delete(domains).run()
  write({})
  await collect() // it is no one's
  await Bun.sleep(2)
  has('app.test', { holder: { environmentId: other.id }, isNew: true })
  await Bun.sleep(2)
  write({ ts: before }, { duration: 60 }, {}) // read late, begun before, and its own
  await collect()
  expect((await ada.get(path)).json.total.requests).toBe(1)
  expect((await bob.get(`/envs/${other.id}/traffic`)).json.total.requests).toBe(1)
  expect((await bob.get(path)).status).toBe(404)
})

test('a domain that gets the name of another takes none of its requests', async () => {
  const { t, has, log, collector, ada, path } = await counted()
  const bob = t.logIn('bob@example.com')
  const other = await anEnvironment(t, bob)
  has('app.test')
  has('his.test', { holder: { environmentId: other.id } })
  const reader = collector()
  log.write(aLine('app.test'), aLine('his.test'))
  await reader.collect()
  log.write(aLine('app.test')) // to Ada's app, and not read yet
  t.db.delete(domains).where(eq(domains.host, 'app.test')).run()
  t.db.update(domains).set({ host: 'app.test' }).run()
  await reader.collect()
  await Bun.sleep(2)
  log.write(aLine('app.test', { duration: 0 }))
  await reader.collect()
  expect((await ada.get(path)).json.total.requests).toBe(1)
  const { json } = await bob.get(`/envs/${other.id}/traffic`)
  expect(json.total.requests).toBe(2)
  expect(json.hosts).toContainEqual({ host: 'app.test', requests: 1 })
})
