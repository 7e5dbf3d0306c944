import { resolve } from 'node:path'
import { Failure } from '../platform/errors.ts'
import { bytes, counted } from '../web/units.ts'
import { layoutIn } from '../server/layout.ts'
import { take } from '../server/move/arrive.ts'
import { describeDns } from '../server/move/dns.ts'
import { sizeOf } from '../server/move/contents.ts'
import { refuseOtherThanInstalled } from '../server/installed.ts'
import { describeGroups } from '../server/move/judge.ts'
import { runMove } from '../server/move/move.ts'
import type { Moved } from '../server/move/move.ts'
import { planMove } from '../server/move/plan.ts'
import type { MovePlan } from '../server/move/plan.ts'
import { receiveMove } from '../server/move/receive.ts'
import { connectRemote, nameOf } from '../server/move/remote.ts'
import type { Destination } from '../server/move/remote.ts'
import { settingsLeft } from '../server/move/settings.ts'
import { beforeStart } from '../server/move/standstill.ts'
import {
  finishLast,
  haltThere,
  leftToFinish,
  movedFromHere,
  startHere,
} from '../server/move/undo.ts'
import { holdInstallation } from '../server/locks.ts'
import { confirmed } from './ask.ts'
import { UsageError, print, readArguments, warn } from './command.ts'
import type { Command } from './command.ts'
import { lineOf, refused, untilSignal } from './install.ts'

const usage =
  'davit move USER@SERVER [--cut-over] [--volumes all|none|NAME,…] [--without NAME,…] [--port PORT] [--identity FILE] [--yes] [--dry-run], or davit move --undo [--force] [--yes]'

const options = {
  'cut-over': { type: 'boolean', default: false },
  volumes: { type: 'string', default: 'all' },
  without: { type: 'string', default: '' },
  port: { type: 'string' },
  identity: { type: 'string' },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  undo: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  step: { type: 'string' },
} as const

/** Moves everything to another server, as a rehearsal or for good. */
export const move: Command = async (args) => {
  const asked = readArguments(args, { usage, optional: 'server', options })
  const layout = layoutIn()
  if (asked.step === 'before-start') return beforeStart(layout).then(() => 0)
  const isDry = asked['dry-run']
  if (asked.undo === (asked.server !== undefined) || (asked.undo ? isDry : asked.force))
    throw new UsageError(`usage: ${usage}`)
  refuseOtherThanInstalled(layout, {
    does: 'move',
    todo: 'Use davit backup here, and davit restore there.',
  })
  const work = { signal: untilSignal('davit move'), say: (line: string) => print(line) }
  const hold = holdInstallation(layout)
  try {
    if (asked.undo) return await undo(asked)
    const first = isDry ? leftToFinish(layout) : []
    if (first.length > 0) {
      print(...first, 'Nothing was changed: this was a dry run.')
      return 0
    }
    await finishLast(layout, work)
    const destination = destinationIn(asked.server!, asked)
    const isFinal = asked['cut-over']
    const remote = connectRemote(destination, layout.executable, work.signal)
    try {
      const without = asked.without.split(',').filter(Boolean)
      const choice = { volumes: asked.volumes, without }
      const plan = await planMove({ layout, destination, choice, remote })
      print(...describe(plan, { isFinal }))
      const { findings } = plan.found
      if (findings.some(({ blocks }) => blocks)) return refused(findings)
      if (!(await confirmed({ yes: asked.yes, isDry }))) return 0
      const moved = await runMove({ plan, remote, isFinal, work })
      print('', ...conclusion(plan, moved, { isFinal }))
      return moved.differences.length === 0 ? 0 : 1
    } finally {
      await remote.close()
    }
  } finally {
    hold.close()
  }

  async function undo({ yes, force }: { yes: boolean; force: boolean }) {
    const before = movedFromHere(layout)
    const host = nameOf(before)
    if (before.phase !== 'copying') {
      print(
        `This server was moved to ${host} at ${new Date(before.at).toISOString()}.`,
        'Undoing starts it again with the data that it had then.',
        `What was written on ${host} since isn’t here. Davit and its apps are stopped there; their data stay there.`,
        '',
      )
      await confirmed({ yes })
      await haltThere(layout, before, work).catch((error) => {
        if (!(error instanceof Failure) || error.code === 'interrupted') throw error
        if (!force) throw mayRunThere(host, error)
        warn(`${error.message} Davit and its apps may still run on ${host}.`)
      })
    }
    await startHere(layout, work)
    print('', 'Davit and its apps run here again. DNS records must lead here.')
    return 0
  }
}

const mayRunThere = (host: string, cause: Failure) =>
  new Failure(
    'moved',
    `${host} couldn’t be stopped, so nothing was started here: ${cause.message}`,
    `Both servers would run the same apps, and both would be written to. Run davit move --undo again when ${host} can be reached. Or stop Davit and its apps there yourself, then run davit move --undo --force.`,
    { cause },
  )

/** The other side of a move: ssh runs it on the new server. */
export const receive: Command = async (args) => {
  const options = { take: { type: 'string' } } as const
  const { take: what } = readArguments(args, {
    usage: 'davit receive',
    options,
  })
  const of = { layout: layoutIn(), signal: untilSignal('davit move'), input: Bun.stdin.stream() }
  if (what !== undefined) await take(of.layout, { ...of, what })
  else await receiveMove({ ...of, write: (line) => void process.stdout.write(line) })
  return 0
}

function destinationIn(
  host: string,
  { port, identity }: { port?: string | undefined; identity?: string | undefined },
): Destination {
  if (!/^[^\s-][^\s]{0,254}$/.test(host))
    throw new UsageError('the server must look like root@new-server.')
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw new UsageError('--port must be a port.')
  return { host, port: port ?? null, identity: identity === undefined ? null : resolve(identity) }
}

function describe(
  { found, groups, contents, destination, settings }: MovePlan,
  { isFinal }: { isFinal: boolean },
) {
  const host = nameOf(destination)
  const images = contents.images.filter(({ id }) => found.missing.includes(id))
  const size = images.reduce((sum, one) => sum + one.size, 0)
  return [
    isFinal
      ? `Moving this server to ${host}, for good:`
      : `A rehearsal of moving this server to ${host}:`,
    ...found.findings.map(lineOf),
    '',
    'What is copied:',
    ...describeGroups(groups, contents.groups),
    `  images   ${counted(images.length, 'image')} (${bytes(size)}) that ${host} doesn’t have`,
    '  data     users, settings, deployments, logs, secrets and certificates, sealed',
    ...contents.binds.map(
      ({ of, folder }) =>
        `  left out  ${folder}, a folder of this server that ${of} uses: copy it yourself`,
    ),
    ...contents.others.map(
      ({ of, name }) =>
        `  left out  the volume ${name} ${of ? `of ${of}, which Davit didn’t create` : 'of a deleted app or service'}: copy it yourself`,
    ),
    ...settingsLeft(settings).map(
      (name) => `  left out  the setting ${name}: set it there if you need it`,
    ),
    '',
    ...(isFinal ? forGood(host) : rehearsal(host, sizeOf(groups) > 0)),
    ...(found.copyFrom === null
      ? []
      : [`What was written to the copy on ${host} since then will be lost.`]),
    '',
  ]
}

const rehearsal = (host: string, hasVolumes: boolean) => [
  'This server keeps running, and stays the live one:',
  '  - Davit’s pages are unavailable while what changed is copied. Apps respond, and deployments wait.',
  ...(hasVolumes
    ? ['  - An app or service is stopped only while what changed in its volumes is copied.']
    : []),
  `  - ${host} gets a copy of all of it. What is written there later is lost with the next move.`,
  '  - Apps run there too, from then on: they may send e-mail, run schedules and call others twice.',
  '  - Plans of backups are off there: both would store in, and remove from, the same repositories.',
]

const forGood = (host: string) => [
  'This server stops:',
  '  - Most is sent while everything runs. Then Davit, all apps and all services stop here, and the rest is sent.',
  `  - They stay stopped when all of them run on ${host}. Before that, any failure starts them here again.`,
  '  - davit move --undo starts this server again, with the data it has now.',
]

function conclusion(
  { destination, found }: MovePlan,
  { differences, alike, changed, dns }: Moved,
  { isFinal }: { isFinal: boolean },
) {
  const host = nameOf(destination)
  const address = found.addresses[0] ?? host
  return [
    ...alike.map((line) => `  same       ${line}`),
    ...changed.map((line) => `  to check   ${line}`),
    ...differences.map((line) => `  different  ${line}`),
    '',
    ...(dns.length > 0
      ? ['DNS records to change:', ...describeDns(dns), '']
      : ['No DNS records to change: no domain leads here.', '']),
    ...(isFinal
      ? [
          `${host} is the server now. Here everything is stopped, and doesn’t start at boot.`,
          `Change the DNS records now. When everything works, run davit uninstall --apps --data here.`,
          'To return to this server, without what was written there since: davit move --undo.',
        ]
      : [
          `${host} runs a copy; this server runs on and is the one that counts.`,
          `Try it: give your domains the address ${address} in /etc/hosts of your machine.`,
          `Then move for good: davit move ${destination.host} --cut-over. It replaces the copy.`,
          'Leave the DNS records until then.',
        ]),
  ]
}
