import { z } from 'zod'
import { servers } from '../db/schema.ts'
import { AppError } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { block, line, pairs, whole } from '../web/fields.ts'
import { field } from '../web/schema-fields.tsx'
import { Ago } from '../web/times.tsx'
import { bytes, counted } from '../web/units.ts'
import { joinServer, whyNoServers } from './join.ts'
import { removeServer } from './leave.ts'
import type { LeaveDeps } from './leave.ts'
import type { ServerUse } from './server-facts.tsx'
import { ServerDetails } from './server-page.tsx'
import { countInstances, label, listUsers, stateOf, states, updateServer } from './store.ts'

const hostAddress = z
  .ipv4('must be an IPv4 address such as 10.0.0.12.')
  .refine(
    (text) => !/^(0|127|22[4-9]|2[3-5]\d)\./.test(text),
    'must be one that other servers reach.',
  )

const labelKey = z.string().regex(label.key, 'must have keys of letters, digits, dots and hyphens.')
const badLabel = 'must have values of letters, digits, dots and hyphens.'
const hasLabelValues = (labels: Record<string, string>) =>
  Object.values(labels).every((value) => label.value.test(value))

const form = z.object({
  /** Accepted as soon as there is a choice. */
  roles: z.never('can’t be chosen yet: every server runs apps.').optional(),
  name: field(
    line('a name', { max: 60 }).regex(
      /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
      'must be lower-case letters, digits and hyphens.',
    ),
    { label: 'Name', code: true, isNarrow: true },
  ),
  address: field(hostAddress, {
    label: 'Address',
    placeholder: '10.0.0.12',
    hint: 'Where this server reaches it, best in a private network.',
    code: true,
    isNarrow: true,
  }),
  labels: field(pairs(labelKey, { max: 20 }).refine(hasLabelValues, badLabel).default({}), {
    label: 'Labels',
    isLong: true,
    code: true,
    placeholder: 'zone=east',
    hint: 'One KEY=value per line, by which environments can be placed.',
  }),
  sshUser: field(
    line('a user', { max: 64 }).regex(
      /^[A-Za-z0-9_][\w.-]*$/,
      'must be a user name of letters, digits, dots and hyphens.',
    ),
    { label: 'User', hint: 'Of its ssh, who may use Docker.', code: true, isNarrow: true },
  ),
  sshPort: field(whole('a port', { min: 1, max: 65_535 }).nullish(), {
    label: 'Port',
    hint: 'Leave empty for 22.',
    inputmode: 'numeric',
    isNarrow: true,
  }),
  sshKey: field(block('a private key', { max: 20_000 }).min(1, 'must be a private key.'), {
    label: 'Private key',
    isLong: true,
    secret: true,
    code: true,
    placeholder: '-----BEGIN OPENSSH PRIVATE KEY-----',
    hint: 'Of OpenSSH, without a passphrase. Make one for this, and put its public key into the user’s authorized_keys.',
  }),
  hostKey: field(
    line('a host key', { max: 2000 }).regex(
      /^[\w@.-]+ [A-Za-z0-9+/]+={0,3}( .*)?$/,
      'must be a type and a key, as in /etc/ssh/ssh_host_ed25519_key.pub.',
    ),
    {
      label: 'Host key',
      placeholder: 'ssh-ed25519 AAAA…',
      hint: 'The line in /etc/ssh/ssh_host_ed25519_key.pub there. No other server is trusted with the key above.',
      code: true,
    },
  ),
})

/** Apps without a placement run on Davit’s own server. */
function setDraining(
  { db }: LeaveDeps,
  { id, nodeId }: { id: string; nodeId: string },
  isDraining: boolean,
) {
  if (!nodeId)
    throw new AppError(
      'conflict',
      'It isn’t in the swarm of Davit’s server. Remove it and add it again.',
    )
  if (id === firstServer) throw new AppError('conflict', 'Davit’s own server can’t be drained.')
  updateServer(db, id, { isDraining })
}

type PageDeps = LeaveDeps & {
  /** What apps and services use there. */
  useOf: (serverId: string) => ServerUse
}

const shownState = { ready: 'Ready', draining: 'Draining', away: 'Away' }

/** Davit’s own server is listed as soon as there is another. */
export const server = resource({
  kind: 'server',
  plural: 'the servers',
  path: '/settings/servers',
  title: 'Servers',
  part: 'Administration',
  table: servers,
  adminOnly: true,
  json: rowJson(
    'Server',
    servers,
    ['name', 'address', 'engine', 'cpus', 'memoryMb', 'lastSeenAt'],
    () => ({
      /** Bytes of the disk with Docker’s data; null while unknown. */
      diskFree: z.int().nullable(),
      state: z.enum(states),
      roles: z.array(z.enum(['apps', 'builds', 'edge'])),
      labels: z.record(z.string(), z.string()),
      /** Containers of apps and services. */
      instances: z.int(),
    }),
  ),
  about:
    'The machines whose Docker Davit uses. They are one Docker Swarm as soon as there are two.',
  empty: {
    title: 'One server',
    text: 'Everything runs on the server that Davit is on. A second one helps when its memory or processors aren’t enough; it doesn’t replace backups.',
  },
  see: ({ db, serverEngines }: PageDeps, row) => ({
    ...row,
    state: stateOf(row),
    instances: countInstances(db, row.id),
    diskFree: serverEngines.disks.get(row.id)?.free ?? null,
  }),
  below: async ({ db, serverEngines, useOf }, row) => (
    <ServerDetails
      server={{ ...row, state: stateOf(row) }}
      use={useOf(row.id)}
      disk={serverEngines.disks.get(row.id) ?? null}
      users={listUsers(db, row.id)}
    />
  ),
  row: ({
    id,
    name,
    address,
    nodeId,
    engine,
    cpus,
    memoryMb,
    labels,
    state,
    isDraining,
    lastSeenAt,
  }) => ({
    name,
    href: `/settings/servers/${id}`,
    isKept: id === firstServer,
    acts: id === firstServer ? [] : [isDraining ? 'activate' : 'drain'],
    tags: [shownState[state]],
    facts: [
      ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
      id === firstServer && 'Davit runs here',
      id !== firstServer && !nodeId && 'not in this swarm: remove it and add it again',
      address,
      `Docker ${engine}`,
      counted(cpus, 'processor'),
      bytes(memoryMb * 2 ** 20),
      lastSeenAt && (
        <>
          last seen <Ago at={lastSeenAt} />
        </>
      ),
    ],
  }),
  create: {
    verb: 'Add',
    note: '; it joins at once, over ssh',
    submit: 'Check and add',
    form: () => form,
    off: ({ config }) => whyNoServers(config),
    make: async (deps, c, input) => ({ id: await joinServer(deps, input, c.req.raw.signal) }),
    details: ({ address }) => ({ address }),
  },
  acts: {
    drain: {
      button: 'Drain',
      note: 'Place nothing new on a server; what runs there stays until its next deployment',
      run(deps, _, row) {
        setDraining(deps, row, true)
        return { said: 'Nothing new is placed on the server.' }
      },
    },
    activate: {
      button: 'Activate',
      note: 'Place apps on a server again',
      run(deps, _, row) {
        setDraining(deps, row, false)
        return { said: 'Apps are placed on the server again.' }
      },
    },
  },
  remove: {
    verb: 'Remove',
    warning: 'It leaves the swarm. Other containers on it keep running.',
    note: '; with `volumes=give_up` also one that is away with apps on it',
    users: {
      list: ({ db }, { id }) => listUsers(db, id),
      lost: ({ engines }, { id }) =>
        engines.isAway({ serverId: id })
          ? 'It can’t be reached. If it never comes back, what is on it is lost, and its apps can be deployed elsewhere.'
          : null,
    },
    run: removeServer,
  },
})
