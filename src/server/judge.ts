import { oldestApi } from '../doctor/engine.ts'
import { ok, wrong } from '../doctor/finding.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Listener } from '../platform/tcp-sockets.ts'
import { bytes } from '../web/units.ts'
import type { EngineState, Machine } from './machine.ts'
import type { Need } from './packages.ts'

/** `blocks` prevents the installation. */
export type Judged = Finding & { blocks?: boolean }

/** In bytes. With less, neither packages nor the first build would fit. */
const leastFree = 2 ** 30

/** In bytes. With less, Davit runs, but little else does. */
const leastMemory = 480 * 2 ** 20

const absent = 'not installed yet'

/** Reports the state of a machine, and what must be fixed before an installation. */
export function judge(machine: Machine): Judged[] {
  const { isRoot, hasSystemd, distribution, memory, disk, confinement, firewall } = machine
  return [
    ...(isRoot ? [] : [blocked('user', 'you aren’t root', 'Run it as root: sudo davit install.')]),
    ok('system', `${distribution.name}, ${process.arch}`),
    hasSystemd
      ? ok('systemd', 'runs this machine')
      : blocked(
          'systemd',
          'systemd doesn’t run this machine, and it is what starts Davit',
          'Use a server with systemd, or run davit serve yourself: see /docs/install, By hand.',
        ),
    judgeEngine(machine.engine),
    ok('git', machine.git ?? absent),
    ok('ssh', machine.hasSsh ? 'the client is installed' : absent),
    ...canInstall(machine),
    memory >= leastMemory
      ? ok('memory', bytes(memory))
      : wrong('memory', bytes(memory), 'Davit runs, but builds need more: add memory or swap.'),
    ...(disk ? [judgeDisk(disk)] : []),
    ok('limits', confinement ?? 'neither SELinux nor AppArmor'),
    ok('firewall', firewall ?? 'none that is known'),
    ...machine.listeners.map(judgePort),
  ]
}

/** Programs that Davit needs and that aren't installed. */
export const missing = ({ engine, git, hasSsh }: Pick<Machine, 'engine' | 'git' | 'hasSsh'>) => {
  const lacks: [Need, boolean][] = [
    ['engine', engine.state === 'missing'],
    ['git', git === null],
    ['ssh', !hasSsh],
  ]
  return lacks.flatMap(([need, isMissing]) => (isMissing ? [need] : []))
}

function judgeEngine(engine: EngineState): Judged {
  if (engine.state !== 'running')
    return ok('Docker', engine.state === 'missing' ? absent : 'installed, but not running')
  return Number.parseFloat(engine.apiVersion) >= oldestApi
    ? ok('Docker', engine.version)
    : blocked('Docker', `Docker ${engine.version} is too old`, 'Upgrade it to 20.10 or newer.')
}

function canInstall(machine: Machine): Judged[] {
  const needs = missing(machine)
  const { name, packages, lacks } = machine.distribution
  if (needs.some((need) => lacks.includes(need)))
    return [
      blocked(
        'packages',
        `${name} has no package of Docker`,
        'Install Docker’s own packages, https://docs.docker.com/engine/install, then run it again.',
      ),
    ]
  if (needs.length === 0 || packages !== null) return []
  const what = { engine: 'Docker 20.10 or newer', git: 'git', ssh: 'an ssh client' }
  return [
    blocked(
      'packages',
      'this distribution has neither apt-get nor dnf',
      `Install ${needs.map((need) => what[need]).join(', ')} yourself, then run it again.`,
    ),
  ]
}

export function judgeDisk({ folder, free }: { folder: string; free: number }): Judged {
  return free >= leastFree
    ? ok('disk', `${bytes(free)} free in ${folder}`)
    : blocked(
        'disk',
        `only ${bytes(free)} are free in ${folder}`,
        'Free some space: 1 GiB is the least, and apps need more.',
      )
}

function judgePort({ port, by }: Listener): Judged {
  const is = `port ${port} is taken by ${by ? `${by.name} (process ${by.pid})` : 'another program'}`
  const edge = 'or leave out --domain to use Davit without domains'
  return blocked(
    'port',
    is,
    port === 80 || port === 443
      ? `Stop it (systemctl disable --now …), ${edge}.`
      : 'Stop it, or choose another port with --port.',
  )
}

export const blocked = (what: string, is: string, todo: string): Judged => ({
  ...wrong(what, is, todo),
  blocks: true,
})
