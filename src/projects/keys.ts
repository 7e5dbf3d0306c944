import type { Db } from '../db/index.ts'
import { Failure } from '../platform/errors.ts'
import { makeDeployKey } from '../git/deploy-key.ts'
import type { Keys } from '../git/keys.ts'
import { credentialOf } from '../git/source-access.ts'
import { findSource } from '../git/store.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Project } from './store.ts'

/** A key pair of a project's own, its private half sealed. */
export function newDeployKey(secrets: Secrets, projectId: string) {
  const { publicKey, privateKey } = makeDeployKey()
  return {
    deployKeyPublic: publicKey,
    deployKeyPrivate: secrets.seal(privateKey, `deploy key ${projectId}`),
  }
}

/** What opens the project's repository: its source's token, or the key of its own. */
export function openKeys(
  { db, secrets }: { db: Db; secrets: Secrets },
  project: Pick<Project, 'id' | 'ownerId' | 'sourceId' | 'deployKeyPrivate'>,
): Keys {
  const { sourceId, ownerId } = project
  if (sourceId)
    return { credential: credentialOf({ db, secrets }, findSource(db, { id: sourceId, ownerId })) }
  return { deployKey: openDeployKey(secrets, project) }
}

/** What no log may show of them. */
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
      'The deploy key of the project can no longer be read.',
      'Set DAVIT_SECRET_KEY, or the key file of the data directory, back to what it was.',
      { cause },
    )
  }
}
