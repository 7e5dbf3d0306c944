import { z } from 'zod'
import { registries } from '../db/schema.ts'
import { resource } from '../resources/resource.ts'
import { Ago } from '../web/times.tsx'
import { componentOf } from '../web/operation.ts'
import { checkLogin, registryForm } from './add.ts'
import type { RegistryDeps } from './add.ts'

/** A password can be stored, but is never returned. */
export const registry = resource({
  kind: 'registry',
  noun: 'registry',
  plural: 'your private registries',
  path: '/settings/registries',
  title: 'Registries',
  part: 'Registries',
  table: registries,
  owner: registries.ownerId,
  most: 'registries',
  sealed: ['password'],
  sentTo: ['host'],
  unique: {
    'registries.owner_id, registries.host': [
      'host',
      'You already have this registry. Edit it to change its login.',
    ],
  },
  json: componentOf('Registry', () => ({
    id: z.uuid(),
    host: z.string(),
    username: z.string(),
    createdAt: z.iso.datetime(),
  })),
  about: 'Logins for private images, used by services and builds.',
  empty: {
    title: 'No registries',
    text: 'Public images need none. Add a registry to use its private images.',
  },
  row: ({ host, username, createdAt }) => ({
    name: host,
    facts: [
      <>
        as <bdi>{username}</bdi>
      </>,
      <>
        added <Ago at={createdAt} />
      </>,
    ],
    question: `Remove the registry ${host}? Running apps keep running, but its images can no longer be pulled.`,
  }),
  create: {
    verb: 'Add',
    note: '; Docker logs in first',
    event: 'registry.added',
    submit: 'Check and add',
    form: ({ config }: RegistryDeps) => registryForm(config),
    check: checkLogin,
    details: ({ username }) => ({ username }),
  },
  change: { event: 'registry.changed', submit: 'Check and save' },
  remove: { verb: 'Remove', event: 'registry.removed' },
})
