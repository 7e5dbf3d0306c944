import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { sha256Of } from '../release/make.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { installedServer } from './installed.ts'
import { buildVersions, killFile } from './versions.ts'

setDefaultTimeout(1_800_000)

let machine: SystemdMachine
let server: ReturnType<typeof installedServer>

beforeAll(async () => {
  machine = await startSystemdMachine()
  await buildVersions(machine.shared, ['0.1.0', '0.2.0', '0.3.0'], { killable: true })
  server = installedServer(machine)
  await server.install('0.1.0')
  await server.keep()
}, 900_000)

afterAll(() => machine?.leave())

const upgradeTo = async (version: string) => {
  const sum = await sha256Of(join(machine.shared, `davit-${version}`))
  return server.upgrade(version, ['--sha256', sum])
}

/** Upgrades with a kill at the first place, then at the second and so on, until no one passes that many. */
async function killedEverywhere(
  version: string,
  phase: string,
  afterwards: (places: number) => Promise<void>,
) {
  for (let places = 1; ; places++) {
    await server.reset()
    await machine.must(['sh', '-c', `echo -n '${`${places} ${phase}`.trim()}' > ${killFile}`])
    await upgradeTo(version)
    const { exitCode: wasPassed } = await machine.run(['test', '-e', killFile])
    if (wasPassed === 0) return places - 1
    await machine.must(['systemctl', 'restart', 'davit']) // as after a boot
    await afterwards(places)
  }
}

/** The next upgrade works, and leaves nothing of the killed one. Of every third: each takes its time. */
async function canUpgrade(places: number) {
  if (places % 3 !== 1) return
  const { output } = await upgradeTo('0.2.0')
  expect(await server.state(), output).toEqual({ version: '0.2.0', hasLater: true, leftOver: [] })
}

test('an upgrade that is killed at any step leaves one of the two versions, whole', async () => {
  const seen = new Set<string>()
  const steps = await killedEverywhere('0.2.0', '', async (places) => {
    const { version, hasLater } = await server.state()
    expect({ version, hasLater }).toEqual({ version, hasLater: version === '0.2.0' })
    seen.add(version)
    await canUpgrade(places)
  })
  expect([...seen].toSorted()).toEqual(['0.1.0', '0.2.0'])
  expect(steps).toBeGreaterThan(15)
})

test('a rollback that is killed at any step ends with the old version, whole', async () => {
  const steps = await killedEverywhere('0.3.0', 'revert', async (places) => {
    const { version, hasLater } = await server.state()
    expect({ version, hasLater }).toEqual({ version: '0.1.0', hasLater: false })
    await canUpgrade(places)
  })
  expect(steps).toBeGreaterThan(5)
})
