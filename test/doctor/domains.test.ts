import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { domains } from '../../src/db/schema.ts'
import { checkDomains } from '../../src/doctor/domains.ts'
import { noAddress } from '../../src/domains/dns-check.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { aNameServer } from '../support/name-server.ts'

const names = await aNameServer({})
const dataDir = mkdtempSync(join(tmpdir(), 'davit-doctor-'))
afterAll(() => {
  names.stop()
  rmSync(dataDir, { recursive: true })
})
const settings = { DAVIT_DATA_DIR: dataDir, DAVIT_EDGE: 'auto', DAVIT_DOMAIN: 'davit.test' }
const secrets = openSecrets({ dataDir, secretKey: null })
const db = openDatabase(join(dataDir, 'davit.db'))
openInstallation(db, secrets)

const find = (more: Record<string, string> = {}) =>
  checkDomains(parseConfig({ ...settings, ...more }), { nameServers: [names.address] })
const address = { DAVIT_PUBLIC_ADDRESS: '198.41.0.4' }

test('names that lead here are well, and others say what to change', async () => {
  names.zone['davit.test'] = ['198.41.0.4']
  expect(await find(address)).toEqual([
    { what: 'domains', is: 'one name points to 198.41.0.4', todo: null },
  ])
  names.zone['davit.test'] = ['192.5.5.241']
  const [finding] = await find(address)
  expect(finding!.is).toBe('davit.test points to 192.5.5.241 instead of 198.41.0.4.')
  expect(finding!.todo).toContain('an A record with the value 198.41.0.4')
})

test('each name without an address is named, also where no public address is known', async () => {
  names.zone['davit.test'] = ['10.1.2.3']
  names.zone['inside.test'] = ['10.1.2.3']
  db.$client.run('PRAGMA foreign_keys = off') // no app is needed
  const hosts = ['inside.test', 'one.test', 'two.test']
  db.insert(domains)
    .values(hosts.map((host) => ({ host, environmentId: 'none', position: 0 })))
    .run()
  const found = await find()
  db.delete(domains).run()
  expect(found.map(({ is }) => is)).toEqual([
    expect.stringMatching(/^davit\.test .* 10\.1\.2\.3\b/),
    noAddress('one.test'),
    noAddress('two.test'),
  ])
})

test('where Caddy doesn’t serve, nothing is looked up', async () => {
  expect(await find({ DAVIT_EDGE: 'direct' })).toEqual([])
})
