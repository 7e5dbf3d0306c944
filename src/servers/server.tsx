import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { serverRoles, servers } from '../db/schema.ts'
import type { Edge } from '../edge/edge.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { requestOrigin } from '../web/own-host.ts'
import { auditor } from '../audit/record.ts'
import { DocTab } from '../web/components.tsx'
import { CopyButton } from '../web/copy.tsx'
import { Ago } from '../web/times.tsx'
import { bytes, counted } from '../web/units.ts'
import { userOf } from '../web/user-of.ts'
import { componentOf, id, time } from '../web/operation.ts'
import { expectedRows } from './code-routes.tsx'
import { makeCode } from './codes.ts'
import type { CodeDeps } from './codes.ts'
import { changeForm, createForm } from './form.ts'
import { DrainPreview } from './drain-preview.tsx'
import { joinServer, whyNoServers } from './join.ts'
import { removeServer, usedTodo } from './leave.ts'
import type { LeaveDeps } from './leave.ts'
import { edgeOn, edgeStates } from './server-edge.tsx'
import { StateBadge } from './server-facts.tsx'
import type { ServerUse } from './server-facts.tsx'
import { ServerDetails } from './server-page.tsx'
import { countInstances, getServer, listUsers, stateOf, states, updateServer } from './store.ts'

type Deps = Omit<LeaveDeps, 'config' | 'edge'> &
  CodeDeps & {
    edge: Pick<Edge, 'isOn' | 'others' | 'trouble'>
    /** What apps and services use there. */
    useOf: (serverId: string) => ServerUse
  }

const resident = () => ({
  id,
  kind: z.enum(['environment', 'service']),
  name: z.string(),
  href: z.string(),
})

const drainPreview = componentOf('DrainPreview', () => ({
  moves: z.array(z.object(resident())),
  stays: z.array(z.object({ ...resident(), why: z.string(), todo: z.string() })),
}))

/** Apps without a placement run on Davit’s own server. */
function setDraining(
  { db, serverEngines }: Deps,
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
  serverEngines.publishChange()
}

type Change = { address: string; roles: string[] }

/** Davit, apps without a placement and, while no other server builds, builds need all of Davit’s own. */
function refuseChange(db: Db, id: string, { address, roles }: Change) {
  if (getServer(db, id)?.address !== address)
    throw invalidField('address', 'can’t be changed. Remove the server, and add it again.')
  if (id === firstServer && roles.length < serverRoles.length)
    throw invalidField('roles', 'of Davit’s own server are apps, builds and edge, and stay.')
}

const joinCode = componentOf('JoinCode', () => ({
  /** To withdraw it. */
  id,
  name: z.string(),
  code: z.string(),
  command: z.string(),
  expiresAt: time,
}))

const json = rowJson(
  'Server',
  servers,
  ['name', 'address', 'engine', 'cpus', 'memoryMb', 'lastSeenAt'],
  () => ({
    /** Bytes of the disk with Docker’s data; null while unknown. */
    diskFree: z.int().nullable(),
    state: z.enum(states),
    roles: z.array(z.enum(serverRoles)),
    labels: z.record(z.string(), z.string()),
    /** Containers of apps and services. */
    instances: z.int(),
    edge: z.enum(edgeStates),
  }),
)

/** Davit’s own server is listed as soon as there is another. */
export const server = resource({
  kind: 'server',
  plural: 'the servers',
  path: '/settings/servers',
  title: 'Servers',
  part: 'Administration',
  table: servers,
  adminOnly: true,
  refuse: (db, { id, values }) => refuseChange(db, id, values as Change),
  json,
  about:
    'The machines whose Docker Davit uses. They are one Docker Swarm as soon as there are two.',
  none: 'One server',
  empty:
    'Everything runs on the server that Davit is on. A second one helps when its memory or processors aren’t enough; it doesn’t replace backups.',
  see: ({ db, edge, serverEngines }: Deps, row) => ({
    ...row,
    edge: edgeOn(edge, row.id).state,
    state: stateOf(row),
    managers: row.id === firstServer ? serverEngines.managers : 0,
    instances: countInstances(db, row.id),
    diskFree: serverEngines.disks.get(row.id)?.free ?? null,
  }),
  below: async ({ db, edge, serverEngines, useOf }, row) => (
    <ServerDetails
      edge={edgeOn(edge, row.id)}
      server={{ ...row, state: stateOf(row) }}
      use={useOf(row.id)}
      disk={serverEngines.disks.get(row.id) ?? null}
      users={listUsers(db, row.id)}
    />
  ),
  before: ({ db }) => expectedRows(db),
  row: ({
    id,
    name,
    address,
    nodeId,
    engine,
    cpus,
    memoryMb,
    labels,
    roles,
    state,
    isDraining,
    managers,
    lastSeenAt,
  }) => ({
    name,
    href: `/settings/servers/${id}`,
    isRemovable: id !== firstServer,
    acts: id === firstServer ? [] : [isDraining ? 'activate' : 'drain'],
    mark: <StateBadge state={state} />,
    tags: [],
    facts: [
      ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
      id === firstServer && 'Davit runs here',
      managers === 2 &&
        'the swarm has two managers, and stops when it loses either one: have one or three',
      id !== firstServer && !nodeId && 'not in this swarm: remove it and add it again',
      id !== firstServer && `roles: ${roles.join(', ') || 'none'}`,
      address,
      `Docker ${engine}`,
      counted(cpus, 'processor'),
      bytes(memoryMb * 2 ** 20),
      lastSeenAt && ['last seen ', <Ago at={lastSeenAt} />],
    ],
  }),
  create: {
    verb: 'Add',
    note: '; without a login of ssh it answers with a command and a code for it, by which the server joins',
    submit: 'Add server',
    form: () => createForm,
    schema: () => z.union([json(), joinCode()]),
    off: ({ config }: Deps) => whyNoServers(config),
    async make(deps, c, { address = null, sshUser, sshKey, hostKey, ...given }) {
      const { signal } = c.req.raw
      if (address && sshUser && sshKey && hostKey)
        return {
          id: await joinServer(deps, { ...given, address, sshUser, sshKey, hostKey }, { signal }),
        }
      const { name, roles, labels } = given
      const { code, row } = await makeCode(deps, { name, address, roles, labels }, userOf(c).id)
      const origin = requestOrigin(c, deps.config)
      const isPlain = origin.startsWith('http:')
      const command = `davit join ${origin}${isPlain ? ' --insecure' : ''}`
      const once = { text: code, what: 'the code', says: <HowToJoin command={command} /> }
      const extra = { id: row.id, name, code, command, expiresAt: row.expiresAt }
      auditor(deps.db)(c, 'server.expected', { details: { name } })
      return { id: null, name, extra, once }
    },
    details: ({ address }) => ({ address }),
  },
  change: {
    form: (row) => (row?.id === firstServer ? changeForm.omit({ roles: true }) : changeForm),
    note: ': name, labels and roles. Without the role apps nothing new is placed there, and what runs stays until its next deployment',
    shown: ({ labels }) => ({
      labels: Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    }),
  },
  acts: {
    drain: {
      button: 'Drain',
      note: 'Place nothing new on a server, and move from it what can run elsewhere',
      run(deps, _, row) {
        setDraining(deps, row, true)
        return { said: 'Nothing new is placed on the server, and apps move from it.' }
      },
      preview: {
        note: 'What would move from a server if it were drained, and what would stay with why',
        json: drainPreview,
        async view({ previewDrain }, row) {
          const all = await previewDrain(row)
          const moves = all.flatMap(({ stays, ...one }) => (stays ? [] : one))
          const stays = all.flatMap(({ stays, ...one }) => (stays ? { ...one, ...stays } : []))
          return { text: <DrainPreview {...{ moves, stays }} />, json: { moves, stays } }
        },
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
      todo: usedTodo,
      lost: ({ engines }, { id }) =>
        engines.isAway({ serverId: id })
          ? 'It can’t be reached. If it never comes back, what is on it is lost, and its apps can be deployed elsewhere.'
          : null,
    },
    run: removeServer,
  },
})

/** The code isn’t in the command: others on that server could read it there. */
const HowToJoin = ({ command }: { command: string }) => (
  <>
    Run this as root on the new server, which needs the executable of Davit and Docker 25 or newer:
    <span class="shown-once">
      <code>{command}</code>
      <CopyButton text={command} what="the command" />
    </span>
    It asks for this code, which works once, within 15 minutes, and is shown only now. It checks the
    server first, and lists what it changes. <DocTab doc="servers">More about servers</DocTab>
  </>
)
