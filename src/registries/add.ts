import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { EngineError } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { Failure, invalidField } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import { refusePrivate } from './admit.ts'
import { sealedAs, serverAddress } from './auth.ts'
import type { registryForm } from './forms.ts'
import { countRegistries, insertRegistry } from './store.ts'

export type RegistryDeps = { db: Db; docker: Docker; secrets: Secrets; config: Config }

/** Has the engine log in there, and keeps what it was let in with. */
export async function addRegistry(
  { db, docker, secrets, config }: RegistryDeps,
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
