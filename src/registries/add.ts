import type { z } from 'zod'
import { newId } from '../db/new-id.ts'
import type { Deps } from '../deps.ts'
import { EngineError } from '../docker/index.ts'
import { Failure, invalidField } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import { refusePrivate } from './admit.ts'
import { sealedAs, serverAddress } from './auth.ts'
import type { registryForm } from './forms.ts'
import { countRegistries, insertRegistry } from './store.ts'

/** Has the engine log in there, and keeps what it was let in with. */
export async function addRegistry(
  { db, docker, secrets, config }: Pick<Deps, 'db' | 'docker' | 'secrets' | 'config'>,
  {
    ownerId,
    input: { host, username, password },
    signal,
  }: { ownerId: string; input: z.output<ReturnType<typeof registryForm>>; signal: AbortSignal },
) {
  await refusePrivate({ config }, { registry: host, signal }).catch((error) => {
    throw error instanceof Failure ? invalidField('host', error.message) : error
  })
  const auth = { username, password, serveraddress: serverAddress(host) }
  await docker.checkRegistry(auth, { signal }).catch((error) => {
    if (!(error instanceof EngineError)) throw error
    if (error.status === 401 || /unauthorized|denied/i.test(error.message))
      throw invalidField('password', `The registry ${host} refuses this user and password.`)
    throw invalidField(
      'host',
      `The engine does not reach a registry at ${host}. Check the address.`,
    )
  })
  refuseMore('registries', countRegistries(db, ownerId))
  const id = newId()
  const sealed = secrets.seal(password, sealedAs(id))
  return insertRegistry(db, { id, ownerId, host, username, password: sealed })
}
