import { expect, test } from 'bun:test'
import { CertificateKeeper } from '../../src/domains/certificate-keeper.ts'
import { listTroubled } from '../../src/domains/certificate-store.ts'
import { connectDocker } from '../../src/docker/index.ts'
import type { Host } from '../../src/edge/plan.ts'
import { newDatabases } from '../support/databases.ts'
import { aNameServer } from '../support/name-server.ts'
import { until } from '../support/until.ts'
import { here } from './internet.ts'

test('many names are looked up without asking for all of them each time', async () => {
  const names = await aNameServer({})
  const { db } = newDatabases()
  const over = new AbortController()
  const all = Array.from({ length: 60 }, (_, at): Host => {
    const https = { kind: 'auto', mayAsk: false, redirect: false } as const
    return { name: `n${at}.test`, https, sites: [] }
  })
  let asked = 0
  const keeper = new CertificateKeeper({
    config: {
      acme: { email: null, directory: null, root: null },
      ...{ domain: null, url: null, publicAddresses: [here] },
      edgePorts: { http: 1, https: 2 },
    },
    ...{ db, docker: connectDocker({ host: process.env.DOCKER_HOST }), instanceId: '' },
    edge: { mode: 'caddy', look: async () => {} },
    nameServers: [names.address],
    hosts() {
      asked++
      return all
    },
  })
  const running = keeper.run(over)
  await until(() => listTroubled(db).length === all.length)
  over.abort()
  await running
  names.stop()
  expect(asked).toBeLessThan(all.length / 2)
})
