import { createReadStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeOwnFile } from '../../backups/own-file.ts'
import { connectDocker } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { randomToken } from '../../platform/secrets.ts'
import { bytes } from '../../web/units.ts'
import { asDavit } from '../accounts.ts'
import { localEngine } from '../machine.ts'
import type { Work } from '../run.ts'
import { sizeOf } from './contents.ts'
import type { Contents, Group } from './contents.ts'
import { drafts } from './journal.ts'
import type { Filling } from './messages.ts'
import type { MovePlan } from './plan.ts'
import { nameOf, sendThere, sftpTo } from './remote.ts'
import type { Destination, Remote, Sent } from './remote.ts'
import { openMoved, repositoryId, repositoryIn, repositoryKey } from './repository.ts'

/** Milliseconds between two lines of progress. */
const pace = 2_000

type Sending = { moveId: string; remote: Remote; work: Work }
type Streaming = Pick<Sent, 'what' | 'source'> & { name: string; size: number }

/** Sends what moves: volumes to a repository that the new server holds, and that this one reaches through ssh. */
export function openSending(
  { layout, config, destination, instanceId }: MovePlan,
  { moveId, remote, work }: Sending,
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

  /** Has the new server restore from the repository. */
  const fill = (filling: Filling) => remote.ask({ ask: 'fill', ...filling }, work.say)

  /** Reports the progress from time to time. */
  function progressOf(what: string, size: number) {
    let last = Date.now()
    return (count: number) => {
      if (Date.now() - last < pace) return
      last = Date.now()
      const share = Math.min(99, Math.floor((count / Math.max(1, size)) * 100))
      const of = size > 0 ? ` of ${bytes(Math.max(size, count))} (${share} %)` : ''
      work.say(`    ${what}: ${bytes(count)}${of}`)
    }
  }

  /** By a connection of its own: restic's has none for its input. */
  async function stream(how: Streaming) {
    const { what, name, size, source } = how
    const { executable } = layout
    const [began, onBytes] = [Date.now(), progressOf(name, size)]
    const { signal } = work
    const sent = await sendThere({ destination, executable, what, source, onBytes, signal })
    work.say(`    ${name}: ${bytes(sent)} in ${secondsSince(began)}`)
  }

  async function volumesOf(groups: Group[], { isExact }: { isExact: boolean }) {
    const volumes = groups.flatMap(({ volumes }) => volumes)
    for (const { name } of volumes) if (!(await docker.volumeFolder(name))) throw volumeGone(name)
    const what = [...groups, ...volumes].map(({ name }) => name).join(', ')
    const onBytes = progressOf(what, sizeOf(groups))
    const began = Date.now()
    const stored = await restic.storeVolumes({
      volumes: volumes.map(({ name }) => ({ volume: name, path: name })),
      ...{ rereads: isExact, isPartial: !isExact, tags: [`move=${moveId}`], signal: work.signal },
      progress: ({ bytes }) => onBytes(bytes),
    })
    const sent = `${bytes(stored.bytes)}, ${bytes(stored.addedBytes)} of it sent`
    work.say(`    ${what}: ${sent}, in ${secondsSince(began)}`)
    return { snapshot: stored.id, volumes: volumes.map(({ name, labels }) => ({ name, labels })) }
  }

  return {
    fill,
    /** Those that the new server lacks, and the names of all. Only the engine there tells whether it has one. */
    async images({ images }: Pick<Contents, 'images'>) {
      const all = images.map(({ id, size, tag }) => ({ id, size, tag }))
      const lacks = async () => (await remote.ask({ ask: 'images', images: all })).missing
      const missing = await lacks()
      for (const { id, size, shown } of images) {
        if (!missing.includes(id)) continue
        const source = docker.saveImage(id, { signal: work.signal })
        await stream({ what: 'image', name: `image ${shown}`, size, source })
      }
      const left = missing.length > 0 ? await lacks() : []
      const lost = images.find(({ id }) => left.includes(id))
      if (lost) throw imageLost(lost, destination)
    },
    /**
     * While everything runs, so that little is left to send and restore when it doesn't. What changes meanwhile may
     * be missing.
     */
    prime: async (group: Group) =>
      fill({ volumes: [await volumesOf([group], { isExact: false })] }),
    /** Nothing may write to the volumes meanwhile: every byte is compared with what was sent. */
    exactly: (groups: Group[]) => volumesOf(groups, { isExact: true }),
    /** The database, logs and Caddy's certificates, sealed with a passphrase that exists only during the move. */
    async data() {
      const file = join(layout.moves, drafts.sent)
      const passphrase = randomToken()
      const made = { file, passphrase, withLogs: true, settings: {}, signal: work.signal }
      try {
        const { size } = await asDavit(() => makeOwnFile({ config, docker, instanceId }, made))
        const name = 'database, logs and certificates'
        await stream({ what: 'data', name, size, source: createReadStream(file) })
        return passphrase
      } finally {
        rmSync(file, { force: true })
      }
    },
  }
}

const secondsSince = (began: number) => `${((Date.now() - began) / 1000).toFixed(1)} s`

const imageLost = ({ shown }: { shown: string }, destination: Destination) =>
  new Failure(
    'move_image',
    `The Docker of ${nameOf(destination)} took the image ${shown}, but doesn’t have it.`,
    'Check its disk. Then run davit move again.',
  )

/** Docker would create it again. */
const volumeGone = (name: string) =>
  new Failure('move_volumes', `The volume ${name} was removed.`, 'Run davit move again.')
