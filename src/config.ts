import { resolve } from 'node:path'
import { isIP } from 'node:net'
import { z } from 'zod'
import { longestWatch } from './platform/limits.ts'
import { canonicalHost, isLocalhost, refusedHost } from './platform/hosts.ts'
import { releaseKey } from './platform/root.ts'
import {
  cidrList,
  flag,
  hostList,
  imageName,
  isPlainUrl,
  list,
  networkPool,
  processors,
  publicUrl,
  releaseIndex,
  repositoryPrefix,
  signingKey,
  twoPorts,
  whole,
} from './platform/setting-fields.ts'

/** A loopback address different from the panel's, so that browsers keep their cookies apart. */
export const appsAddress = '127.0.0.2'

/** Every setting, documented where it is parsed; `assets/docs/settings.md` repeats these lines. */
const settings = z.object({
  /** Address to listen on. Beyond loopback, registering the first account needs the setup code. */
  DAVIT_HOST: z
    .string()
    .refine((host) => canonicalHost(host) !== null, 'must be an address to listen on')
    .default('127.0.0.1'),
  /** Port to listen on; 0 takes any free one. */
  DAVIT_PORT: whole('a port', { min: 0, max: 65535 }).default(3000),
  /** The public address, used for links, cookies and the Origin check. Default: as in the browser. */
  DAVIT_URL: publicUrl.optional(),
  /** A domain whose names resolve to this server: Davit is at it, each environment at a name below it. */
  DAVIT_DOMAIN: z
    .string()
    .transform((text) => canonicalHost(text) ?? '')
    .refine(
      (name) => name.includes('.') && isIP(name) === 0,
      'must be a domain such as example.com',
    )
    .optional(),
  /** The directory of all state: two SQLite files, the key file, git mirrors. */
  DAVIT_DATA_DIR: z.string().min(1, 'must be a directory').default('./data'),
  /** Encrypts secrets at rest; without it a key file is created in the data directory. */
  DAVIT_SECRET_KEY: z
    .string()
    .refine((key) => Buffer.byteLength(key) >= 32, 'must be 32 bytes or more of random text')
    .optional(),
  /** Who may register once the first account exists. */
  DAVIT_REGISTRATION: z
    .enum(['closed', 'invite', 'open'], 'must be closed, invite or open')
    .default('closed'),
  /** Addresses or CIDRs of proxies in front of Davit or of the edge whose X-Forwarded-For is trusted. */
  DAVIT_TRUSTED_PROXIES: cidrList,
  /** Requests per second and client address. */
  DAVIT_RATE_LIMIT: whole('requests per second', { min: 1, max: 1_000_000 }).default(30),
  /** Burst of requests allowed from one client address. */
  DAVIT_RATE_BURST: whole('a burst', { min: 1, max: 1_000_000 }).default(60),
  /** Seconds after which a request fails with 504, streams excepted. */
  DAVIT_REQUEST_TIMEOUT: whole('seconds', { min: 1, max: 3600 }).default(15),
  /** Streams that one user may have open; one more fails with 429. */
  DAVIT_STREAMS_PER_USER: whole('a count', { min: 1, max: 100_000 }).default(20),
  /** The range of networks of projects, a /26 each. */
  DAVIT_NETWORK_POOL: networkPool.default('10.201.0.0/16'),
  /** The address at which other servers reach this one; without it none can join. */
  DAVIT_CLUSTER_ADDRESS: z.ipv4('must be an IPv4 address').optional(),
  /** A registry by which built images reach other servers, such as registry.example.com/davit. */
  DAVIT_REGISTRY: repositoryPrefix.optional(),
  /** 1 encrypts what containers of different servers send each other. */
  DAVIT_OVERLAY_ENCRYPTED: flag,
  /** Private hosts (names, addresses, CIDRs) that Davit itself may connect to. */
  DAVIT_ALLOW_HOSTS: hostList,
  /** 1 allows file:// and plain paths as repositories: for trials and tests. */
  DAVIT_ALLOW_LOCAL_REPOS: flag,
  /**
   * The address of this host on which ports of apps are published. Those of members stay on
   * 127.0.0.2 if they would share a host with the panel and that isn't on HTTPS.
   */
  DAVIT_PUBLISH_ADDRESS: z
    .union([z.ipv4(), z.ipv6()], 'must be an IP address')
    .default(appsAddress),
  /**
   * Who serves names and HTTPS: a Caddy that Davit runs (auto: from the first domain on), one of the
   * user's own (external), or no one, so that apps are reached by their ports (direct).
   */
  DAVIT_EDGE: z
    .enum(['auto', 'caddy', 'external', 'direct'], 'must be auto, caddy, external or direct')
    .default('auto'),
  /** For external: the admin API of that Caddy, as the path of a unix socket or an http:// address. */
  DAVIT_EDGE_ADMIN: z
    .string()
    .refine(
      (text) => /^(\/.|unix:\/\/\/.)/.test(text) || isPlainUrl(text),
      'must be the path of a socket, or an address such as http://127.0.0.1:2019',
    )
    .optional(),
  /** Ports of this host for HTTP and HTTPS. */
  DAVIT_EDGE_PORTS: twoPorts.default([80, 443]),
  /** The email address to which the certificate authority sends expiry notices. */
  DAVIT_ACME_EMAIL: z.email('must be an e-mail address').optional(),
  /** The directory URL of another authority than Let's Encrypt. */
  DAVIT_ACME_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:/.test(text), 'must be an https:// address')
    .optional(),
  /** A PEM file with the root certificate of such an authority. */
  DAVIT_ACME_CA: z.string().min(1).optional(),
  /** Public addresses of this server, to which domains should resolve; detected if possible. */
  DAVIT_PUBLIC_ADDRESS: list.refine(
    (entries) => entries.every((entry) => isIP(entry) !== 0),
    'must be IP addresses',
  ),
  /** In whose containers a terminal may be opened: own, all (for admins), or off. */
  DAVIT_TERMINAL: z.enum(['own', 'all', 'off'], 'must be own, all or off').default('own'),
  /** A directory with more templates for the catalogue: YAML files, read without a restart. */
  DAVIT_TEMPLATES_DIR: z.string().optional(),
  /** Concurrent builds over all projects. */
  DAVIT_BUILD_CONCURRENCY: whole('a count', { min: 1, max: 64 }).default(1),
  /**
   * MiB of memory that one build may use. Default: all but a third of the machine's memory (but
   * at least 1 GiB, or half when that is less), shared by concurrent builds.
   */
  DAVIT_BUILD_MEMORY: whole('MiB', { min: 32, max: 16_777_216 }).optional(),
  /**
   * Processors that one build may use, such as 1.5. Default: all but half a
   * processor (of a single one a quarter), shared by concurrent builds.
   */
  DAVIT_BUILD_CPUS: processors.optional(),
  /** Minutes after which a deployment that is still cloning or building fails. */
  DAVIT_BUILD_TIMEOUT: whole('minutes', { min: 1, max: 10_080 }).default(60),
  /** MiB that a repository may use on disk, and likewise the files of a build. */
  DAVIT_REPOSITORY_SIZE: whole('MiB', { min: 1, max: 1_048_576 }).default(2048),
  /** MiB that an image of a project may have to download. */
  DAVIT_IMAGE_SIZE: whole('MiB', { min: 1, max: 1_048_576 }).default(10_240),
  /** The builder: auto is BuildKit if the engine has it. BuildKit truncates long output. */
  DAVIT_BUILDER: z
    .enum(['auto', 'buildkit', 'classic'], 'must be auto, buildkit or classic')
    .default('auto'),
  /** Seconds that a new container must stay up before it counts as running. */
  DAVIT_SETTLE_TIME: whole('seconds', { min: 1, max: 600 }).default(3),
  /** Seconds for which a new version is watched after the switch, unless its environment says otherwise. */
  DAVIT_WATCH_SECONDS: whole('seconds', { min: 0, max: longestWatch }).default(60),
  /** Days for which logs of removed containers and of old deployments are kept. */
  DAVIT_LOG_DAYS: whole('days', { min: 1, max: 3650 }).default(14),
  /** MiB on disk, compressed, that the logs of one environment or service may use. */
  DAVIT_LOG_SIZE: whole('MiB', { min: 1, max: 102_400 }).default(64),
  /** Login with a provider: its kind and the client credentials. Unset: off. */
  DAVIT_OAUTH_PROVIDER: z
    .enum(['github', 'gitlab', 'gitea'], 'must be github, gitlab or gitea')
    .optional(),
  DAVIT_OAUTH_CLIENT_ID: z.string().optional(),
  DAVIT_OAUTH_CLIENT_SECRET: z.string().optional(),
  /** The URL of a self-hosted provider; required for Gitea. */
  DAVIT_OAUTH_BASE_URL: publicUrl.optional(),
  /** The URL of a release.json, for davit upgrade and a daily check. Unset: nothing is requested. */
  DAVIT_RELEASES: releaseIndex.optional(),
  /** The minisign public key of releases. Default: the one that this version was released with. */
  DAVIT_RELEASE_KEY: signingKey.optional(),
  /** Images of restic, which stores backups, and of Python, which opens their SQLite databases for a test. */
  DAVIT_RESTIC_IMAGE: imageName.default('restic/restic:0.18.1'),
  DAVIT_SQLITE_IMAGE: imageName.default('python:3.13.7-alpine3.22'),
  /** The passphrase of backups: for `davit backup` and `davit restore`, never for the server. */
  DAVIT_BACKUP_PASSPHRASE: z.string().optional(),
  /** The engine: unix://, tcp:// (with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH) or ssh://. */
  DOCKER_HOST: z
    .string()
    .regex(/^(unix|tcp|ssh|https?):\/\/./, 'must be unix://, tcp:// or ssh://')
    .optional(),
})

export type Config = Readonly<ReturnType<typeof parseConfig>>

/** An invalid setting; the message is the one line to print. */
export class ConfigError extends Error {}

/** Throws ConfigError with one line that names the setting and its rule. */
export function parseConfig(env: Record<string, string | undefined>) {
  const present = Object.entries(env).filter(([, value]) => value !== undefined && value !== '')
  // read only once: generating code for the parser takes longer than it saves
  const result = settings.safeParse(Object.fromEntries(present), { jitless: true })
  if (!result.success) {
    const issue = result.error.issues[0]!
    throw new ConfigError(`${String(issue.path[0])} ${issue.message}`)
  }
  const set = result.data
  for (const key of ['DAVIT_HOST', 'DAVIT_URL'] as const)
    if (canonicalHost(key === 'DAVIT_HOST' ? set[key] : (set[key]?.hostname ?? '')) === appsAddress)
      throw new ConfigError(`${key} can’t be ${appsAddress}: apps are published there`)
  if (set.DAVIT_EDGE === 'external' && !set.DAVIT_EDGE_ADMIN)
    throw new ConfigError('DAVIT_EDGE_ADMIN must say where your Caddy is, with DAVIT_EDGE=external')
  const registryHost = set.DAVIT_REGISTRY?.replace(/[:/].*/, '')
  if (registryHost && refusedHost(registryHost, set.DAVIT_ALLOW_HOSTS))
    throw new ConfigError(
      `DAVIT_REGISTRY has a private address: allow it with DAVIT_ALLOW_HOSTS=${registryHost}`,
    )
  return Object.freeze({
    host: set.DAVIT_HOST,
    port: set.DAVIT_PORT,
    url: set.DAVIT_URL ?? null,
    domain: set.DAVIT_DOMAIN ?? null,
    dataDir: resolve(set.DAVIT_DATA_DIR),
    secretKey: set.DAVIT_SECRET_KEY ?? null,
    registration: set.DAVIT_REGISTRATION,
    trustedProxies: set.DAVIT_TRUSTED_PROXIES,
    rateLimit: set.DAVIT_RATE_LIMIT,
    rateBurst: set.DAVIT_RATE_BURST,
    requestTimeout: set.DAVIT_REQUEST_TIMEOUT,
    /** Milliseconds that a request waits for long work before it gets 202. */
    acceptTimeout: Math.min(10_000, (set.DAVIT_REQUEST_TIMEOUT * 1000 * 2) / 3),
    streamsPerUser: set.DAVIT_STREAMS_PER_USER,
    networkPool: set.DAVIT_NETWORK_POOL,
    clusterAddress: set.DAVIT_CLUSTER_ADDRESS ?? null,
    registry: set.DAVIT_REGISTRY ?? null,
    overlayEncrypted: set.DAVIT_OVERLAY_ENCRYPTED,
    allowHosts: set.DAVIT_ALLOW_HOSTS,
    allowLocalRepos: set.DAVIT_ALLOW_LOCAL_REPOS,
    publishAddress: set.DAVIT_PUBLISH_ADDRESS,
    edge: set.DAVIT_EDGE,
    edgeAdmin: set.DAVIT_EDGE_ADMIN ?? null,
    edgePorts: { http: set.DAVIT_EDGE_PORTS[0], https: set.DAVIT_EDGE_PORTS[1] },
    /** How certificates are requested. */
    acme: {
      email: set.DAVIT_ACME_EMAIL ?? null,
      directory: set.DAVIT_ACME_URL ?? null,
      root: set.DAVIT_ACME_CA ? resolve(set.DAVIT_ACME_CA) : null,
    },
    publicAddresses: set.DAVIT_PUBLIC_ADDRESS,
    terminal: set.DAVIT_TERMINAL,
    templatesDir: set.DAVIT_TEMPLATES_DIR ? resolve(set.DAVIT_TEMPLATES_DIR) : null,
    buildConcurrency: set.DAVIT_BUILD_CONCURRENCY,
    buildMemory: set.DAVIT_BUILD_MEMORY ? set.DAVIT_BUILD_MEMORY * 1024 * 1024 : null,
    buildCpus: set.DAVIT_BUILD_CPUS ?? null,
    buildTimeout: set.DAVIT_BUILD_TIMEOUT * 60_000,
    repositorySize: set.DAVIT_REPOSITORY_SIZE * 1024 * 1024,
    imageSize: set.DAVIT_IMAGE_SIZE * 1024 * 1024,
    builder: set.DAVIT_BUILDER,
    settleTime: set.DAVIT_SETTLE_TIME * 1000,
    watchSeconds: set.DAVIT_WATCH_SECONDS,
    logDays: set.DAVIT_LOG_DAYS,
    logSize: set.DAVIT_LOG_SIZE * 1024 * 1024,
    resticImage: set.DAVIT_RESTIC_IMAGE,
    sqliteImage: set.DAVIT_SQLITE_IMAGE,
    dockerHost: set.DOCKER_HOST,
    releases: set.DAVIT_RELEASES ?? null,
    releaseKey: set.DAVIT_RELEASE_KEY ?? releaseKey,
    oauth: oauthOf(set),
  })
}

const hosted = { github: 'https://github.com', gitlab: 'https://gitlab.com', gitea: null }

/** The settings of the provider login must be all set or all unset. */
function oauthOf(set: z.output<typeof settings>) {
  const provider = set.DAVIT_OAUTH_PROVIDER
  if (!provider) return null
  const { DAVIT_OAUTH_CLIENT_ID: clientId, DAVIT_OAUTH_CLIENT_SECRET: clientSecret } = set
  const baseUrl = set.DAVIT_OAUTH_BASE_URL?.origin ?? hosted[provider]
  if (!clientId) throw new ConfigError(`DAVIT_OAUTH_CLIENT_ID ${neededBy(provider)}`)
  if (!clientSecret) throw new ConfigError(`DAVIT_OAUTH_CLIENT_SECRET ${neededBy(provider)}`)
  if (!baseUrl) throw new ConfigError(`DAVIT_OAUTH_BASE_URL ${neededBy(provider)}`)
  return { provider, clientId, clientSecret, baseUrl }
}

const neededBy = (provider: string) => `must be set with DAVIT_OAUTH_PROVIDER=${provider}`

type Reached = Pick<Config, 'url' | 'domain' | 'edge' | 'edgePorts' | 'host' | 'port'>

/** The public origin of this Davit: DAVIT_URL, else its domain, else the address it listens on. */
export function originOf({ url, domain, edge, edgePorts: { http, https }, ...listens }: Reached) {
  if (url) return url.origin
  if (!domain || edge === 'direct') return originAt(listens)
  const [scheme, port, usual] = isLocalhost(domain) ? ['http', http, 80] : ['https', https, 443]
  return `${scheme}://${domain}${port === usual ? '' : `:${port}`}`
}

/** The origin of the address that Davit listens on. */
export const originAt = ({ host, port }: Pick<Config, 'host' | 'port'>) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Names with the prefix of settings that aren't settings: most often typos. */
export const unknownSettings = (env: Record<string, string | undefined>) =>
  Object.keys(env).filter((name) => name.startsWith('DAVIT_') && !(name in settings.shape))

/** Settings whose values are secret. */
const secretSettings = ['DAVIT_SECRET_KEY', 'DAVIT_OAUTH_CLIENT_SECRET', 'DAVIT_BACKUP_PASSPHRASE']

/** The settings that are set, split into public and secret ones. */
export function settingsIn(env: Record<string, string | undefined>) {
  const set = Object.entries(env).filter(([name, value]) => name in settings.shape && value)
  const { plain = [], secret = [] } = Object.groupBy(set, ([name]) =>
    secretSettings.includes(name) ? 'secret' : 'plain',
  )
  const object = (entries: typeof set) => Object.fromEntries(entries) as Record<string, string>
  return { plain: object(plain), secret: object(secret) }
}
