import { expect, onTestFinished, test } from 'bun:test'
import { planOf } from '../../src/addresses/plan.ts'
import { certificates, events } from '../../src/db/schema.ts'
import { CertificateKeeper } from '../../src/domains/certificate-keeper.ts'
import { noteCertificate } from '../../src/domains/certificate-notice.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { aNameServer } from '../support/name-server.ts'
import { until } from '../support/until.ts'
import { here } from './internet.ts'

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
async function aKeeper(t: TestApp) {
  const names = await aNameServer({})
  const over = new AbortController()
  const keeper = new CertificateKeeper({
    ...t.deps,
    config: { ...t.config, publicAddresses: [here], edgePorts: { http: 1, https: 2 } },
    edge: { mode: 'caddy', sync: async () => {} },
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
