import type { Failure } from '../platform/errors.ts'

/** Everything the edge serves, as plain data: the configuration is computed from this alone. */
export type Plan = {
  /** The folder of slots, sockets and pages, as Caddy sees it. */
  folder: string
  ports: { http: number; https: number }
  hosts: Host[]
  /** Addresses without a name, each with plain HTTP. */
  listeners: Listener[]
  /** The certificate authority; null when no certificates are requested. */
  authority: Authority | null
  /** True to limit the time of each body: newer versions of Caddy can't, and end bodies that pause. */
  timesBodies?: boolean
  /** CIDRs of proxies in front of the edge. */
  trustedProxies?: string[]
  /** Of Davit's own edge while others send it requests: how these say so. */
  tokens?: string[]
  /** Set for an edge on another server. */
  home?: Home
}

/** Davit's own edge, as one on another server reaches it. */
export type Home = {
  address: string
  token: string
  /** When the certificates end that this server has, by host. */
  certified: Record<string, number>
}

export type Host = {
  /** Lower case, without a trailing dot; in ASCII. */
  name: string
  https: Https
  /** HSTS for a year. */
  hsts?: boolean
  sites: Site[]
}

export type Https =
  | { kind: 'off' }
  /** Caddy requests and renews a certificate if it may, and redirects once it has one. */
  | { kind: 'auto'; mayAsk: boolean; redirect: boolean }
  | { kind: 'own'; redirect: boolean; certificate: string; key: string }

export type Site = Options & {
  /** `/`, or a prefix such as `/api`, which the app sees too. */
  path: string
  target: Target
  /** True for an app that speaks HTTP/2 without TLS. */
  isH2c?: boolean
}

export type Target =
  | {
      /** The key of the slots of an environment or a component. */
      slots: string
    }
  | {
      /** An origin; path and query are kept. */
      redirect: string
    }
  | { page: PageName }

/** Users for basic authentication; the hash is bcrypt's. */
export type Accounts = { username: string; hash: string }[]

export type Options = {
  accounts?: Accounts
  /** Allowed CIDRs; an empty list allows everyone. */
  allow?: string[]
  /** Response headers, which override the app's. */
  headers?: Record<string, string>
  /** Bytes of a request. */
  maxBody?: number
}

export type Listener = { address: string; port: number; slots: string }

export type Authority = {
  /** Null for Let's Encrypt. */
  directory: string | null
  email: string | null
  /** A file with its root certificate: as Davit sees it in a plan, as Caddy sees it in a configuration. */
  root: string | null
}

/** Pages in place of an app, also for a host without an owner. */
export const pageNames = [
  'missing',
  'stopped',
  'starting',
  'unhealthy',
  'maintenance',
  'nobody',
] as const
export type PageName = (typeof pageNames)[number]

/** Slots of each key: enough that 1, 2, 3, 4, 6 or 12 replicas get equal shares. */
export const slotCount = 12

/** Where a route finds the addresses in the slots of its key. */
export const slotPlaceholders = Array.from(
  { length: slotCount },
  (_, slot) => `{davit.slot.${slot}}`,
)

/** The files of this folder contain the addresses that Caddy connects to, read for each request. */
export const slotsPath = (folder: string, key: string) => `${folder}/slots/${key}`

export const shareVersions = ['new', 'before'] as const
export type ShareVersion = (typeof shareVersions)[number]

/** The key of the slots of a version that gets a share of the requests, or the rest of them. */
export const shareKey = (slot: number, version: ShareVersion) => `share-${slot}-${version}`

export const isShareKey = (key: string) => /^share-\d+-\w+$/.test(key)

/** A link to the slots of the host's key, so that a host moves without a new configuration. */
export const hostPath = (folder: string, host: string) => `${folder}/hosts/${host}`

/** Contains files named after hosts: those that Caddy may request a certificate for, or redirects. */
export const namesPath = (folder: string, kind: 'certificates' | 'redirects') => `${folder}/${kind}`

/** True when the host's name alone leads to its slots, without configuration. */
export const isPlain = ({ path, target, isH2c }: Pick<Site, 'path' | 'target' | 'isH2c'>) =>
  path === '/' && 'slots' in target && !isH2c

/** Pages are addresses in slots, so that a new state needs no new configuration. */
export const pageAddress = (folder: string, name: PageName) => `unix/${folder}/pages/${name}.sock`

/** Identifies a site, also in the counts of its requests. */
export const keyOf = (host: string, { path }: Pick<Site, 'path'>) =>
  path === '/' ? host : host + path

export const namesPage = (address: string, name: PageName) =>
  address.endsWith(`/pages/${name}.sock`)

export const davitKey = 'davit'

/** The socket on which Davit listens for requests of Caddy. */
export const davitSocket = (folder: string) => `${folder}/davit.sock`

export const adminSocket = (folder: string) => `${folder}/admin.sock`

/** In Caddy's format. Only Davit may enter the folder; without the mode only root could connect. */
export const adminAddress = (folder: string) => `unix/${adminSocket(folder)}|0666`

/** A part of a plan that Caddy rejects, while it serves all others. */
export type RejectedHost = { host: string; failure: Failure } | { port: number; failure: Failure }

/** A Caddy that can serve a plan: Davit's own, or the user's. */
export type Caddy = {
  mode: 'caddy' | 'external'
  /** The folder that it shares with Davit, as it sees it. */
  folder: string
  ports: Plan['ports']
  /** Davit's own address for Caddy, in the format of a slot. */
  davit: string
  /** Null when unknown. */
  version: string | null
  /** Throws the reason if it can't run here. */
  start(plan: Plan, options: { signal: AbortSignal }): Promise<void>
  /** Call it when its state may have changed: the next `start` checks it again. */
  doubt(): void
  /** Applies a plan. Changes that wait until no one is connected are served even before that. */
  serve(
    plan: Plan,
    options: { signal: AbortSignal },
  ): Promise<{ state: 'in force' | 'waits'; loadedAt: Date | null; rejected: RejectedHost[] }>
  /** Stops serving anything for Davit. */
  stop(options: { signal: AbortSignal }): Promise<void>
}
