import { expect, onTestFinished, test } from 'bun:test'
import { CertificateKeeper } from '../../src/domains/certificate-keeper.ts'
import { listTroubled } from '../../src/domains/certificate-store.ts'
import { connectDocker } from '../../src/docker/index.ts'
import type { Db } from '../../src/db/index.ts'
import type { Host } from '../../src/edge/plan.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp } from '../support/app.ts'
import { newDatabases } from '../support/databases.ts'
import { aNameServer } from '../support/name-server.ts'
import type { Name } from '../support/name-server.ts'
import { until } from '../support/until.ts'
import { here } from './internet.ts'

/** Looks all of these names up, none of which exists; returns the order in which they were asked for. */
async function lookUp(db: Db, names: string[]) {
  const asked = new Set<string>()
  const zone = new Proxy<Record<string, Name>>(
    {},
    { get: (_, name) => void asked.add(`${String(name)}`) },
  )
  const server = await aNameServer(zone)
  onTestFinished(server.stop)
  const over = new AbortController()
  const all = names.map((name): Host => {
    const https = { kind: 'auto', mayAsk: false, redirect: false } as const
    return { name, https, sites: [] }
  })
  let listed = 0
  const keeper = new CertificateKeeper({
    config: {
      acme: { email: null, directory: null, root: null },
      ...{ domain: null, url: null, publicAddresses: [here] },
      edgePorts: { http: 1, https: 2 },
    },
    ...{ db, docker: connectDocker({ host: process.env.DOCKER_HOST }), instanceId: '' },
    edge: { mode: 'caddy', isKnown: () => true, sync: async () => {} },
    nameServers: [server.address],
    hosts() {
      listed++
      return all
    },
  })
  const running = keeper.run(over)
  await until(() => listTroubled(db).length === all.length)
  over.abort()
  await running
  return { listed, asked: [...asked].filter((name) => names.includes(name)) }
}

test('many names are looked up without listing all of them each time', async () => {
  const names = Array.from({ length: 60 }, (_, at) => `n${at}.test`)
  const { listed, asked } = await lookUp(newDatabases().db, names)
  expect(asked.sort()).toEqual(names.sort())
  expect(listed).toBeLessThan(names.length / 2)
})

test('someone’s many names don’t delay those of others', async () => {
  const t = testApp({}, { jobsWait: true })
  const names: string[] = []
  for (const [user, count] of Object.entries({ ada: 40, bob: 3 })) {
    const client = t.logIn(`${user}@example.com`)
    const { path } = await anEnvironment(t, client)
    const domains = Array.from({ length: count }, (_, at) => `${user}-${at}.test`)
    expect((await client.put(path, { domains })).status).toBe(200)
    names.push(...domains)
  }
  const { asked } = await lookUp(t.db, names)
  expect(asked).toHaveLength(43)
  const last = asked.findLastIndex((name) => name.startsWith('bob'))
  expect(last).toBeLessThan(12)
})
