/* Stores half of a stream, says so, and waits to be killed. Its argument is what `scene` gives it. */
import { parseConfig } from '../../../src/config.ts'
import { insertUser } from '../../../src/accounts/store.ts'
import { openRestic } from '../../../src/backups/restic/restic.ts'
import { sharers } from '../../../src/backups/restic/repository.ts'
import { openDatabase } from '../../../src/db/index.ts'
import { connectDocker } from '../../../src/docker/index.ts'
import { KeyedLock } from '../../../src/platform/semaphore.ts'
import { Secrets } from '../../../src/platform/secrets.ts'
import { write } from './write.ts'

const { target, image, instanceId } = JSON.parse(process.argv[2]!)
const db = openDatabase(':memory:')
const owner = insertUser(db, {
  email: 'a@example.com',
  name: null,
  passwordHash: null,
  role: 'member',
})
const restic = openRestic(
  {
    config: parseConfig({ DAVIT_RESTIC_IMAGE: image }),
    db,
    docker: connectDocker({ host: process.env.DOCKER_HOST }),
    secrets: new Secrets('a secret of the tests, 32 bytes long'),
    instanceId,
    repositories: new KeyedLock(sharers),
  },
  { ...target, ownerId: owner.id },
)
await restic.store({
  file: 'dump',
  tags: ['backup=killed'],
  signal: new AbortController().signal,
  async from(to) {
    await write(crypto.getRandomValues(new Uint8Array(50_000)))(to)
    process.stdout.write('half\n')
    await new Promise(() => setInterval(() => {}, 1000))
  },
})
