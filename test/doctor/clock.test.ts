import { afterAll, expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { checkClock } from '../../src/doctor/clock.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { anIssuer } from '../domains/issuer.ts'

const { issue } = anIssuer()
const dataDir = mkdtempSync(join(tmpdir(), 'davit-doctor-'))
afterAll(() => rmSync(dataDir, { recursive: true }))
const secrets = openSecrets({ dataDir, secretKey: null })
const db = openDatabase(join(dataDir, 'davit.db'))
openInstallation(db, secrets)

const run = join(dataDir, 'run')
const find = (directory: string, more: Record<string, string> = {}) =>
  checkClock(
    parseConfig({
      ...{ DAVIT_DATA_DIR: dataDir, DAVIT_EDGE: 'auto', DAVIT_DOMAIN: 'davit.test' },
      ...{ DAVIT_ACME_URL: directory, ...more },
    }),
    { run },
  )

/** An authority whose clock is that many seconds behind. */
async function authority(behind: number) {
  const { certificate: cert, key } = await issue({ names: ['authority.test'] })
  let asked = 0
  const server = Bun.serve({
    port: 0,
    tls: { cert, key },
    fetch() {
      asked++
      return Response.json({}, { headers: { Date: at(behind) } })
    },
  })
  onTestFinished(() => server.stop(true))
  return { url: `https://localhost:${server.port}/directory`, asked: () => asked }
}

const at = (behind: number) => new Date(Date.now() - behind * 1000).toUTCString()

test('the clock is compared with that of the authority, by whatever certificate it has', async () => {
  const { url } = await authority(0)
  expect(await find(url)).toEqual([
    { what: 'authority', is: expect.stringMatching(/^localhost:\d+ responds$/), todo: null },
    { what: 'clock', is: expect.stringContaining('the same as that of localhost'), todo: null },
  ])
  const [, ahead] = await find((await authority(3600)).url)
  expect(ahead!.is).toMatch(/^3,60\d seconds ahead of that of localhost/)
  expect(ahead!.todo).toContain('NTP')
  const [, behind] = await find((await authority(-7200)).url)
  expect(behind!.is).toMatch(/^7,\d{3} seconds behind that of localhost/)
})

test('an authority that can’t be reached is a finding', async () => {
  using unused = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  unused.stop(true)
  const [finding] = await find(`https://127.0.0.1:${unused.port}/directory`)
  expect(finding!.is).toBe(
    `127.0.0.1:${unused.port} can’t be reached, so no certificate is issued or renewed`,
  )
  expect(finding!.todo).toContain(`connect to 127.0.0.1:${unused.port}`)
})

test('no authority is contacted where Davit requests no certificates', async () => {
  const { url, asked } = await authority(0)
  expect(await find(url, { DAVIT_EDGE: 'direct' })).toEqual([])
  expect(asked()).toBe(0)
})

test('a clock that systemd couldn’t set is a finding', async () => {
  const folder = join(run, 'systemd/timesync')
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(run, { recursive: true }))
  const look = () => find('https://127.0.0.1:1/directory', { DAVIT_EDGE: 'direct' })
  expect(await look()).toMatchObject([{ what: 'clock', todo: expect.stringContaining('NTP') }])
  writeFileSync(join(folder, 'synchronized'), '')
  expect(await look()).toMatchObject([{ what: 'clock', todo: null }])
})
