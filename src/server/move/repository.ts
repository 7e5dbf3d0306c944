import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sharers } from '../../backups/restic/repository.ts'
import type { Target } from '../../backups/restic/repository.ts'
import { openRestic } from '../../backups/restic/restic.ts'
import type { ResticDeps } from '../../backups/restic/restic.ts'
import { asideDatabase } from '../../backups/server/restore-server.ts'
import { connectDocker } from '../../docker/index.ts'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { randomToken } from '../../platform/secrets.ts'
import { KeyedLock } from '../../platform/semaphore.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'

/*
 * The repository that volumes are sent to. The new server has it, the old one its key, by which it is named. It stays
 * until a move for good: another try sends only what changed.
 */

type Places = Pick<Layout, 'moves'>

const keyIn = ({ moves }: Places) => join(moves, 'repository.key')

/** Creates it when there is none. */
export function repositoryKey(places: Places) {
  const file = keyIn(places)
  if (!existsSync(file)) {
    mkdirSync(places.moves, { recursive: true, mode: 0o700 })
    writeFileAtomically(file, randomToken())
  }
  return readFileSync(file, 'utf8')
}

export const repositoryId = (key: string) =>
  new Bun.CryptoHasher('sha256').update(key).digest('hex').slice(0, 16)

/** Null before the first move. */
export const knownRepository = (places: Places) =>
  existsSync(keyIn(places)) ? repositoryId(repositoryKey(places)) : null

/** The next move begins another one. */
export const forgetRepository = (places: Places) => rmSync(keyIn(places), { force: true })

/** For restic of this server, in containers of the installation that moves. */
export function openMoved(
  { config, instanceId, say }: Pick<ResticDeps, 'config' | 'instanceId' | 'say'>,
  target: Omit<Target, 'id' | 'ownerId'>,
) {
  const { deps, owns } = asideDatabase()
  const docker = connectDocker(localEngine)
  const repositories = new KeyedLock(sharers)
  return openRestic(
    { ...deps, config, instanceId, docker, repositories, isUncached: true, ...(say && { say }) },
    { ...owns, ...target },
  )
}

export const repositoryIn = ({ moves }: Places, id: string) => join(moves, `repository-${id}`)

/** On the new server: all but one, or all. */
export function removeRepositories({ moves }: Places, { but }: { but: string | null }) {
  for (const name of existsSync(moves) ? readdirSync(moves) : [])
    if (name.startsWith('repository-') && name !== `repository-${but}`)
      rmSync(join(moves, name), { recursive: true, force: true })
}
