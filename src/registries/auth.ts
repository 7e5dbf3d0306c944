import type { Db } from '../db/index.ts'
import type { RegistryAuth } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { unsealed } from '../resources/store.ts'
import { dockerHub, registryOf } from './image-registry.ts'
import { getRegistryOf, getRegistryOfAdmins } from './store.ts'
import type { Registry } from './store.ts'

export const serverAddress = (host: string) =>
  host === dockerHub ? 'https://index.docker.io/v1/' : host

/** The credentials to pull an owner's image; undefined for a registry that they haven't added. */
export const authFor = (
  { db, secrets }: { db: Db; secrets: Secrets },
  { ownerId, image }: { ownerId: string; image: string },
) => authOf(secrets, getRegistryOf(db, { ownerId, host: registryOf(image) }))

/** For the registry of DAVIT_REGISTRY, which is the operator’s. */
export const adminsAuthFor = ({ db, secrets }: { db: Db; secrets: Secrets }, image: string) =>
  authOf(secrets, getRegistryOfAdmins(db, registryOf(image)))

function authOf(secrets: Secrets, registry: Registry | undefined): RegistryAuth | undefined {
  if (!registry) return undefined
  try {
    const { password } = unsealed(secrets, { kind: 'registry', sealed: ['password'] }, registry)
    return { username: registry.username, password, serveraddress: serverAddress(registry.host) }
  } catch (cause) {
    throw new Failure(
      'registry_unreadable',
      `The password of the registry ${registry.host} can no longer be read.`,
      'Remove the registry under Settings, Registries, and add it again.',
      { cause },
    )
  }
}
