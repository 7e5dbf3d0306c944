import { chmodSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../platform/errors.ts'
import { connectAdmin } from './admin.ts'
import type { Admin, AdminAddress } from './admin.ts'
import { foreignId, foreignListeners, foreignRoute } from './configuration.ts'
import { tooOld } from './container.ts'
import type { Caddy, Plan } from './plan.ts'
import { RejectedHosts, noHandler } from './rejected-hosts.ts'
import { isEngineAway, refusedApart } from './mode.ts'
import type { Engine } from './own.ts'
import { listenerOf } from './sockets.ts'

type ForeignOptions = {
  /** As Davit and that Caddy see it. */
  folder: string
  ports: Plan['ports']
  admin: AdminAddress
  davit: string
  /** May run Davit's own Caddy, which has the ports that this one needs. */
  engine?: Pick<Engine, 'look' | 'remove'>
}

/** The user's own Caddy. Davit's hosts are one route in it, their ports one server; the rest is unchanged. */
export function foreignCaddy({
  folder,
  ports,
  davit,
  admin: address,
  engine,
}: ForeignOptions): Caddy {
  const admin = connectAdmin(address)
  const rejectedHosts = new RejectedHosts({
    listening: (options) => admin.list(`id/${foreignId.listeners}/listen`, options),
    tryOut: async (plan, options) => void (await putRoute(admin, plan, [noHandler], options)),
  })
  let loadedAt: Date | null = null
  let isAlone = engine === undefined
  return {
    ...{ mode: 'external', folder, ports, davit, version: null },
    doubt() {},
    async start(_, options) {
      await letIn(folder, address)
      if (isAlone) return
      isAlone = await standAlone(engine!, options).then(
        () => true,
        (error) => {
          if (!isEngineAway(error)) throw error
          return false
        },
      )
    },
    async serve(plan, { signal }) {
      for (;;) {
        const { served, rejected } = await rejectedHosts.served(plan, { signal })
        try {
          if (await applyForeign(admin, served, { signal })) loadedAt = new Date()
          rejectedHosts.holds(served)
          return { state: 'in force', loadedAt, rejected }
        } catch (error) {
          if (!(error instanceof Failure) || error.code !== 'edge_refused') throw error
          if (!(await rejectedHosts.learn(served, error, { signal }))) throw error
        }
      }
    },
    async stop({ signal }) {
      await applyForeign(admin, { folder, ports, ...nothing }, { signal })
    },
  }
}

/** Stops Davit's own Caddy. Throws when no Caddy of this machine can reach containers. */
async function standAlone(
  { look, remove }: Pick<Engine, 'look' | 'remove'>,
  options: { signal: AbortSignal },
) {
  const { apart } = await look(options)
  if (apart) throw refusedApart(apart)
  await remove(options)
}

const nothing = { hosts: [], listeners: [], authority: null }

/** Returns true when that changed anything. */
async function applyForeign(admin: Admin, plan: Plan, { signal }: { signal: AbortSignal }) {
  const hasChanged = await putRoute(admin, plan, undefined, { signal })
  return (await putListeners(admin, plan, { signal })) || hasChanged
}

async function putRoute(
  admin: Admin,
  plan: Plan,
  last: object[] | undefined,
  { signal }: { signal: AbortSignal },
) {
  const route = plan.hosts.length === 0 && !last ? null : foreignRoute(plan, last)
  try {
    const create = (route: object) => insert(admin, plan, route, { signal })
    return await put(admin, foreignId.route, route, { create, signal })
  } catch (error) {
    throw error instanceof Failure && /intercept/.test(error.message) ? tooOld('This Caddy') : error
  }
}

const putListeners = (admin: Admin, plan: Plan, { signal }: { signal: AbortSignal }) =>
  put(admin, foreignId.listeners, plan.listeners.length === 0 ? null : foreignListeners(plan), {
    create: (server) =>
      admin.write('PUT', `${serversPath}/${foreignId.listeners}`, server, { signal }),
    signal,
  })

/** Returns true when that changed anything. */
async function put(
  { read, write }: Admin,
  id: string,
  wanted: object | null,
  { create, signal }: { create: (wanted: object) => Promise<void>; signal: AbortSignal },
) {
  const path = `id/${id}`
  const current = await read(path, { signal })
  if (Bun.deepEquals(current, wanted && JSON.parse(JSON.stringify(wanted)))) return false
  if (wanted === null) await write('DELETE', path, null, { signal })
  else if (current !== null) await write('PATCH', path, wanted, { signal })
  else await create(wanted)
  return true
}

const serversPath = 'config/apps/http/servers'

type Servers = Record<string, { listen?: string[]; routes?: unknown[] | null }>

/** Inserts before the routes of the server on the HTTPS port, else on the HTTP port. */
async function insert(
  { read, write }: Admin,
  { ports }: Plan,
  route: object,
  { signal }: { signal: AbortSignal },
) {
  const servers = Object.entries(((await read(serversPath, { signal })) ?? {}) as Servers)
  const found = [ports.https, ports.http].flatMap((port) =>
    servers.filter(([, { listen = [] }]) => listen.some((one) => one.endsWith(`:${port}`))),
  )[0]
  if (!found) throw noServer(ports.https)
  const [name, { routes }] = found
  const path = `${serversPath}/${encodeURIComponent(name)}/routes`
  if (routes) await write('PUT', `${path}/0`, route, { signal })
  else await write('PUT', path, [route], { signal })
}

const noServer = (port: number) =>
  new Failure(
    'edge_no_server',
    `Your Caddy has no server that listens on port ${port}.`,
    'Give it a site, such as a Caddyfile with one host; Davit adds its hosts to the same server.',
  )

/**
 * Gives access to a Caddy that runs as another user. The folder holds no secrets; in the data directory above
 * it others could only open files by name, and those are only readable for the owner.
 */
async function letIn(folder: string, admin: AdminAddress) {
  for (const place of [dirname(folder), folder]) chmodSync(place, 0o711)
  for (const name of ['slots', 'hosts']) chmodSync(join(folder, name), 0o711)
  const uid = await userOf(admin)
  if (uid === null || uid === 0) return
  for (let place = folder; place !== '/'; place = dirname(place)) {
    const { mode, uid: owner } = statSync(place)
    if ((mode & 0o011) === 0 && owner !== uid) throw closed(place)
  }
}

const closed = (place: string) =>
  new Failure(
    'edge_closed',
    `Your Caddy runs as another user, who can’t access ${place}.`,
    `Give others access with “chmod o+x ${place}”, or set DAVIT_DATA_DIR to another directory.`,
  )

/** The user it runs as, by the owner of its admin API's socket; null when unknown. */
async function userOf(admin: AdminAddress) {
  if ('socket' in admin) return statSync(admin.socket, { throwIfNoEntry: false })?.uid ?? null
  const { port, protocol } = new URL(admin.url)
  return listenerOf(Number(port) || (protocol === 'https:' ? 443 : 80))
}
