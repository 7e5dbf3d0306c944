import { registries } from '../db/schema.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { EngineError } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { Failure, invalidField } from '../platform/errors.ts'
import { refusedHost } from '../platform/hosts.ts'
import type { Secrets } from '../platform/secrets.ts'
import { line, unless } from '../web/fields.ts'
import { lineField } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { refusePrivate } from './admit.ts'
import { serverAddress } from './auth.ts'
import { registryNamed } from './image-registry.ts'

/** A password can be stored, but is never returned. */
export const registry = resource({
  kind: 'registry',
  plural: 'your private registries',
  path: '/settings/registries',
  title: 'Registries',
  part: 'Registries',
  table: registries,
  owner: registries.ownerId,
  most: 'registries',
  sealed: ['password'],
  sentTo: ['host'],
  unique: { host: 'You already have this registry. Edit it to change its login.' },
  json: rowJson('Registry', registries, ['host', 'username']),
  about: 'Logins for private images, used by services and builds.',
  empty: 'Public images need none. Add a registry to use its private images.',
  row: ({ host, username }) => ({
    name: host,
    facts: [['as ', <bdi>{username}</bdi>]],
  }),
  create: {
    verb: 'Add',
    note: '; Docker logs in first',
    submit: 'Check and add',
    form: ({ config }: RegistryDeps) => registryForm(config),
    check: checkLogin,
    details: ({ username }) => ({ username }),
  },
  change: { submit: 'Check and save' },
  remove: {
    verb: 'Remove',
    warning: 'Running apps keep running, but its images can no longer be pulled.',
  },
})

type RegistryDeps = { db: Db; docker: Docker; secrets: Secrets; config: Config }

/** Includes the port, as in an image reference. */
const hostAndPort = /^(?<name>[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:(?<port>\d{1,5}))?$/

const registryForm = (config: Pick<Config, 'allowHosts'>) =>
  z.object({
    host: field(
      line('the host of a registry', { max: 255 })
        .transform((host) =>
          registryNamed(
            host
              .toLowerCase()
              .replace(/^https?:\/\//, '')
              .replace(/\/+$/, ''),
          ),
        )
        .superRefine(unless((host) => refuse(host, config))),
      {
        label: 'Host',
        placeholder: 'registry.example.com',
        hint: 'As in the names of its images. Docker Hub is docker.io.',
        code: true,
      },
    ),
    username: lineField('User', { max: 255 }).regex(/^[\x21-\x7e]+$/, 'can’t have spaces.'),
    password: lineField('Password or token', {
      max: 4000,
      type: 'password',
      hint: 'Read access (pull) is enough.',
      code: true,
    }),
  })

function refuse(host: string, { allowHosts }: Pick<Config, 'allowHosts'>) {
  const { name, port = '443' } = hostAndPort.exec(host)?.groups ?? {}
  if (!name || Number(port) < 1 || Number(port) > 65_535)
    return 'must be a host such as registry.example.com or registry.example.com:5000.'
  return refusedHost(name.replace(/^\[|\]$/g, ''), allowHosts)
}

/** Throws unless Docker can log in with them. */
async function checkLogin(
  { docker, config }: RegistryDeps,
  { host, username, password }: z.output<ReturnType<typeof registryForm>>,
  { signal }: { signal: AbortSignal },
) {
  await refusePrivate({ config }, { registry: host, signal }).catch((error) => {
    throw error instanceof Failure ? invalidField('host', error.message) : error
  })
  const auth = { username, password, serveraddress: serverAddress(host) }
  await docker.checkRegistry(auth, { signal }).catch((error) => {
    if (!(error instanceof EngineError)) throw error
    if (error.status === 401 || /unauthorized|denied/i.test(error.message))
      throw invalidField('password', `The registry ${host} refused this user and password.`)
    throw invalidField('host', `Docker can’t reach a registry at ${host}. Check the address.`)
  })
}
