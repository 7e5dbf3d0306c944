import { ok } from '../../doctor/finding.ts'
import { bytes, counted } from '../../web/units.ts'
import { blocked } from '../judge.ts'
import type { Judged } from '../judge.ts'
import { sizeOf } from './contents.ts'
import type { Group } from './contents.ts'
import type { Layout } from '../layout.ts'
import { engineState, otherEngine } from '../machine.ts'
import { configOf, lacksOf } from '../installed.ts'
import type { Facts } from './facts.ts'
import type { Needs } from './messages.ts'

/** Images: bytes of those that the new server lacks. */
type MissingNeeds = Omit<Needs, 'images'> & { images: number }

/** Bytes to keep free on the new server. */
const reserve = 512 * 2 ** 20

/** A second Davit with the same data would remove what it doesn't know from the other servers. */
export const judgeOthers = (names: string[]): Judged[] =>
  names.length === 0
    ? []
    : [
        blocked(
          'servers',
          `this Davit has other servers, which don’t move with it: ${names.join(', ')}`,
          'Remove them first (Settings, Servers), and add them to the new server afterwards.',
        ),
      ]

/** What keeps anything else from being looked at on the new server; null for nothing. */
export async function judgeFirst(layout: Layout, host: string): Promise<Judged | null> {
  if (process.getuid?.() !== 0)
    return blocked('login', `you aren’t root on ${host}`, `Log in there as root: root@…`)
  const lacks = lacksOf(layout)
  if (lacks !== null)
    return blocked(
      'Davit',
      `it isn’t installed on ${host}: ${lacks}`,
      'Run davit install there, with the same version.',
    )
  const other = otherEngine(configOf(layout))
  if (other !== null)
    return blocked(
      'Docker',
      `DOCKER_HOST is ${other} on ${host}, and davit receive works only with the Docker of its own machine`,
      'Use davit backup here, and davit restore there.',
    )
  if ((await engineState()).state === 'running') return null
  return blocked('Docker', `it doesn’t respond on ${host}`, 'Run davit install there again.')
}

/** Reports the state of the new server; a blocking finding prevents the move. */
export function judgeMove(facts: Facts, needs: MissingNeeds): Judged[] {
  const { host } = needs
  return [
    facts.version === needs.version
      ? ok('Davit', `${facts.version} is installed on ${host}`)
      : blocked(
          'Davit',
          `${host} has version ${facts.version}, this server ${needs.version}`,
          'Upgrade the older one with davit upgrade.',
        ),
    facts.arch === needs.arch
      ? ok('system', facts.arch)
      : blocked(
          'system',
          `${host} is ${facts.arch}, this server ${needs.arch}`,
          'Images and files of databases are made for one of them: use a server of the same kind.',
        ),
    ...judgeEngine(facts, needs),
    judgeData(facts, host),
    ...facts.taken.map((is) =>
      blocked('port', `on ${host}, ${is}`, 'Davit needs it: stop that program there.'),
    ),
    ...needs.files.flatMap(({ setting, path }) =>
      facts.missing.includes(path)
        ? blocked('file', `${setting} is ${path}, which isn’t on ${host}`, toBringFile(setting))
        : [],
    ),
    ...judgeSpace(facts, needs),
  ]
}

const toBringFile = (setting: string) =>
  setting === 'DAVIT_EDGE_ADMIN' ? 'Start your Caddy there first.' : 'Copy it there first.'

function judgeEngine(
  facts: Facts,
  { host, userNamespace, hasContainerdStore }: MissingNeeds,
): Judged[] {
  if (facts.userNamespace !== userNamespace)
    return [
      blocked(
        'Docker',
        'the two servers map users in different ways (userns-remap), so owners of files would differ',
        'Use the same setting in /etc/docker/daemon.json on both, and the same range in /etc/subuid and /etc/subgid.',
      ),
    ]
  if (facts.hasContainerdStore !== hasContainerdStore)
    return [
      blocked(
        'Docker',
        `only the Docker ${hasContainerdStore ? 'of this server' : `on ${host}`} keeps images in containerd, so they have other ids on the other server`,
        'Use the same setting on both before there are apps: "features": {"containerd-snapshotter": false} or true in /etc/docker/daemon.json.',
      ),
    ]
  return [ok('Docker', `${facts.engine} on ${host}`)]
}

function judgeData({ occupied, copyFrom }: Facts, host: string): Judged {
  if (occupied !== null)
    return blocked(
      'data',
      `${host} isn’t empty: ${occupied}`,
      'Use another server, or remove that: davit uninstall --data --apps, then davit install.',
    )
  return ok(
    'data',
    copyFrom === null
      ? `${host} has none yet`
      : `${host} has a copy from an earlier move, of ${copyFrom}, which is replaced`,
  )
}

function judgeSpace(
  { disks, replaced, sent }: Facts,
  { volumes, images, data, host }: MissingNeeds,
): Judged[] {
  const needed = [
    // an engine unpacks an image beside its archive
    { at: disks.docker, size: volumes + 2 * images + reserve - replaced },
    { at: disks.data, size: 2 * data + reserve / 4 },
    { at: disks.moves, size: data + Math.max(0, volumes - sent) },
  ]
  const byDisk = Map.groupBy(needed, ({ at }) => at?.disk)
  return [...byDisk.values()].flatMap((all) => {
    const { at } = all[0]!
    const need = all.reduce((sum, { size }) => sum + size, 0)
    return at ? judgeDisk(host, at, Math.max(0, need)) : []
  })
}

const judgeDisk = (
  host: string,
  { folder, free }: { folder: string; free: number },
  need: number,
) =>
  free >= need
    ? ok('disk', `${bytes(free)} free in ${folder} of ${host}, ${bytes(need)} are needed`)
    : blocked(
        'disk',
        `${folder} of ${host} has only ${bytes(free)} free, and ${bytes(need)} are needed`,
        'Use a larger disk there, or leave volumes out with --without.',
      )

/** Lists what is copied, one line each. */
export function describeGroups(chosen: Group[], all: Group[]): string[] {
  const sizes = new Map(chosen.map((group) => [group.id, group]))
  return all.map((group) => {
    const { volumes } = sizes.get(group.id)!
    const left = group.volumes.length - volumes.length
    const what = group.kind === 'app' ? 'app    ' : 'service'
    const state = group.isRunning ? 'runs' : 'doesn’t run'
    const copied =
      volumes.length > 0
        ? `, ${counted(volumes.length, 'volume')} (${bytes(sizeOf([{ volumes }]))})`
        : ''
    const empty = left > 0 ? `, ${counted(left, 'volume')} left out: empty there` : ''
    return `  ${what}  ${group.name}: ${state}${copied}${empty}`
  })
}
