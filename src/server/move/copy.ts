import { rmSync } from 'node:fs'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeBackup } from '../../backup/make.ts'
import type { Config } from '../../config.ts'
import { connectDocker } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { randomToken } from '../../platform/secrets.ts'
import { readCertificates } from '../../runtime/edge-container.ts'
import { bytes } from '../../web/units.ts'
import { asDavit } from '../accounts.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'
import type { Work } from '../run.ts'
import type { Contents, Group } from './contents.ts'
import { drafts } from './journal.ts'
import type { Remote } from './remote.ts'
import { packed } from './tar.ts'

/** Milliseconds between two lines of progress. */
const pace = 2_000

/** Reports the progress from time to time, and at the end. */
function progress(what: string, size: number, { say }: Work) {
  const began = Date.now()
  let last = began
  const line = (count: number, share: number) =>
    `    ${what}: ${bytes(count)}${size > 0 ? ` of ${bytes(Math.max(size, count))} (${share} %)` : ''}`
  return {
    at(count: number) {
      if (Date.now() - last < pace) return
      last = Date.now()
      say(line(count, Math.min(99, Math.floor((count / Math.max(1, size)) * 100))))
    },
    end: (count: number) =>
      say(
        `    ${what}: ${bytes(count)} in ${((Date.now() - began) / 1000).toFixed(1)} s, the same SHA-256 on both sides`,
      ),
  }
}

export async function sendImages(remote: Remote, images: Contents['images'], work: Work) {
  const docker = connectDocker(localEngine)
  for (const { id, name, tag, isTagged, size, shown: image } of images) {
    const shown = progress(`image ${image}`, size, work)
    const archive = docker.saveImage(isTagged ? name : id, { signal: work.signal })
    shown.end(await remote.send({ ask: 'image' }, archive, (count) => shown.at(count)))
    if (!isTagged && tag !== null) await remote.ask({ ask: 'name', id, name: tag })
  }
}

/** Nothing may write to the volumes meanwhile. */
export async function sendVolumes(remote: Remote, { name: of, volumes }: Group, work: Work) {
  const docker = connectDocker(localEngine)
  for (const { name, labels, size } of volumes) {
    const folder = await docker.volumeFolder(name)
    if (folder === null)
      throw new Failure('move_volumes', `The volume ${name} was removed.`, 'Run davit move again.')
    const shown = progress(`${of}, ${name}`, size, work)
    const archive = packed(folder, work.signal)
    const sent = await remote.send({ ask: 'volume', name, labels }, archive, (at) => shown.at(at))
    shown.end(sent)
  }
}

/** Sends the database and Caddy's certificates, sealed with a random passphrase that no one knows. */
export async function sendBackup(
  remote: Remote,
  {
    layout,
    config,
    instanceId,
    hasEdge,
  }: {
    layout: Layout
    config: Config
    instanceId: string
    hasEdge: boolean
  },
  work: Work,
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
  mkdirSync(layout.moves, { recursive: true, mode: 0o700 })
  try {
    const certificates = hasEdge ? readCertificates({ docker, instanceId }, work) : null
    const { size } = await make(certificates).catch((error) => {
      const hasNone = error instanceof Failure && error.code === 'no_certificates'
      if (hasNone) return make(null)
      throw error
    })
    const shown = progress('database, logs and certificates', size, work)
    const stream = Bun.file(file).stream()
    shown.end(await remote.send({ ask: 'backup', passphrase }, stream, (at) => shown.at(at)))
  } finally {
    rmSync(file, { force: true })
  }
}
