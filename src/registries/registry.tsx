import { registries } from '../db/schema.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { checkLogin, registryForm } from './add.ts'
import type { RegistryDeps } from './add.ts'

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
  empty: {
    title: 'No registries',
    text: 'Public images need none. Add a registry to use its private images.',
  },
  row: ({ host, username }) => ({
    name: host,
    facts: [
      <>
        as <bdi>{username}</bdi>
      </>,
    ],
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
