import { insertUser } from '../../../src/accounts/store.ts'
import { sharers } from '../../../src/backups/restic/repository.ts'
import { openRestic } from '../../../src/backups/restic/restic.ts'
import type { Target } from '../../../src/backups/restic/restic.ts'
import { parseConfig } from '../../../src/config.ts'
import { openDatabase } from '../../../src/db/index.ts'
import { connectDocker } from '../../../src/docker/index.ts'
import { KeyedLock } from '../../../src/platform/semaphore.ts'
import { Secrets } from '../../../src/platform/secrets.ts'

export type Given = {
  target: Omit<Target, 'ownerId'>
  image: string
  instanceId: string
  inOne?: boolean
}

/** As much of Davit as restic needs, for a process of its own. */
export function bareRestic({ target, image, instanceId, inOne = false }: Given) {
  const db = openDatabase(':memory:')
  const person = { email: 'a@example.com', name: null, passwordHash: null, role: 'admin' } as const
  const { id: ownerId } = insertUser(db, person)
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const deps = {
    config: parseConfig({ DAVIT_RESTIC_IMAGE: image }),
    db,
    docker,
    secrets: new Secrets('a secret of the tests, 32 bytes long'),
    ...{ instanceId, inOne },
    repositories: new KeyedLock(sharers),
  }
  return { ...deps, restic: openRestic(deps, { ...target, ownerId }) }
}
