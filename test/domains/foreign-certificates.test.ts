import { afterAll, expect, test } from 'bun:test'
import { CertificateKeeper } from '../../src/domains/certificate-keeper.ts'
import { findCertificate } from '../../src/domains/certificate-store.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { newDatabases } from '../support/databases.ts'
import { aNameServer } from '../support/name-server.ts'
import { loopback } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { here } from './internet.ts'

const names = await aNameServer({ localhost: [here], 'other.test': [here] })
/** In place of a user's Caddy: it has a certificate for localhost alone, which it also shows to others. */
const tls = { cert: loopback.cert, key: loopback.key }
const server = Bun.serve({ port: 0, hostname: here, tls, fetch: () => new Response('') })
const { db } = newDatabases()
const over = new AbortController()
const keeper = new CertificateKeeper({
  config: {
    acme: { email: null, directory: null, root: null },
    ...{ domain: null, url: null, publicAddresses: [here] },
    edgePorts: { http: 1, https: server.port! },
  },
  ...{ db, docker: connectDocker({ host: process.env.DOCKER_HOST }), instanceId: '' },
  edge: { mode: 'external', isKnown: () => true, sync: async () => {} },
  nameServers: [names.address],
  hosts: () =>
    ['localhost', 'other.test'].map((name) => ({
      ...{ name, sites: [] },
      https: { kind: 'auto', mayAsk: false, redirect: false },
    })),
})
const running = keeper.run(over)
afterAll(async () => {
  over.abort()
  await running
  names.stop()
  await server.stop(true)
})

test('of a Caddy of the user’s own it is only read which names have a certificate', async () => {
  await until(() => findCertificate(db, 'localhost')?.status === 'issued')
  expect(findCertificate(db, 'localhost')).toMatchObject({
    ...{ issuer: '127.0.0.1', dnsOk: true, errorMessage: null, failures: 0 },
  })
  await until(() => findCertificate(db, 'other.test')?.errorMessage != null)
  expect(findCertificate(db, 'other.test')).toMatchObject({
    ...{ status: 'waiting', dnsOk: true, failures: 0 },
    errorMessage: 'Your Caddy has no certificate for other.test yet.',
  })
})
