import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { restoreBackup } from '../../backup/restore.ts'
import { installationIn } from '../../db/copy.ts'
import { connectDocker } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { Failure } from '../../platform/errors.ts'
import { removeFromEngine } from '../../runtime/remove.ts'
import { emptyVolume, freeze, standingOf } from '../../runtime/freeze.ts'
import { asDavit } from '../accounts.ts'
import { withSettings } from '../environment-file.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'
import { run } from '../run.ts'
import type { Work } from '../run.ts'
import { stopService } from '../service.ts'
import { configOf, occupation } from './facts.ts'
import { holdDavit, isGuarded, startDavit, unguardStart } from './guard.ts'
import { drafts, isPartial, readMove, removeMove, writeMove } from './journal.ts'
import type { Received } from './journal.ts'
import { settingName, settingValue } from './messages.ts'
import type { Request } from './messages.ts'
import { unpack } from './tar.ts'

/*
 * The new server's part of a move. Until it is asked to keep the data, all of it can be removed again.
 */

type Begin = Extract<Request, { ask: 'begin' }>

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
        settingName.safeParse(name).success &&
        settingValue.safeParse(value).success &&
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
export async function begin(layout: Layout, asked: Begin, work: Work) {
  const { moveId, instanceId, from } = asked
  refuseOccupied(layout, instanceId)
  await holdDavit(layout, work)
  refuseOccupied(layout, instanceId) // again, as someone could use it until it stopped
  const before = readMove(layout, 'received')
  const settings = before?.settings ?? readFileSync(layout.settings, 'utf8')
  const journal = { phase: 'receiving' as const, moveId, instanceId, from, settings }
  writeMove(layout, 'received', { ...journal, at: Date.now() })
  await clear(layout, instanceId)
  writeFileAtomically(layout.settings, withSettings(settings, movedSettings(asked.settings)))
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
  const collector = { finish: async () => {} } // these logs aren't needed any more
  await removeFromEngine({ docker, instanceId, collector }, { volumes: true, images: false })
}

function clearData(dataDir: string) {
  if (!existsSync(dataDir)) return
  // the root of a file system has this folder, and only root may remove it
  for (const name of readdirSync(dataDir).filter((name) => name !== 'lost+found'))
    rmSync(join(dataDir, name), { recursive: true, force: true })
}

export async function missingImages(images: string[]) {
  const docker = connectDocker(localEngine)
  const here = await Promise.all(images.map((id) => docker.hasImage(id)))
  return images.filter((_, at) => !here[at])
}

/** Tags an image that exists here under another name. */
export async function nameImage({ id, name }: { id: string; name: string }) {
  await connectDocker(localEngine).tagImage(id, name)
}

export const takeImage = (source: AsyncIterable<Uint8Array>, { signal }: Work) =>
  connectDocker(localEngine).loadImage(Readable.from(source), { signal })

export async function takeVolume(
  { name, labels }: { name: string; labels: Record<string, string> },
  source: AsyncIterable<Uint8Array>,
  { signal }: Work,
) {
  const folder = await emptyVolume(connectDocker(localEngine), { name, labels })
  await unpack(folder, source, signal)
}

/** Restores a sealed backup, and deletes its file afterwards. */
export async function takeBackup(
  layout: Layout,
  passphrase: string,
  source: AsyncIterable<Uint8Array>,
) {
  const path = join(layout.moves, drafts.received)
  mkdirSync(layout.moves, { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of source) await file.writeFile(chunk)
    await file.close()
    const config = configOf(layout)
    await asDavit(() => restoreBackup({ config, file: path, passphrase }))
  } finally {
    await file.close().catch(() => {})
    rmSync(path, { force: true })
  }
}

/** Syncs the data to disk, starts Davit with it, and resolves when it responds. */
export async function start(layout: Layout, work: Work) {
  const { folder } = await connectDocker(localEngine).info()
  const todo = 'Check the disks of the new server. Then run davit move again.'
  const argv = ['sync', '--file-system', folder, layout.home, layout.settings] as const
  await run({ ...work, argv: [...argv], todo, minutes: 30 })
  writeMove(layout, 'received', { ...arrived(layout), phase: 'trying' })
  await startDavit(layout, work)
}

/** From now on the data is kept; only a later move may replace a copy. */
export async function keep(layout: Layout, { isFinal }: { isFinal: boolean }, work: Work) {
  const phase = isFinal ? 'moved' : 'copy'
  writeMove(layout, 'received', { ...arrived(layout), phase, at: Date.now() })
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
