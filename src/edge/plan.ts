/** Everything the edge serves, as plain data: the configuration is computed from it and nothing else. */
export type Plan = {
  /** Where slots, sockets and pages are, as Caddy sees it. */
  folder: string
  ports: { http: number; https: number }
  hosts: Host[]
  /** Addresses without a name, plain HTTP each. */
  listeners: Listener[]
  /** The certificate authority; null when none are requested. */
  authority: Authority | null
  /** Whether each body gets a time. Newer versions of Caddy end those that pause, and know no such time. */
  timesBodies?: boolean
  /** CIDRs of proxies in front of the edge. */
  trustedProxies?: string[]
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
  /** Caddy requests and renews a certificate if it may. Redirects once it has one. */
  | { kind: 'auto'; mayAsk: boolean; redirect: boolean }
  | { kind: 'own'; redirect: boolean; certificate: string; key: string }

export type Site = Options & {
  /** `/`, or a prefix such as `/api`, which the app sees too. */
  path: string
  target: Target
  /** HTTP/2 without TLS is what the app speaks. */
  isH2c?: boolean
}

export type Target =
  | {
      /** The slots of an environment or a component, by their key. */
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
  /** Allowed CIDRs. Empty: everyone. */
  allow?: string[]
  /** Response headers, overriding the app's. */
  headers?: Record<string, string>
  /** Bytes of a request. */
  maxBody?: number
}

export type Listener = { address: string; port: number; slots: string }

export type Authority = {
  /** Null: Let's Encrypt. */
  directory: string | null
  email: string | null
  /** A file with its root certificate: in a plan as Davit sees it, in a configuration as Caddy does. */
  root: string | null
}

/** The pages in place of an app, also for a host without an owner. */
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

/** The folder of a key's slots: their files contain the addresses that Caddy connects to, read for each request. */
export const slotsPath = (folder: string, key: string) => `${folder}/slots/${key}`

/** The folder of a host: a link to the slots of its key, so that it moves without a new configuration. */
export const hostPath = (folder: string, host: string) => `${folder}/hosts/${host}`

/** Folders with files named after hosts: those that Caddy may request a certificate for, and redirects. */
export const namesPath = (folder: string, kind: 'certificates' | 'redirects') => `${folder}/${kind}`

/** Whether the slots of a host are found by its name alone, without configuration. */
export const isPlain = ({ path, target, isH2c }: Pick<Site, 'path' | 'target' | 'isH2c'>) =>
  path === '/' && 'slots' in target && !isH2c

/** The address of a page, as in a slot: a state is another address, not a new configuration. */
export const pageAddress = (folder: string, name: PageName) => `unix/${folder}/pages/${name}.sock`

/** The key by which a site is found, and its requests are counted. */
export const keyOf = (host: string, { path }: Pick<Site, 'path'>) =>
  path === '/' ? host : host + path

/** Whether an address is a page's. */
export const namesPage = (address: string, name: PageName) =>
  address.endsWith(`/pages/${name}.sock`)

/** The key of Davit's own slots. */
export const davitKey = 'davit'

/** The socket on which Davit listens for the edge: its requests come from Caddy. */
export const davitSocket = (folder: string) => `${folder}/davit.sock`

/** The socket of Caddy's admin API. */
export const adminSocket = (folder: string) => `${folder}/admin.sock`

/** In Caddy's format. Only Davit may enter the folder; without the mode only root could connect. */
export const adminAddress = (folder: string) => `unix/${adminSocket(folder)}|0666`
