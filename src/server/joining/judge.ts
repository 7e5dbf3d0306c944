import { existsSync, readFileSync } from 'node:fs'
import { connectDocker } from '../../docker/index.ts'
import { ok, wrong } from '../../doctor/finding.ts'
import { spaceOf } from '../../platform/disk-space.ts'
import { Failure } from '../../platform/errors.ts'
import type { Route } from '../../platform/route-to.ts'
import type { JoinCheck } from '../../servers/join-check.ts'
import { isManagedAt, whyApart, whyOtherMachine, whyUnfit } from '../../servers/judge.ts'
import { blocked, judgeDisk } from '../judge.ts'
import type { Judged } from '../judge.ts'
import type { Layout } from '../layout.ts'
import { localEngine, nearest } from '../machine.ts'
import { hasProgram, tryRun } from '../run.ts'

type Engine = NonNullable<Awaited<ReturnType<typeof readEngine>>>

/** Null when Docker doesn't run here. */
export async function readEngine() {
  const docker = connectDocker(localEngine)
  const signal = AbortSignal.timeout(15_000)
  try {
    const [info, state] = await Promise.all([
      docker.info({ signal }),
      docker.swarmState({ signal }),
    ])
    return { info, state }
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

/** How Davit can reach the ssh of this server. */
export type Sshd = { sshPort: number; hostKey: string; sshPorts: number[] }

/** In the order in which Davit's ssh prefers them. */
const keyKinds = ['ed25519', 'ecdsa', 'rsa']

/** Null without a server of ssh. */
export async function readSshd(): Promise<Sshd | null> {
  const { status, lines } = await tryRun({ argv: ['sshd', '-T'] })
  if (status !== 0) return null
  const settings = lines.map((line) => line.split(' '))
  const valuesOf = (name: string) =>
    settings.flatMap(([key, ...words]) => (key === name ? [words.join(' ')] : []))
  const files = valuesOf('hostkey').map((path) => `${path}.pub`)
  const file = keyKinds
    .flatMap((kind) => files.filter((path) => path.includes(`_${kind}_`)))
    .find(existsSync)
  if (!file) return null
  const [kind, key] = readFileSync(file, 'utf8').split(' ')
  const ports = valuesOf('port').map(Number)
  const listening = valuesOf('listenaddress').map((at) => Number(at.split(':').at(-1)))
  return {
    ...{ sshPort: ports[0] ?? 22, hostKey: `${kind} ${key?.trim()}` },
    sshPorts: [...ports, ...listening],
  }
}

/** What must be true before Davit is asked. */
export async function judgeAlone(
  layout: Layout,
  { engine, sshd }: { engine: Engine | null; sshd: Sshd | null },
): Promise<Judged[]> {
  const hasDavit = [layout.unit, layout.settings].some((path) => existsSync(path))
  const disk = await spaceOf(nearest('/var/lib/docker'))
  const unfit = engine ? whyUnfit(engine) : []
  return [
    ...(process.getuid?.() === 0
      ? []
      : [blocked('user', 'you aren’t root', 'Run it as root: sudo davit join ….')]),
    existsSync('/run/systemd/system')
      ? ok('systemd', 'runs this machine')
      : blocked(
          'systemd',
          'systemd doesn’t run this machine, and it is what keeps the firewall',
          'Join it over ssh from Davit’s page instead: see /docs/servers.',
        ),
    ...(hasDavit
      ? [blocked('Davit', 'a Davit is installed here', 'Remove it first: davit uninstall.')]
      : []),
    engine
      ? ok('Docker', engine.info.version)
      : blocked('Docker', 'it doesn’t respond', 'Install Docker 25 or newer, and start it.'),
    ...unfit.map((why) => blocked('Docker', `this server ${why.replace(/\.$/, '')}`, fixDocker)),
    ...['docker', 'iptables']
      .filter((name) => !hasProgram(name))
      .map((name) => blocked('programs', `${name} isn’t installed`, `Install ${name}.`)),
    sshd
      ? ok('ssh', `sshd at port ${sshd.sshPort}`)
      : blocked('ssh', 'sshd isn’t installed, or has no host key', 'Install openssh-server.'),
    ...(disk ? [judgeDisk(disk)] : []),
  ]
}

const fixDocker = 'Change that, and restart Docker.'

type Together = {
  engine: Engine
  check: JoinCheck
  route: Route | null
  /** True when an earlier run has begun to join. */
  hasBegun: boolean
  /** Ports of Davit's server at which connections neither end nor are refused. */
  silent: number[]
}

/** What both servers must agree on. */
export function judgeTogether({ engine, check, route, hasBegun, silent }: Together): Judged[] {
  const { arch } = engine.info
  const why = [whyApart(new Date(check.time)), whyOtherMachine(arch, check.arch)].flatMap(
    (reason) => reason ?? [],
  )
  const { isMember } = engine.state
  const isLeft = hasBegun || isManagedAt(check.cluster, engine.state)
  const isElsewhere = isMember && !check.hasJoined && !isLeft
  return [
    ok('Davit', `knows this server as ${check.name}, and is at ${check.cluster}`),
    ...why.map((reason) =>
      blocked('server', `this server ${reason.replace(/\.$/, '')}`, 'Then run it again.'),
    ),
    ...(isElsewhere
      ? [blocked('swarm', 'this server is in a swarm already', 'Run docker swarm leave first.')]
      : []),
    ...(route ? judgeRoute(route, check) : [unreached(check)]),
    ...(silent.length > 0 ? [unheard(check, silent)] : []),
  ]
}

/** Packets of networks across servers are this much smaller. */
const overhead = 50

function judgeRoute({ address, device, mtu }: Route, check: JoinCheck): Judged[] {
  const smallest = Math.min(mtu, check.mtu)
  const isTheirs = check.address !== null && check.address !== address
  return [
    isTheirs
      ? blocked(
          'address',
          `Davit expects this server at ${check.address}, and it reaches ${check.cluster} from ${address}`,
          'Make a code for that address, or without one.',
        )
      : ok('address', `${address} (${device})`),
    smallest >= 1450 + overhead
      ? ok('MTU', String(smallest))
      : wrong(
          'MTU',
          `it is ${smallest}, so large packets between servers are split`,
          'Use 1500 or more on both servers if your provider allows it.',
        ),
  ]
}

const unreached = ({ cluster }: JoinCheck) =>
  blocked('address', `this server has no way to ${cluster}`, 'Connect both servers first.')

const unheard = ({ cluster }: JoinCheck, silent: number[]) =>
  blocked(
    'ports',
    `nothing responds at ${cluster}, port ${silent.join(' and ')}`,
    'Open it there for this server, and at your provider.',
  )
