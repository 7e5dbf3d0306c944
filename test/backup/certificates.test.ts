import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeBackup } from '../../src/backup/make.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { EngineError } from '../../src/docker/index.ts'
import { servedCertificate } from '../../src/domains/certificate-ask.ts'
import { connectAdmin } from '../../src/edge/admin.ts'
import { apply, whenUp } from '../../src/edge/apply.ts'
import { placeAuthority } from '../../src/edge/certificates.ts'
import { configurationOf } from '../../src/edge/configuration.ts'
import { folderInside } from '../../src/edge/container.ts'
import { setCertificates, setHosts } from '../../src/edge/hosts.ts'
import { makeFolder } from '../../src/edge/slots.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { ensureEdgeContainer, readCertificates } from '../../src/runtime/edge-container.ts'
import { anInternet, here } from '../domains/internet.ts'
import { freePort } from '../support/free-port.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'

const net = await anInternet()
const { docker, signal } = net
const directory = mkdtempSync(join(tmpdir(), 'davit-backup-'))
const instanceId = Bun.randomUUIDv7()
afterAll(async () => {
  await removeFromEngine(docker, [`davit.instance=${instanceId}`])
  rmSync(directory, { recursive: true })
})

function anInstallation(name: string) {
  const config = { dataDir: join(directory, name), secretKey: null }
  rmSync(config.dataDir, { recursive: true, force: true })
  return config
}

const from = anInstallation('before')
makeFolder(from.dataDir)
const secrets = openSecrets(from)
const db = openDatabase(join(from.dataDir, 'davit.db'))
openInstallation(db, secrets)

const file = join(directory, 'davit.backup')
const backUp = (certificates: AsyncIterable<Uint8Array>) =>
  makeBackup({
    ...{ config: from, file, passphrase: null, withLogs: false, force: true, settings: {} },
    certificates,
  })

test('certificates come back on another server, without the authority', async () => {
  net.zone['app.test'] = [here]
  net.add('app.test')
  await net.becomes('app.test', 'issued')
  const before = await servedCertificate('app.test', { port: net.ports.https, signal })
  const { manifest } = await backUp(readCertificates(net, { signal }))
  expect(manifest.files.map(({ name }) => name)).toContain('certificates.tar')

  const to = anInstallation('after')
  await restoreBackup({ config: to, file, passphrase: null })
  const tar = join(to.dataDir, 'certificates.tar')
  expect(existsSync(tar)).toBe(true)
  const folder = join(to.dataDir, 'edge')
  makeFolder(folder)
  await ensureEdgeContainer({ docker, instanceId }, { folder, signal })
  expect(existsSync(tar)).toBe(false)

  const admin = connectAdmin({ socket: join(folder, 'admin.sock') })
  await whenUp({ admin }, { signal })
  const ports = { http: freePort(), https: freePort() }
  const https = { kind: 'auto', mayAsk: true, redirect: false } as const
  const hosts = [{ name: 'app.test', https, sites: [{ path: '/', target: { slots: 'app' } }] }]
  const { authority } = placeAuthority(folder, net.authority, { folderInside })
  setHosts(folder, hosts, { folderInside })
  setCertificates(folder, hosts)
  const plan = { folder: folderInside, ports, hosts, listeners: [], authority }
  await apply({ admin }, { configuration: configurationOf(plan) }, { signal })
  const orders = net.orders.length
  const after = await servedCertificate('app.test', { port: ports.https, signal })
  expect(after).toEqual(before)
  expect(net.orders.length).toBe(orders)
})

test('without a Caddy there is no backup, and the reason', async () => {
  const none = { docker, instanceId: Bun.randomUUIDv7() }
  await expect(backUp(readCertificates(none, { signal }))).rejects.toThrow(
    'There are no certificates to back up',
  )
})

test('an engine that fails in the middle leaves the last backup as it was', async () => {
  const { size } = Bun.file(file)
  async function* broken() {
    yield new Uint8Array(512)
    throw new EngineError(500, 'the disk is gone')
  }
  await expect(backUp(broken())).rejects.toThrow('the disk is gone')
  expect(Bun.file(file).size).toBe(size)
})
