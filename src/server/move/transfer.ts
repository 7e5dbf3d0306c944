import { createReadStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeBackup } from '../../backup/make.ts'
import { connectDocker } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { randomToken } from '../../platform/secrets.ts'
import { readCertificates } from '../../runtime/edge-container.ts'
import { bytes } from '../../web/units.ts'
import { asDavit } from '../accounts.ts'
import { localEngine } from '../machine.ts'
import type { Work } from '../run.ts'
import type { Contents, Group } from './contents.ts'
import { drafts } from './journal.ts'
import type { Snapshot } from './messages.ts'
import type { MovePlan } from './plan.ts'
import { nameOf, sendThere, sftpTo } from './remote.ts'
import type { Remote } from './remote.ts'
import { openMoved, repositoryId, repositoryIn, repositoryKey } from './repository.ts'

/** Milliseconds between two lines of progress. */
const pace = 2_000

/** Reports the progress from time to time, and at the end. */
function progress(what: string, size: number, { say }: Work) {
  const began = Date.now()
  let last = began
  return {
    at(count: number) {
      if (Date.now() - last < pace) return
      last = Date.now()
      const share = Math.min(99, Math.floor((count / Math.max(1, size)) * 100))
      const of = size > 0 ? ` of ${bytes(Math.max(size, count))} (${share} %)` : ''
      say(`    ${what}: ${bytes(count)}${of}`)
    },
    end: (count: number, more = '') =>
      say(`    ${what}: ${bytes(count)}${more} in ${((Date.now() - began) / 1000).toFixed(1)} s`),
  }
}

/** Sends those that the new server lacks, and names all. Only the engine there tells whether it has one. */
export async function sendImages(
  { layout, destination }: MovePlan,
  { images }: Pick<Contents, 'images'>,
  { remote, work }: { remote: Remote; work: Work },
) {
  const docker = connectDocker(localEngine)
  const all = images.map(({ id, size, tag }) => ({ id, size, tag }))
  const { missing } = await remote.ask({ ask: 'images', images: all })
  for (const { id, name, isTagged, size, shown: image } of images) {
    if (!missing.includes(id)) continue
    const shown = progress(`image ${image}`, size, work)
    const source = docker.saveImage(isTagged ? name : id, { signal: work.signal })
    const sending = { destination, executable: layout.executable, signal: work.signal }
    shown.end(
      await sendThere({ ...sending, what: 'image', source, onBytes: (count) => shown.at(count) }),
    )
  }
  if (missing.length === 0) return
  const { missing: left } = await remote.ask({ ask: 'images', images: all })
  const lost = images.find(({ id }) => left.includes(id))
  if (!lost) return
  throw new Failure(
    'move_image',
    `The Docker of ${nameOf(destination)} took the image ${lost.shown}, but doesn’t have it.`,
    'Check its disk. Then run davit move again.',
  )
}

/** Stores volumes in a repository that the new server holds, and that this one reaches through ssh. */
export function openVolumes(
  { layout, config, destination, instanceId }: MovePlan,
  { moveId, work }: { moveId: string; work: Work },
) {
  const docker = connectDocker(localEngine)
  const key = repositoryKey(layout)
  const restic = openMoved(
    { config, instanceId, say: work.say },
    {
      ...{ kind: 'channel', password: key, path: repositoryIn(layout, repositoryId(key)) },
      ...{ host: nameOf(destination), channel: sftpTo(destination) },
    },
  )
  const snapshots: Snapshot[] = []

  async function store({ name, volumes }: Group, { isExact }: { isExact: boolean }) {
    const size = volumes.reduce((sum, one) => sum + one.size, 0)
    for (const { name } of volumes) if (!(await docker.volumeFolder(name))) throw volumeGone(name)
    const shown = progress(`${name}, ${volumes.map(({ name }) => name).join(', ')}`, size, work)
    const stored = await restic.storeVolumes({
      volumes: volumes.map(({ name }) => ({ volume: name, path: name })),
      ...{ tags: [`move=${moveId}`], rereads: isExact, signal: work.signal },
      progress: ({ bytes: count }) => shown.at(count),
    })
    shown.end(stored.bytes, `, ${bytes(stored.addedBytes)} of it sent,`)
    return stored.id
  }

  return {
    snapshots,
    /** While everything runs: most of it needn't be sent again then. What changes meanwhile may be missing. */
    async prime(group: Group) {
      await store(group, { isExact: false }).catch(async (error) => {
        if (!(error instanceof Failure) || !error.code.startsWith('target_')) throw error
        await restic.ready(work)
        work.say(`    ${group.name}: not all of it yet: ${error.message}`)
      })
    },
    /** Nothing may write to the volumes meanwhile: every byte is compared with what was sent. */
    async storeExactly(group: Group) {
      const snapshot = await store(group, { isExact: true })
      const volumes = group.volumes.map(({ name, labels }) => ({ name, labels }))
      snapshots.push({ snapshot, volumes })
    },
  }
}

/** Docker would create it again. */
const volumeGone = (name: string) =>
  new Failure('move_volumes', `The volume ${name} was removed.`, 'Run davit move again.')

/** Sends the database and Caddy's certificates, sealed with a passphrase that exists only during the move. */
export async function sendData(
  { layout, config, instanceId, destination }: MovePlan,
  { hasEdge, work }: { hasEdge: boolean; work: Work },
) {
  const file = join(layout.moves, drafts.sent)
  const passphrase = randomToken()
  const docker = connectDocker(localEngine)
  const make = (certificates: AsyncIterable<Uint8Array> | null) =>
    asDavit(() =>
      makeBackup({
        ...{ config, file, passphrase, certificates },
        ...{ withLogs: true, force: true, settings: {} },
      }),
    )
  try {
    const certificates = hasEdge ? readCertificates({ docker, instanceId }, work) : null
    const { size } = await make(certificates).catch((error) => {
      const hasNone = error instanceof Failure && error.code === 'no_certificates'
      if (hasNone) return make(null)
      throw error
    })
    const shown = progress('database, logs and certificates', size, work)
    const sending = { destination, executable: layout.executable, signal: work.signal }
    const source = createReadStream(file)
    shown.end(
      await sendThere({ ...sending, what: 'data', source, onBytes: (count) => shown.at(count) }),
    )
    return passphrase
  } finally {
    rmSync(file, { force: true })
  }
}
