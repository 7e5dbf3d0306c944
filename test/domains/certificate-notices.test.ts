import { expect, onTestFinished, test } from 'bun:test'
import { planOf } from '../../src/addresses/plan.ts'
import { certificates, events } from '../../src/db/schema.ts'
import { CertificateKeeper } from '../../src/domains/certificate-keeper.ts'
import { noteCertificate, noteOwn } from '../../src/domains/certificate-notice.ts'
import { findCertificate } from '../../src/domains/certificate-store.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { aNameServer } from '../support/name-server.ts'
import { loopback } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { here } from './internet.ts'
import { anIssuer } from './issuer.ts'

const { issue } = anIssuer()

const host = 'shop.test'

const day = 86_400_000

/** What was told so far, oldest first. */
const told = ({ db }: TestApp) =>
  db
    .select()
    .from(events)
    .orderBy(events.id)
    .all()
    .map(({ level, ownerId, environmentId }) => ({ level, ownerId, environmentId }))

const levelsOf = (t: TestApp) => told(t).map(({ level }) => level)

async function withShop() {
  const { t, ada } = withAda(simulatedApp())
  return { t, ada, ...(await addShop(t, ada)) }
}

async function addShop(t: TestApp, client: TestClient) {
  const { id: environmentId } = await anEnvironment(t, client)
  const { status, json } = await client.post(`/envs/${environmentId}/domains`, { host })
  expect(status).toBe(201)
  return { environmentId, path: `/domains/${json.id}` }
}

/** Its certificate couldn't be renewed; the next try is far. */
function fail({ db }: TestApp, { user }: TestClient) {
  const row = {
    ...{ status: 'failed' as const, errorMessage: 'Too many requests.', failures: 1 },
    nextTryAt: new Date(Date.now() + 6 * day),
  }
  db.insert(certificates)
    .values({ host, ...row })
    .onConflictDoNothing()
    .run()
  db.update(certificates).set(row).run()
  noteCertificate(db, host, { ownerId: user.id })
}

/** Keeps the certificates of the app, as beside a Caddy of Davit's own. No name exists. */
async function aKeeper(t: TestApp, { isKnown = true, https = 2 } = {}) {
  const names = await aNameServer({})
  const over = new AbortController()
  const keeper = new CertificateKeeper({
    ...t.deps,
    config: { ...t.config, publicAddresses: [here], edgePorts: { http: 1, https } },
    edge: { mode: 'caddy', isKnown: () => isKnown, sync: async () => {} },
    nameServers: [names.address],
    hosts: () => planOf(t).hosts,
  })
  const running = keeper.run(over)
  onTestFinished(async () => {
    over.abort()
    await running
    names.stop()
  })
  return keeper
}

test('a failure ends with its domain, and that of the next owner is told to them', async () => {
  const { t, ada, environmentId, path } = await withShop()
  const keeper = await aKeeper(t)
  fail(t, ada)
  const first = { ownerId: ada.user.id, environmentId }
  expect(told(t)).toEqual([{ level: 'failure', ...first }])
  await ada.delete(path)
  keeper.look([host])
  await until(() => told(t).length > 1)
  expect(told(t)).toEqual([
    { level: 'failure', ...first },
    { level: 'resolved', ...first },
  ])
  const bob = t.logIn('bob@example.com')
  const second = await addShop(t, bob)
  fail(t, bob)
  expect(told(t)[2]).toEqual({
    ...{ level: 'failure', ownerId: bob.user.id },
    environmentId: second.environmentId,
  })
})

test('a failure is told of the environment where its host leads now', async () => {
  const { t, ada, environmentId, path } = await withShop()
  fail(t, ada)
  await ada.delete(path)
  const second = await addShop(t, ada)
  fail(t, ada)
  const ownerId = ada.user.id
  expect(told(t)).toEqual([
    { level: 'failure', ownerId, environmentId },
    { level: 'failure', ownerId, environmentId: second.environmentId },
  ])
  await aKeeper(t)
  await until(() => told(t).length > 2)
  expect(told(t)[2]).toEqual({ level: 'resolved', ownerId, environmentId })
})

test('a failure of a name that is limited is told to its next owner as soon as they add it', async () => {
  const { t, ada, path } = await withShop()
  fail(t, ada)
  const keeper = await aKeeper(t)
  await ada.delete(path)
  keeper.look([host])
  await until(() => told(t).length > 1)
  const bob = t.logIn('bob@example.com')
  const { environmentId } = await addShop(t, bob)
  keeper.look([host])
  await until(() => told(t).length > 2)
  expect(told(t)[2]).toEqual({ level: 'failure', ownerId: bob.user.id, environmentId })
})

/** Ada's shop with a certificate of her own that ends in so many days; `set` replaces it. */
async function withOwn(days: number) {
  const shop = await withShop()
  const set = async (days: number) => {
    const { certificate, key } = await issue({ names: [host], days })
    const changed = await shop.ada.put(shop.path, { https: 'own', certificate, key })
    expect(changed.status, changed.text).toBe(200)
  }
  await set(days)
  return { ...shop, set }
}

test.each(['own', 'off'] as const)(
  'with https=%s a name that points elsewhere has no failing certificate',
  async (https) => {
    const { t, ada, path } = await withOwn(90)
    if (https === 'off') expect((await ada.put(path, { https })).status).toBe(200)
    // from the time when its HTTPS was automatic
    t.db.insert(certificates).values({ host, status: 'issued', notAfter: new Date() }).run()
    await aKeeper(t)
    await until(() => findCertificate(t.db, host)?.errorMessage != null)
    expect(findCertificate(t.db, host)).toMatchObject({ status: 'issued', dnsOk: false })
    expect(told(t)).toEqual([])
  },
)

test('a failure ends when HTTPS is turned off', async () => {
  const { t, ada, path } = await withShop()
  fail(t, ada)
  expect((await ada.put(path, { https: 'off' })).status).toBe(200)
  await aKeeper(t)
  await until(() => told(t).length > 1)
  expect(levelsOf(t)).toEqual(['failure', 'resolved'])
})

test('a failure of a name that is limited ends as soon as a certificate is uploaded', async () => {
  const { t, ada, set } = await withOwn(90)
  fail(t, ada)
  const { nextTryAt } = findCertificate(t.db, host)!
  const keeper = await aKeeper(t)
  await set(90)
  keeper.look([host])
  await until(() => told(t).length > 1)
  expect(levelsOf(t)).toEqual(['failure', 'resolved'])
  expect(findCertificate(t.db, host)).toMatchObject({ status: 'failed', nextTryAt })
})

test('an uploaded certificate that ends within 21 days is told once, and that it is replaced', async () => {
  const { t, ada, environmentId, set } = await withOwn(20)
  const keeper = await aKeeper(t)
  await until(() => told(t).length > 0)
  keeper.look([host])
  await until(() => findCertificate(t.db, host)?.nextTryAt != null)
  const open = { level: 'failure' as const, ownerId: ada.user.id, environmentId }
  expect(told(t)).toEqual([open])
  expect(t.db.select().from(events).get()).toMatchObject({ count: 1 })
  await set(30)
  keeper.look([host])
  await until(() => told(t).length > 1)
  expect(told(t)).toEqual([open, { ...open, level: 'resolved' }])
})

test('an uploaded certificate that ends soon isn’t told as invalid, but its end is told when it comes', async () => {
  const { t, ada, environmentId } = await withOwn(20)
  const all = () => t.db.select().from(events).orderBy(events.id).all()
  const ownerId = ada.user.id
  const noteAfter = async (days: number) => {
    const { certificate } = await issue({ names: [host], days })
    noteOwn(t.db, host, { certificate, ownerId })
  }
  await noteAfter(20)
  await noteAfter(-1)
  const levels = ['failure', 'failure'] as const
  expect(levelsOf(t)).toEqual([...levels])
  const [soon, over] = all()
  expect(soon!.title).not.toBe(over!.title)
  expect([soon!.environmentId, over!.environmentId]).toEqual([environmentId, environmentId])
  expect([soon!.endedAt, over!.endedAt]).toEqual([expect.any(Date), null])
  await noteAfter(10)
  expect(levelsOf(t)).toEqual([...levels, 'resolved', 'failure'])
  await noteAfter(90)
  expect(levelsOf(t)).toEqual([...levels, 'resolved', 'failure', 'resolved'])
  expect(all().filter(({ endedAt }) => endedAt === null)).toEqual([])
})

test('until it is known whether Davit’s Caddy runs, no certificate is lost to another server on its port', async () => {
  const { t } = await withShop()
  const row = { status: 'issued' as const, nextTryAt: new Date(0) }
  t.db.insert(certificates).values({ host }).onConflictDoNothing().run()
  t.db.update(certificates).set(row).run()
  const tls = { cert: loopback.cert, key: loopback.key }
  const other = Bun.serve({ port: 0, hostname: here, tls, fetch: () => new Response('') })
  onTestFinished(() => other.stop(true))
  await aKeeper(t, { isKnown: false, https: other.port! })
  await until(() => findCertificate(t.db, host)!.nextTryAt! > new Date())
  expect(findCertificate(t.db, host)).toMatchObject({ status: 'issued', failures: 0 })
})
