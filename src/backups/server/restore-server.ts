import { createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { finished, pipeline } from 'node:stream/promises'
import { insertUser } from '../../accounts/store.ts'
import { outlookOf } from '../../backup/describe.ts'
import type { Manifest } from '../../backup/format.ts'
import { fillDataDir, unpackInto } from '../../backup/restore.ts'
import type { Config } from '../../config.ts'
import { openDatabase } from '../../db/index.ts'
import type { Db } from '../../db/index.ts'
import type { StoredFile } from '../../db/schema.ts'
import { openInstallation } from '../../db/installation.ts'
import { connectDocker } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { randomToken, Secrets } from '../../platform/secrets.ts'
import { KeyedLock } from '../../platform/semaphore.ts'
import { checksummed } from '../checksummed.ts'
import { sharers } from '../restic/repository.ts'
import { openRestic } from '../restic/restic.ts'
import type { Restic, StoredSnapshot } from '../restic/restic.ts'
import { davitId } from '../subject.ts'
import type { TargetInput } from '../targets/form.ts'
import { whereOf, withLogin } from '../targets/store.ts'
import type { OpenTarget } from '../targets/store.ts'
import { fillServer } from './fill-server.ts'
import { idIn } from './known-targets.ts'
import {
  forgetFilling,
  listHalfFilled,
  removeHalfFilled,
  removeHelpers,
  removeMarks,
  restoringId,
} from './half-filled.ts'

export type ServerRestore = {
  config: Config
  place: TargetInput
  /** The key of the repository. */
  password: string
  /** Later backups are left out. */
  until: Date
  /** Names of targets, services and environments to leave out. */
  without: string[]
  /** Reads and says everything, and changes nothing. */
  isDry: boolean
  say: (line: string) => void
  signal: AbortSignal
}

/** Everything was looked at. */
class DryRun extends Error {}

/**
 * Brings a whole server back from the repository that Davit’s own backups go to: Davit’s data, then the volumes
 * of its services and apps. Databases are noted to be loaded once Davit runs. Until all of it is there nothing
 * is: what fails or is killed leaves an empty data directory and no volumes. Null for a dry run.
 */
export async function restoreServer(asked: ServerRestore): Promise<Manifest | null> {
  const { config, password, until, isDry, say, signal } = asked
  const { dataDir } = config
  const docker = connectDocker({ host: config.dockerHost })
  const working = {
    ...{ config, docker, say, instanceId: restoringId(dataDir) },
    repositories: new KeyedLock(sharers),
  }

  // another restore would remove what this one fills
  return fillDataDir(dataDir, (directory) =>
    bringBack(directory).finally(() =>
      removeHelpers({ dataDir, docker }).catch(() =>
        say('Containers, networks or volumes of restic may be left.'),
      ),
    ),
  ).then(
    async (manifest) => {
      forgetFilling(dataDir)
      await removeMarks({ dataDir, docker }).catch(() => {}) // else the start of Davit does
      return manifest
    },
    (error) => (error instanceof DryRun ? null : Promise.reject(error)),
  )

  async function bringBack(directory: string): Promise<Manifest> {
    const halfFilled = isDry ? await listHalfFilled({ dataDir, docker }) : new Set<string>()
    if (!isDry) await removeLeft()
    const aside = asideDatabase()
    const place = { ...asked.place, ...aside.owns, password } as unknown as OpenTarget
    const given = openRestic({ ...working, ...aside.deps }, withLogin(place))
    const hostKey = await given.ready({ signal })
    if (hostKey) say(`Its host key is ${hostKey}.`)
    const own = await newestOwn(given, { until, where: whereOf(place)!, signal })
    say(`Reading Davit’s backup of ${own.at.toISOString()}.`)
    const { path, stored } = await download(given, { own, folder: directory, signal })
    const manifest = await unpackInto(directory, {
      ...{ config, file: path, passphrase: null },
      async fill(db, secrets) {
        const named = { ...place, hostKey: place.hostKey ?? hostKey }
        const repository = { place: named, backup: idIn(own.tags, 'backup'), stored: [stored] }
        const installation = openInstallation(db, secrets)
        try {
          await fillServer(
            { ...working, db, secrets },
            { ...asked, repository, installation, halfFilled },
          )
          if (!isDry) return
          for (const line of await outlookOf({ db, docker, instanceId: installation })) say(line)
          throw new DryRun()
        } catch (error) {
          if (!isDry) await removeLeft()
          throw error
        }
      },
    })
    rmSync(path)
    return manifest
  }

  async function removeLeft() {
    for (const volume of await removeHalfFilled({ dataDir, docker }))
      say(`The volume ${volume} stays: a container uses it, so it isn’t left of a restore.`)
  }
}

/** What pulling the image of restic needs before there is a database. */
export function asideDatabase() {
  const db: Db = openDatabase(':memory:')
  const { id: ownerId } = insertUser(db, {
    email: 'root',
    name: null,
    passwordHash: null,
    role: 'admin',
  })
  return { owns: { id: 'given', ownerId }, deps: { db, secrets: new Secrets(randomToken()) } }
}

async function newestOwn(
  given: Restic,
  { until, where, signal }: { until: Date; where: string; signal: AbortSignal },
): Promise<StoredSnapshot> {
  const all = await given.list({ tag: `subject=${davitId}`, signal })
  const own = all.filter(({ at }) => at <= until).at(-1)
  if (own) return own
  throw new Failure(
    'restore_no_davit',
    all.length > 0
      ? `The repository ${where} has no backup of Davit itself from before ${until.toISOString()}; the first is of ${all[0]!.at.toISOString()}.`
      : `The repository ${where} has no backup of Davit itself.`,
    'Name the repository that Davit’s own backups go to. Without any, install Davit, and add this one as a target to read it.',
  )
}

/** Writes Davit’s own file, which the restored database doesn’t know yet: it was stored after that was copied. */
async function download(
  given: Restic,
  { own, folder, signal }: { own: StoredSnapshot; folder: string; signal: AbortSignal },
): Promise<{ path: string; stored: StoredFile }> {
  const path = join(folder, file)
  const sum = checksummed((to, signal) =>
    given.read({
      ...{ snapshot: own.id, file, signal },
      to: (from, signal) => pipeline(from, to, { signal, end: false }),
    }),
  )
  const disk = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  try {
    await sum.write(disk, signal)
    disk.end()
    await finished(disk)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new Failure(
      'disk_full',
      `The disk of ${folder} is full.`,
      'Free some space, then restore again.',
    )
  }
  return { path, stored: { file, snapshot: own.id, ...sum.result() } }
}

const file = 'davit.backup'
