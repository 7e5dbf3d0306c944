import { linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeBackup } from '../../backup/make.ts'
import type { Config } from '../../config.ts'
import { appliedSchema, knownSchema } from '../../db/index.ts'
import { Failure } from '../../platform/errors.ts'
import { compareVersions, version } from '../../platform/root.ts'
import { asDavit } from '../accounts.ts'
import { configOf, refuseOtherThanInstalled } from '../installed.ts'
import type { Layout } from '../layout.ts'
import { holdInstallation } from '../locks.ts'
import { refuseMoved } from '../move/journal.ts'
import type { Work } from '../run.ts'
import { lastWords, requestRestart } from '../service.ts'
import { refuseFull, stage } from './candidate.ts'
import type { About } from './candidate.ts'
import { clearUpgrade, finishLast, untilOver } from './finish.ts'
import { placesOf, readJournal, writeJournal } from './journal.ts'
import type { Places, Upgrade } from './journal.ts'
import { sourceOf } from './source.ts'
import { abandonUpgrade, openUpgrade } from './unit.ts'

export type UpgradeOptions = {
  layout: Layout
  /** A file, a URL, or null for the newest release of DAVIT_RELEASES. */
  asked: string | null
  sha256: string | null
  /** Also accepts the current version or an older one. */
  force: boolean
  /** Seconds that the new version has to start. */
  timeout: number
}

/**
 * Replaces the running version. If that fails, the old version and its databases are restored, and it
 * throws a Failure with the reason. Resolves with lines that report the result.
 */
export async function upgradeServer(options: UpgradeOptions, work: Work): Promise<string[]> {
  const { layout } = options
  const places = placesOf(layout)
  refuseOtherThanInstalled(layout, {
    does: 'upgrade',
    todo: 'Replace the executable or the image as you installed it, and restart Davit.',
  })
  const config = configOf(layout)
  refuseMoved(layout)
  using _hold = holdInstallation(layout)
  await finishLast(places, work)
  const asked = options.asked ?? config.releases
  if (asked === null) throw nothingAsked()
  const asking = { allowHosts: config.allowHosts, signal: work.signal }
  const source = await sourceOf(asked, asking)
  const trust = { sha256: options.sha256, publicKey: config.releaseKey }
  const found = await stage(source, places.draft, trust, work)
  try {
    if (found.version === version && !options.force)
      return [
        `Davit ${version} runs already. Nothing was changed. To install it again, add --force.`,
      ]
    refuseOlder(found, { config, options })
    const upgrade = await prepare(places, found, { config, options, work })
    await openUpgrade(places, options.timeout, work)
    writeJournal(places, upgrade)
  } finally {
    if (!readJournal(places)) await abandonUpgrade(places, work)
  }
  work.say(`Restarting: Davit ${version} stops, ${found.version} starts. Apps run on.`)
  await requestRestart(work)
  return await concluded(await untilOver(places, work), places, work)
}

const nothingAsked = () =>
  new Failure(
    'upgrade_file',
    'No version to upgrade to was given, and DAVIT_RELEASES isn’t set.',
    'Give a file or an address: davit upgrade FILE.',
  )

/** An older version would overwrite data that it doesn't know, so it must never get a newer database. */
function refuseOlder(
  found: About,
  { config, options }: { config: Config; options: UpgradeOptions },
) {
  if (compareVersions(found.version, version) >= 0) return
  const why = whyNotBack(found.version, options)
  if (why) throw new Failure('upgrade_older', ...why)
  const applied = asDavit(() => ({
    state: appliedSchema(join(config.dataDir, 'davit.db')),
    logs: appliedSchema(join(config.dataDir, 'logs.db')),
  }))
  if (found.schema.state >= applied.state && found.schema.logs >= applied.logs) return
  throw new Failure(
    'upgrade_older',
    `Davit ${found.version} can’t open the database of ${version}, which has changed since.`,
    'Stop Davit, move its data directory away, install the old executable, and restore a backup of that version: see davit restore.',
  )
}

/** Older releases are signed, too: whoever serves them could reintroduce a vulnerability that was fixed. */
export function whyNotBack(
  older: string,
  { asked, force }: Pick<UpgradeOptions, 'asked' | 'force'>,
): [message: string, hint: string] | null {
  if (asked === null)
    return [
      `The newest release is ${older}, which is older than ${version}, which runs.`,
      'Nothing was changed.',
    ]
  if (force) return null
  return [
    `The file is Davit ${older}, which is older than ${version}, which runs.`,
    'Nothing was changed. To go back to it, add --force.',
  ]
}

type Preparing = { config: Config; options: UpgradeOptions; work: Work }

/** Does everything that can fail before the server is changed. */
async function prepare(places: Places, found: About, { config, options, work }: Preparing) {
  const { dataDir } = config
  const changesLogs = found.schema.logs !== knownSchema().logs
  const databases: Upgrade['databases'] = changesLogs ? ['davit.db', 'logs.db'] : ['davit.db']
  const sizes = databases.map(
    (name) => sizeOf(join(dataDir, name)) + sizeOf(join(dataDir, `${name}-wal`)),
  )
  // a copy of each to restore, and a backup of the first
  await refuseFull(
    places.state,
    sizes.reduce((sum, size) => sum + size, sizes[0]!),
  )
  await refuseFull(dataDir, Math.max(...sizes)) // each copy is created there
  const backup = join(places.state, `davit-${version}.backup`)
  const sealing = { passphrase: null, withLogs: false, settings: {} }
  await asDavit(() => makeBackup({ config, file: backup, force: true, ...sealing }))
  keepNewest(places)
  work.say(`Backed up to ${backup}`)
  for (const path of [places.previous, places.keeper]) relink(places.executable, path)
  const upgrade: Upgrade = {
    ...{ phase: 'swap', from: version, to: found.version, dataDir, databases, backup },
    ...{ timeout: options.timeout, startedAt: Date.now() },
  }
  return upgrade
}

/** A hard link keeps the file when another file replaces the original. */
function relink(path: string, link: string) {
  const draft = `${link}.new`
  rmSync(draft, { force: true })
  linkSync(path, draft)
  renameSync(draft, link)
  rmSync(draft, { force: true }) // renameSync doesn't remove it when both are the same file
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const mostBackups = 3

function keepNewest({ state }: Places) {
  const backups = readdirSync(state).filter((name) => name.endsWith('.backup'))
  const paths = backups.map((name) => join(state, name))
  const byAge = paths.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const path of byAge.slice(mostBackups)) rmSync(path)
}

type Over = Awaited<ReturnType<typeof untilOver>>

async function concluded(over: Over, places: Places, work: Work) {
  const { phase, from, to, why, startedAt, backup, isRunning } = over
  const words = phase === 'done' ? null : await lastWords(startedAt, work)
  await clearUpgrade(places, over, work)
  if (phase === 'done')
    return [
      `Davit ${to} runs.`,
      `Before it ran ${from}, which is kept as ${places.previous}, with its data in ${backup}`,
    ]
  throw new Failure(
    'upgrade_undone',
    `Davit ${to} doesn’t work here: ${why}.${words ? ` It said: ${words.replace(/\.?$/, '.')}` : ''}`,
    `Davit ${from} and its database were put back${isRunning ? ', and run' : ', but don’t start: see journalctl -u davit'}.`,
  )
}
