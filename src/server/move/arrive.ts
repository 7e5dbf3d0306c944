import { chownSync, createWriteStream, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { restoreBackup } from '../../backup/restore.ts'
import type { Restic } from '../../backups/restic/restic.ts'
import type { Db } from '../../db/index.ts'
import { isLocked } from '../../db/instance-lock.ts'
import { ownAddresses } from '../../domains/public-address.ts'
import { connectDocker } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { Failure } from '../../platform/errors.ts'
import { freeze, standingOf } from '../../runtime/freeze.ts'
import { ensureVolume, removeOtherVolumes } from '../../runtime/restored-volumes.ts'
import { asDavit } from '../accounts.ts'
import { withSettings } from '../environment-file.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'
import { run } from '../run.ts'
import type { Work } from '../run.ts'
import { stopService } from '../service.ts'
import { turnPlansOff } from '../store.ts'
import { clear } from './discard.ts'
import { configOf } from '../installed.ts'
import { factsOf, occupation, userNamespaceOf } from './facts.ts'
import { holdDavit, startDavit, unguardStart } from './guard.ts'
import { drafts, isPartial, readMove, writeMove } from './journal.ts'
import type { Received } from './journal.ts'
import { notExpected } from './messages.ts'
import type { Compared, Found, Needs, Request } from './messages.ts'
import { judgeFirst, judgeMove } from './judge.ts'
import { openMoved, removeRepositories, repositoryIn } from './repository.ts'
import { movedSettings } from './settings.ts'
import { untilAlike, untilRunning } from './visit.ts'

/*
 * The new server's part of a move. Until it is asked to keep the data, all of it can be removed again.
 */

/** Stops Davit here, and removes its data and that of an earlier move to make room. */
export async function begin(
  layout: Layout,
  asked: Request<'begin'>,
  { work, endable }: { work: Work; endable: Work },
): Promise<Restic> {
  const { moveId, instanceId, from, repository, password } = asked
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
  const path = repositoryIn(layout, repository)
  const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined
  await allowRestic(path)
  const of = { config: configOf(layout), instanceId, say: work.say }
  const restic = openMoved(of, { kind: 'directory', path, password })
  await restic.prepare(work)
  const resent = ({ message }: Error) => work.say(`An earlier try is sent again: ${message}`)
  if (!isNew) await restic.adopt(endable).catch(resent)
  endable.signal.throwIfAborted()
  return restic
}

/** Root of a Docker that maps users is another one outside, and sftp writes as root. */
async function allowRestic(folder: string) {
  const mapped = userNamespaceOf(await connectDocker(localEngine).info())
  if (mapped === null) return
  const [uid, gid] = mapped.split('.').map(Number)
  chownSync(folder, uid!, gid!)
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, name), uid!, gid!)
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

/** Names those that are here, and returns the ids of the others. */
export async function missingImages(images: Needs['images']) {
  const docker = connectDocker(localEngine)
  const missing: string[] = []
  for (const { id, tag } of images)
    if (!(await docker.hasImage(id))) missing.push(id)
    else if (tag !== null) await docker.tagImage(id, tag)
  return missing
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

/** Takes what comes on a connection of its own while a move is open: an image, or data that `fill` restores. */
export async function take(
  layout: Layout,
  { what, input, signal }: { what: string; input: AsyncIterable<Uint8Array>; signal: AbortSignal },
) {
  if (!isLocked(layout.upgrades) || !isPartial(readMove(layout, 'received'))) throw notExpected()
  if (what === 'image') return connectDocker(localEngine).loadImage(input, { signal })
  if (what !== 'data') throw notExpected()
  const file = createWriteStream(join(layout.moves, drafts.received), { mode: 0o600 })
  return pipeline(input, file)
}

/** Restores from the repository, whatever volumes came before, and Davit's data from its backup. */
export async function fill(
  layout: Layout,
  restic: Restic,
  { volumes, passphrase, isFinal = false }: Request<'fill'>,
  { signal, say }: Work,
) {
  const docker = connectDocker(localEngine)
  const { instanceId, repository } = arrived(layout)
  await allowRestic(repositoryIn(layout, repository))
  for (const { snapshot, volumes: all } of volumes) {
    for (const volume of all)
      if (!(await ensureVolume({ docker, instanceId }, volume))) throw volumeTaken(volume.name)
    const mounted = all.map(({ name }) => ({ volume: name, path: name }))
    const reading = { snapshot, signal, volumes: mounted }
    await restic.readVolumes({ ...reading, isUpdate: true }).catch((error) => {
      signal.throwIfAborted()
      // restic doesn't update all that may have become of a directory
      say(`restoring all of it: ${(error as Error).message}`)
      return restic.readVolumes(reading)
    })
    say(`${all.map(({ name }) => name).join(', ')}: restored, and compared with what was sent`)
  }
  if (passphrase === undefined) return
  // those of the first pass that were deleted since
  const names = new Set(volumes.flatMap((one) => one.volumes.map(({ name }) => name)))
  await removeOtherVolumes({ docker, instanceId }, names)
  const file = join(layout.moves, drafts.received)
  const config = configOf(layout)
  const change = async (db: Db) => {
    // two servers would remove each other's backups from the same repositories
    if (!isFinal) turnPlansOff(db)
  }
  await asDavit(() => restoreBackup({ config, file, passphrase, isMove: true, fill: change }))
  rmSync(file)
}

const volumeTaken = (name: string) =>
  new Failure(
    'volume_taken',
    `The new server already has a volume ${name}, which isn’t of this installation.`,
    `Look at what is in it, then remove it there: docker volume rm ${name}.`,
  )

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
