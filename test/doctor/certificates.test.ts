import { afterAll, expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { lockDataDir } from '../../src/db/instance-lock.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { certificates, domains } from '../../src/db/schema.ts'
import { checkCertificates } from '../../src/doctor/certificates.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { anIssuer } from '../domains/issuer.ts'

const { issue } = anIssuer()
const dataDir = mkdtempSync(join(tmpdir(), 'davit-doctor-'))
afterAll(() => rmSync(dataDir, { recursive: true }))
const settings = { DAVIT_DATA_DIR: dataDir, DAVIT_EDGE: 'auto', DAVIT_DOMAIN: 'davit.test' }
const secrets = openSecrets({ dataDir, secretKey: null })
const db = openDatabase(join(dataDir, 'davit.db'))
openInstallation(db, secrets)
db.$client.run('PRAGMA foreign_keys = off') // no app is needed

const find = (more: Record<string, string> = {}) =>
  checkCertificates(parseConfig({ ...settings, ...more }))

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
const day = (time: Date) => time.toISOString().slice(0, 10)

/** What Davit noted of its own name. */
function note(row: Partial<typeof certificates.$inferInsert>) {
  db.delete(certificates).run()
  db.insert(certificates)
    .values({ host: 'davit.test', ...row })
    .run()
}

test('a certificate that couldn’t be issued or renewed is reported', () => {
  const trouble = { errorMessage: 'It wasn’t renewed.', errorHint: 'Open port 80.' }
  for (const status of ['issued', 'failed'] as const) {
    note({ status, ...trouble })
    expect(find()).toEqual([
      { what: 'https', is: 'davit.test: It wasn’t renewed.', todo: 'Open port 80.' },
    ])
  }
  note({ status: 'waiting', dnsOk: false, ...trouble })
  expect(find()).toEqual([]) // its DNS is reported
})

test('one that ends while Davit doesn’t run is reported, and after its end always', () => {
  const end = inDays(5)
  note({ status: 'issued', notAfter: end })
  const [finding] = find()
  expect(finding!.is).toBe(
    `davit.test: Its certificate ends on ${day(end)}, and no newer one is known.`,
  )
  expect(finding!.todo).toContain('Start Davit')
  const lock = lockDataDir(dataDir)
  onTestFinished(() => lock.close())
  expect(find()).toEqual([
    { what: 'https', is: `1 valid certificate, the first to end on ${day(end)}`, todo: null },
  ])
  note({ status: 'issued', notAfter: inDays(-1) })
  expect(find()).toMatchObject([
    { is: expect.stringContaining('ended on'), todo: expect.stringContaining('Check now') },
  ])
})

test('an uploaded one that ends is reported, since Davit can’t renew it', async () => {
  note({ status: 'issued', notAfter: inDays(60) })
  const { certificate } = await issue({ names: ['own.test'], days: 5 })
  const own = { https: 'own', certificate, certificateKey: 'sealed' } as const
  db.insert(domains)
    .values({ host: 'own.test', environmentId: 'none', position: 0, ...own })
    .run()
  expect(find()).toEqual([
    {
      what: 'https',
      is: expect.stringMatching(new RegExp(`^own\\.test: .* ${day(inDays(5))}\\.$`)),
      todo: expect.stringContaining('upload a new one'),
    },
    {
      what: 'https',
      is: `1 valid certificate, the first to end on ${day(inDays(60))}`,
      todo: null,
    },
  ])
})

test('where Caddy doesn’t serve, certificates don’t count', () => {
  note({ status: 'failed', errorMessage: 'It wasn’t issued.' })
  expect(find({ DAVIT_EDGE: 'direct' })).toEqual([])
})
