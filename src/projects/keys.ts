import type { Db } from '../db/index.ts'
import { Failure } from '../platform/errors.ts'
import { makeSshKey } from '../platform/ssh-key.ts'
import type { Keys } from '../git/keys.ts'
import { credentialOf } from '../git/source-access.ts'
import { findSource } from '../git/store.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Project } from './store.ts'

/** The private key is encrypted. */
export function newDeployKey(secrets: Secrets, projectId: string) {
  const { publicKey, privateKey } = makeSshKey()
  return {
    deployKeyPublic: publicKey,
    deployKeyPrivate: secrets.seal(privateKey, `deploy key ${projectId}`),
  }
}

/** The same key for another project; null when it can't be read any more. */
export function sharedDeployKey(
  secrets: Secrets,
  { from, to }: { from: Pick<Project, 'id' | 'deployKeyPublic' | 'deployKeyPrivate'>; to: string },
) {
  try {
    const { deployKeyPublic } = from
    const privateKey = openDeployKey(secrets, from)!
    return { deployKeyPublic, deployKeyPrivate: secrets.seal(privateKey, `deploy key ${to}`) }
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

export function openKeys(
  { db, secrets }: { db: Db; secrets: Secrets },
  project: Pick<Project, 'id' | 'ownerId' | 'sourceId' | 'deployKeyPrivate'>,
): Keys {
  const { sourceId, ownerId } = project
  if (sourceId)
    return { credential: credentialOf({ db, secrets }, findSource(db, { id: sourceId, ownerId })) }
  return { deployKey: openDeployKey(secrets, project) }
}

/** The parts that no log may show. */
export const secretsOf = ({ credential, deployKey }: Keys): string[] => [
  ...(credential
    ? [credential.password, btoa(`${credential.username}:${credential.password}`)]
    : []),
  ...(deployKey ? [deployKey] : []),
]

function openDeployKey(
  secrets: Secrets,
  { id, deployKeyPrivate }: Pick<Project, 'id' | 'deployKeyPrivate'>,
): string | null {
  if (deployKeyPrivate === null) return null
  try {
    return secrets.open(deployKeyPrivate, `deploy key ${id}`)
  } catch (cause) {
    throw new Failure(
      'key_unreadable',
      'The project’s deploy key can no longer be read.',
      'Restore the previous DAVIT_SECRET_KEY, or the key file in the data directory.',
      { cause },
    )
  }
}
