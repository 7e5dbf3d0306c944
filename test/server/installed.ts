import { join } from 'node:path'
import { layoutIn, unitText } from '../../src/server/layout.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { until } from '../support/until.ts'

const layout = layoutIn()

/** A test asks more often than a person does. */
export const unhurried = { DAVIT_RATE_LIMIT: '100000', DAVIT_RATE_BURST: '100000' }

/** A server with Davit as `davit install` leaves it, its versions in the folder that it shares with us. */
export function installedServer(machine: SystemdMachine) {
  const { must, run, shared, sharedInside } = machine
  const file = (version: string) => `${sharedInside}/davit-${version}`
  const isReady = async () => {
    const answer = await fetch(`http://${machine.address}:3000/health/ready`).catch(() => null)
    return answer?.ok ?? false
  }
  return {
    file,
    isReady,
    async install(version: string, env: Record<string, string> = {}) {
      const home = ['--home-dir', layout.home, '--create-home']
      await must(['useradd', '--system', ...home, 'davit'])
      await run(['usermod', '--append', '--groups', 'docker', 'davit'])
      await must(['install', '-D', '-m', '755', file(version), layout.executable])
      const place = { DAVIT_DATA_DIR: layout.data, DAVIT_HOST: '0.0.0.0' }
      const settings = { ...place, ...unhurried, ...env }
      const text = Object.entries(settings).map((pair) => `${pair.join('=')}\n`)
      await Bun.write(join(shared, 'davit.env'), text.join(''))
      await must(['install', '-D', '-m', '600', `${sharedInside}/davit.env`, layout.settings])
      await Bun.write(join(shared, 'davit.service'), unitText(layout))
      await must(['install', '-D', '-m', '644', `${sharedInside}/davit.service`, layout.unit])
      await must(['systemctl', 'daemon-reload'])
      await must(['systemctl', 'enable', '--now', 'davit'])
      await until(isReady, 60)
    },
    upgrade: (version: string, options: string[] = []) =>
      run([layout.executable, 'upgrade', file(version), ...options]),
    /** What runs, and what an upgrade left that it shouldn't have. */
    async state() {
      await until(isReady, 60)
      const pid = await must(['systemctl', 'show', '--property=MainPID', '--value', 'davit'])
      const data = `${layout.data}/davit.db`
      const [version, later, left] = await Promise.all([
        must([`/proc/${pid}/exe`, '--version']),
        run(['grep', '--quiet', '--no-messages', 'TABLE later', data, `${data}-wal`]),
        run(['ls', '-A', '/usr/local/bin', '/var/lib/davit-upgrade', `${layout.unit}.d`]),
      ])
      return { version, hasLater: later.exitCode === 0, leftOver: leftIn(left.output) }
    },
    /** Keeps what is installed now; `reset` puts that back. */
    async keep() {
      await must(['systemctl', 'stop', 'davit'])
      await must(['cp', '-a', layout.data, '/root/data'])
      await must(['cp', '-a', layout.executable, '/usr/local/bin/kept'])
      await must(['systemctl', 'start', 'davit'])
    },
    async reset() {
      await must(['systemctl', 'stop', 'davit'])
      await must([
        'rm',
        '-rf',
        layout.data,
        `${layout.unit}.d`,
        '/var/lib/davit-upgrade',
        '/run/davit-kill',
      ])
      await must(['cp', '-a', '/root/data', layout.data])
      await must(['ln', '-f', '/usr/local/bin/kept', layout.executable])
      await must(['systemctl', 'daemon-reload'])
      await must(['systemctl', 'reset-failed', 'davit'])
      await must(['systemctl', 'start', 'davit'])
      await until(isReady, 60)
    },
  }
}

const leftIn = (listing: string) =>
  listing.split('\n').filter((line) => /\.(new|keeper)$|upgrade\.(json|conf)$|\.db$/.test(line))
