import {
  chownSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { restoreBackup } from '../../backup/restore.ts'
import { ownAddresses } from '../../domains/public-address.ts'
import { installationIn } from '../../db/copy.ts'
import { connectDocker, Engines } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { Failure } from '../../platform/errors.ts'
import { onEngines } from '../../runtime/on-engine.ts'
import { removeFromEngine } from '../../runtime/remove.ts'
import { emptyVolume, freeze, standingOf } from '../../runtime/freeze.ts'
import { asDavit } from '../accounts.ts'
import { withSettings } from '../environment-file.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'
import { run } from '../run.ts'
import type { Work } from '../run.ts'
import { stopService } from '../service.ts'
import { configOf, factsOf, occupation, userNamespaceOf } from './facts.ts'
import { holdDavit, isGuarded, startDavit, unguardStart } from './guard.ts'
import { drafts, isPartial, readMove, removeMove, writeMove } from './journal.ts'
import type { Received } from './journal.ts'
import type { Compared, Found, Needs, Request } from './messages.ts'
import { judgeFirst, judgeMove } from './judge.ts'
import { openMoved, removeRepositories, repositoryIn } from './repository.ts'
import { untilAlike, untilRunning } from './visit.ts'

/*
 * The new server's part of a move. Until it is asked to keep the data, all of it can be removed again.
 */

/** Settings about the machine, where the new server keeps its own, or that only a command reads. */
const ofMachine = [
  'DAVIT_DATA_DIR',
  'DAVIT_HOST',
  'DAVIT_PORT',
  'DAVIT_PUBLIC_ADDRESS',
  'DOCKER_HOST',
  'DAVIT_BACKUP_PASSPHRASE',
]

/** The old server's settings for the new one, without addresses that only exist on one machine. */
export const movedSettings = (settings: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(settings).filter(
      ([name, value]) =>
        !ofMachine.includes(name) &&
        /^(DAVIT|DOCKER)_[A-Z_]{1,60}$/.test(name) &&
        !/\p{Cc}/u.test(value) &&
        !(name === 'DAVIT_PUBLISH_ADDRESS' && !/^(0\.0\.0\.0|127\.[\d.]+|::1?)$/.test(value)),
    ),
  )

/** Files and folders that those settings name, and that must exist on the new server. */
export const settingFiles = (settings: Record<string, string>) =>
  Object.entries(movedSettings(settings)).flatMap(([setting, value]) => {
    const path = value.replace(/^unix:\/\//, '')
    const isUsed = setting !== 'DAVIT_EDGE_ADMIN' || settings.DAVIT_EDGE === 'external'
    return withFiles.includes(setting) && isUsed && path.startsWith('/') ? { setting, path } : []
  })

const withFiles = ['DAVIT_ACME_CA', 'DAVIT_EDGE_ADMIN', 'DAVIT_TEMPLATES_DIR']

/** Names of settings that aren't moved, but that the new server may need with other values. */
export function settingsLeft(settings: Record<string, string>) {
  const moved = movedSettings(settings)
  return Object.keys(settings).filter((name) => !(name in moved) && !ofMachine.includes(name))
}

/** Stops Davit here, and removes its data and that of an earlier move to make room. */
export async function begin(layout: Layout, asked: Request<'begin'>, work: Work) {
  const { moveId, instanceId, from, repository } = asked
  refuseOccupied(layout, instanceId)
  await holdDavit(layout, work)
  refuseOccupied(layout, instanceId) // again, as someone could use it until it stopped
  const before = readMove(layout, 'received')
  const settings = before?.settings ?? readFileSync(layout.settings, 'utf8')
  const journal = { phase: 'receiving' as const, moveId, instanceId, from, settings, repository }
  writeMove(layout, 'received', { ...journal, at: Date.now() })
  await clear(layout, instanceId)
  removeRepositories(layout, { but: repository })
  writeFileAtomically(layout.settings, withSettings(settings, movedSettings(asked.settings)))
  const restic = await openHere(layout, asked.password, work)
  await restic.prepare(work)
}

async function openHere(layout: Layout, password: string, { say }: Work) {
  const { repository, instanceId } = arrived(layout)
  const path = repositoryIn(layout, repository)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  giveTo(userNamespaceOf(await connectDocker(localEngine).info()), path)
  const config = configOf(layout)
  return openMoved({ config, instanceId, say }, { kind: 'directory', path, password })
}

function refuseOccupied(layout: Layout, instanceId: string) {
  const { occupied } = occupation(layout, instanceId)
  if (occupied === null) return
  throw new Failure(
    'move_occupied',
    `The new server isn’t empty: ${occupied}.`,
    'Use another one, or remove that: davit uninstall --data --apps, then davit install.',
  )
}

/** Removes all of Davit's data here, and all that belongs to the installation that moves. */
async function clear(layout: Layout, instanceId: string) {
  const { dataDir } = configOf(layout) // read as root: the settings may contain secrets
  const own = installationOf(dataDir)
  for (const id of new Set([own, instanceId])) if (id) await clearEngine(id)
  asDavit(() => clearData(dataDir))
}

function installationOf(dataDir: string) {
  const path = join(dataDir, 'davit.db')
  try {
    return asDavit(() => (existsSync(path) ? (installationIn(path)?.id ?? null) : null))
  } catch {
    return null // an incomplete database
  }
}

/** Keeps images, so that the next attempt doesn't need to send them again. */
async function clearEngine(instanceId: string) {
  const docker = connectDocker(localEngine)
  const on = onEngines(new Engines([docker]))
  const collector = { finish: async () => {} } // these logs aren't needed any more
  await removeFromEngine({ ...on, instanceId, collector }, { volumes: true, images: false })
}

function clearData(dataDir: string) {
  if (!existsSync(dataDir)) return
  // the root of a file system has this folder, and only root may remove it
  for (const name of readdirSync(dataDir).filter((name) => name !== 'lost+found'))
    rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** Names those that are here, and returns the ids of the others. */
export async function missingImages(images: Needs['images']) {
  const docker = connectDocker(localEngine)
  const missing: string[] = []
  for (const { id, tag } of images)
    if (!(await docker.hasImage(id))) missing.push(id)
    else if (tag !== null) await docker.tagImage(id, tag)
  return missing
}

export const takeImage = (source: AsyncIterable<Uint8Array>, { signal }: Pick<Work, 'signal'>) =>
  connectDocker(localEngine).loadImage(Readable.from(source), { signal })

/** Keeps a sealed backup of the old server, which `fill` restores. */
export async function takeData({ moves }: Layout, source: AsyncIterable<Uint8Array>) {
  const path = join(moves, drafts.received)
  rmSync(path, { force: true })
  await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
}

/** Inspects this server, and judges whether it can take the old one; changes nothing. */
export async function lookHere(layout: Layout, needs: Needs): Promise<Found> {
  const first = await judgeFirst(layout, needs.host)
  if (first) return { findings: [first], missing: [], copyFrom: null, addresses: [] }
  const facts = await factsOf(layout, needs)
  const docker = connectDocker(localEngine)
  const isThere = await Promise.all(needs.images.map(({ id }) => docker.hasImage(id)))
  const lacking = needs.images.filter((_, at) => !isThere[at])
  const images = lacking.reduce((sum, { size }) => sum + size, 0)
  const { publicAddresses } = configOf(layout)
  return {
    findings: judgeMove(facts, { ...needs, images }),
    missing: lacking.map(({ id }) => id),
    copyFrom: facts.copyFrom,
    addresses: publicAddresses.length > 0 ? publicAddresses : ownAddresses(),
  }
}

/** Restores volumes from the repository, and Davit's data from its backup. */
export async function fill(
  layout: Layout,
  { snapshots, password, passphrase }: Request<'fill'>,
  work: Work,
) {
  const docker = connectDocker(localEngine)
  const restic = await openHere(layout, password, work)
  for (const { snapshot, volumes } of snapshots) {
    for (const { name, labels } of volumes) await emptyVolume(docker, { name, labels })
    await restic.readVolumes({
      ...{ snapshot, signal: work.signal },
      volumes: volumes.map(({ name }) => ({ volume: name, path: name })),
    })
    work.say(
      `${volumes.map(({ name }) => name).join(', ')}: restored, and compared with what was sent`,
    )
  }
  const file = join(layout.moves, drafts.received)
  const config = configOf(layout)
  await asDavit(() => restoreBackup({ config, file, passphrase }))
  rmSync(file)
}

/** Root of a Docker that maps users is another one outside. */
function giveTo(userNamespace: string | null, folder: string) {
  if (userNamespace === null) return
  const [uid, gid] = userNamespace.split('.').map(Number)
  chownSync(folder, uid!, gid!)
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, name), uid!, gid!)
}

/** Syncs the data to disk, starts Davit with it, and compares what runs here with what ran there. */
export async function start(
  layout: Layout,
  { expected, before }: Request<'start'>,
  { work, endable }: { work: Work; endable: Work },
): Promise<Compared> {
  const { folder } = await connectDocker(localEngine).info()
  const todo = 'Check the disks of the new server. Then run davit move again.'
  const argv = ['sync', '--file-system', folder, layout.home, layout.settings] as const
  await run({ ...work, argv: [...argv], todo, minutes: 30 })
  writeMove(layout, 'received', { ...arrived(layout), phase: 'trying' })
  await startDavit(layout, work)
  const missing = await untilRunning(layout, expected, endable)
  const { alike, unlike, changed } = await untilAlike(layout, before, endable)
  return { differences: [...missing, ...unlike], alike, changed }
}

/** From now on the data is kept; only a later move may replace a copy. */
export async function keep(layout: Layout, { isFinal }: { isFinal: boolean }, work: Work) {
  const phase = isFinal ? 'moved' : 'copy'
  writeMove(layout, 'received', { ...arrived(layout), phase, at: Date.now() })
  if (isFinal) removeRepositories(layout, { but: null })
  await unguardStart(layout, work)
}

/** Stops everything here and keeps the data, because the old server takes over again. Repeatable. */
export async function halt(layout: Layout, moveId: string, work: Work) {
  const journal = arrived(layout, moveId)
  writeMove(layout, 'received', { ...journal, phase: 'halted' })
  await unguardStart(layout, work)
  await stopService(work)
  const docker = connectDocker(localEngine)
  const labels = labelFilter(journal.instanceId)
  const ids = (await docker.listContainers({ labels, all: true })).map(({ id }) => id)
  for (const one of await standingOf(docker, ids)) await freeze(docker, one)
}

/** Returns the move with this id, or any. Throws without one. */
function arrived(layout: Layout, moveId?: string): Received {
  const journal = readMove(layout, 'received')
  if (journal && (moveId ?? journal.moveId) === journal.moveId) return journal
  throw new Failure(
    'move_nothing',
    'This server has no data from that move.',
    'Run davit move on the old server again.',
  )
}

/** Removes what has arrived and restores the settings, as after installation. */
export async function discard(layout: Layout) {
  const journal = readMove(layout, 'received')
  if (!journal || !isPartial(journal)) return
  await clear(layout, journal.instanceId)
  if (journal.settings !== null) writeFileAtomically(layout.settings, journal.settings)
  removeMove(layout, 'received')
}

/** Lets Davit run here as the journal says: data that isn't kept is removed first. */
export async function settle(layout: Layout, work: Work) {
  const journal = readMove(layout, 'received')
  if (journal && isPartial(journal)) {
    writeMove(layout, 'received', { ...journal, phase: 'receiving' })
    await holdDavit(layout, work)
    await discard(layout)
  }
  if (!isGuarded(layout)) return
  await unguardStart(layout, work)
  await startDavit(layout, work)
}
