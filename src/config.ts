import { resolve } from 'node:path'
import { isIP } from 'node:net'
import { z } from 'zod'
import { canonicalHost, isAddressOrCidr, refuseListEntry } from './platform/hosts.ts'

const list = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter(Boolean))

const hostList = list.superRefine((entries, context) => {
  for (const entry of entries) {
    const refusal = refuseListEntry(entry)
    if (refusal) context.addIssue({ code: 'custom', message: refusal })
  }
})

const cidrList = list.superRefine((entries, context) => {
  for (const entry of entries)
    if (!isAddressOrCidr(entry))
      context.addIssue({ code: 'custom', message: `wants addresses or CIDRs, not “${entry}”` })
})

const whole = (name: string, { min, max }: { min: number; max: number }) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `wants ${name}, a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `wants ${name}, a whole number from ${min} to ${max}`)

const publicUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash)
    return url
  context.addIssue({
    code: 'custom',
    message: 'wants an address such as https://davit.example.com',
  })
  return z.NEVER
})

/** A loopback address that is not the panel's: browsers keep the cookies of the two apart. */
export const appsAddress = '127.0.0.2'

/** Every setting, documented where it is parsed; the README's table repeats these lines. */
const settings = z.object({
  /** Address to listen on. Beyond loopback, registering the first account needs the setup code. */
  DAVIT_HOST: z
    .string()
    .refine((host) => canonicalHost(host) !== null, 'wants an address to listen on')
    .default('127.0.0.1'),
  /** Port to listen on; 0 takes any free one. */
  DAVIT_PORT: whole('a port', { min: 0, max: 65535 }).default(3000),
  /** The public address: links, cookies and the Origin check use it. Default: what the browser asked for. */
  DAVIT_URL: publicUrl.optional(),
  /**
   * A domain that is this server's: requests for it and the names below it are answered, while those
   * for names that are neither its nor DAVIT_URL's get 421. It does nothing else yet.
   */
  DAVIT_DOMAIN: z
    .string()
    .transform((text) => canonicalHost(text) ?? '')
    .refine((name) => name.includes('.') && isIP(name) === 0, 'wants a domain such as example.com')
    .optional(),
  /** Where all state is kept: two SQLite files, the key file, git mirrors. */
  DAVIT_DATA_DIR: z.string().min(1, 'wants a directory').default('./data'),
  /** Seals secrets at rest; without it a key file is made in the data directory. */
  DAVIT_SECRET_KEY: z
    .string()
    .refine((key) => Buffer.byteLength(key) >= 32, 'wants 32 bytes or more of random text')
    .optional(),
  /** Who may register once the first account exists. */
  DAVIT_REGISTRATION: z
    .enum(['closed', 'invite', 'open'], 'wants closed, invite or open')
    .default('closed'),
  /** Proxies (addresses or CIDRs) whose X-Forwarded-For counts. */
  DAVIT_TRUSTED_PROXIES: cidrList,
  /** Requests per second and client address. */
  DAVIT_RATE_LIMIT: whole('requests per second', { min: 1, max: 1_000_000 }).default(30),
  /** Requests that may come at once from one client address. */
  DAVIT_RATE_BURST: whole('a burst', { min: 1, max: 1_000_000 }).default(60),
  /** Seconds after which a request is answered 504, streams excepted. */
  DAVIT_REQUEST_TIMEOUT: whole('seconds', { min: 1, max: 3600 }).default(15),
  /** Streams that one user may have open; one more is answered 429. */
  DAVIT_STREAMS_PER_USER: whole('a count', { min: 1, max: 100_000 }).default(20),
  /** Where the networks of projects come from, a /26 each. */
  DAVIT_NETWORK_POOL: z
    .string()
    .regex(/^(\d{1,3}\.){3}0\/(8|9|1\d|2[0-4])$/, 'wants an IPv4 network such as 10.201.0.0/16')
    .refine((cidr) => refuseListEntry(cidr) === null, 'wants an IPv4 network such as 10.201.0.0/16')
    .default('10.201.0.0/16'),
  /** Private hosts (names, addresses, CIDRs) that Davit itself may connect to. */
  DAVIT_ALLOW_HOSTS: hostList,
  /** 1 admits file:// and plain paths as repositories: for trials and tests. */
  DAVIT_ALLOW_LOCAL_REPOS: z
    .enum(['0', '1'], 'wants 0 or 1')
    .default('0')
    .transform((flag) => flag === '1'),
  /**
   * Address of this host on which ports of apps are published. Members' stay on 127.0.0.2 where
   * another one would have them share a host with the panel, and that isn't on HTTPS.
   */
  DAVIT_PUBLISH_ADDRESS: z.union([z.ipv4(), z.ipv6()], 'wants an IP address').default(appsAddress),
  /** The proxy in front of the apps; there is none yet, so their ports are published directly. */
  DAVIT_EDGE: z.enum(['direct'], 'wants direct').default('direct'),
  /** Whose containers a terminal opens in: one's own, for an admin also all others, or none. */
  DAVIT_TERMINAL: z.enum(['own', 'all', 'off'], 'wants own, all or off').default('own'),
  /** A directory with more templates for the catalogue: YAML files, seen as soon as they are there. */
  DAVIT_TEMPLATES_DIR: z.string().optional(),
  /** Builds that may run at once over all projects. */
  DAVIT_BUILD_CONCURRENCY: whole('a count', { min: 1, max: 64 }).default(1),
  /**
   * MiB of memory that one build may use. Default: what the machine can spare, which is all but a
   * third of its memory (but at least 1 GiB of it, or half where that is less), shared by the builds
   * that may run at once.
   */
  DAVIT_BUILD_MEMORY: whole('MiB', { min: 32, max: 16_777_216 }).optional(),
  /**
   * Processors that one build may use, such as 1.5. Default: all but half a processor (of a single
   * one a quarter), shared by the builds that may run at once.
   */
  DAVIT_BUILD_CPUS: z
    .string()
    .regex(/^\d{1,3}(\.\d{1,2})?$/, 'wants processors, such as 2 or 0.5')
    .transform(Number)
    .refine((cpus) => cpus >= 0.1 && cpus <= 512, 'wants processors, from 0.1 to 512')
    .optional(),
  /** Minutes after which a deployment that is still cloning or building is ended. */
  DAVIT_BUILD_TIMEOUT: whole('minutes', { min: 1, max: 10_080 }).default(60),
  /** MiB that a repository may take on disk, and the files of a build. */
  DAVIT_REPOSITORY_SIZE: whole('MiB', { min: 1, max: 1_048_576 }).default(2048),
  /** What the engine builds with; auto is BuildKit where it has that. BuildKit clips long output. */
  DAVIT_BUILDER: z
    .enum(['auto', 'buildkit', 'classic'], 'wants auto, buildkit or classic')
    .default('auto'),
  /** Seconds that what was started must stay up before it counts as running. */
  DAVIT_SETTLE_TIME: whole('seconds', { min: 1, max: 600 }).default(3),
  /** Days for which the output of containers is kept beyond their life, and the logs of old deployments. */
  DAVIT_LOG_DAYS: whole('days', { min: 1, max: 3650 }).default(14),
  /** MiB on disk, compressed, that the kept output of one environment or service may take. */
  DAVIT_LOG_SIZE: whole('MiB', { min: 1, max: 102_400 }).default(64),
  /** Login with a provider: which one, and what it knows Davit by. Not set: no such login. */
  DAVIT_OAUTH_PROVIDER: z
    .enum(['github', 'gitlab', 'gitea'], 'wants github, gitlab or gitea')
    .optional(),
  DAVIT_OAUTH_CLIENT_ID: z.string().optional(),
  DAVIT_OAUTH_CLIENT_SECRET: z.string().optional(),
  /** Where a self-hosted provider is; Gitea needs one. */
  DAVIT_OAUTH_BASE_URL: publicUrl.optional(),
  /** Seals backups and opens them: for `davit backup` and `davit restore`, never for the server. */
  DAVIT_BACKUP_PASSPHRASE: z.string().optional(),
  /** The engine: unix://, tcp:// (with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH) or ssh://. */
  DOCKER_HOST: z
    .string()
    .regex(/^(unix|tcp|ssh|https?):\/\/./, 'wants unix://, tcp:// or ssh://')
    .optional(),
})

export type Config = Readonly<ReturnType<typeof parseConfig>>

/** A setting that can't be used; its message is the one line to print. */
export class ConfigError extends Error {}

/** Reads the settings. Throws ConfigError with one line that names the key and its rule. */
export function parseConfig(env: Record<string, string | undefined>) {
  const present = Object.entries(env).filter(([, value]) => value !== undefined && value !== '')
  const result = settings.safeParse(Object.fromEntries(present))
  if (!result.success) {
    const issue = result.error.issues[0]!
    throw new ConfigError(`${String(issue.path[0])} ${issue.message}`)
  }
  const set = result.data
  for (const key of ['DAVIT_HOST', 'DAVIT_URL'] as const)
    if (canonicalHost(key === 'DAVIT_HOST' ? set[key] : (set[key]?.hostname ?? '')) === appsAddress)
      throw new ConfigError(`${key} can’t be ${appsAddress}: apps are published there`)
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
    /** Milliseconds that a request waits for work that can take long, before its answer is 202. */
    patience: Math.min(10_000, (set.DAVIT_REQUEST_TIMEOUT * 1000 * 2) / 3),
    streamsPerUser: set.DAVIT_STREAMS_PER_USER,
    networkPool: set.DAVIT_NETWORK_POOL,
    allowHosts: set.DAVIT_ALLOW_HOSTS,
    allowLocalRepos: set.DAVIT_ALLOW_LOCAL_REPOS,
    publishAddress: set.DAVIT_PUBLISH_ADDRESS,
    terminal: set.DAVIT_TERMINAL,
    templatesDir: set.DAVIT_TEMPLATES_DIR ? resolve(set.DAVIT_TEMPLATES_DIR) : null,
    buildConcurrency: set.DAVIT_BUILD_CONCURRENCY,
    buildMemory: set.DAVIT_BUILD_MEMORY ? set.DAVIT_BUILD_MEMORY * 1024 * 1024 : null,
    buildCpus: set.DAVIT_BUILD_CPUS ?? null,
    buildTimeout: set.DAVIT_BUILD_TIMEOUT * 60_000,
    repositorySize: set.DAVIT_REPOSITORY_SIZE * 1024 * 1024,
    builder: set.DAVIT_BUILDER,
    settleTime: set.DAVIT_SETTLE_TIME * 1000,
    logDays: set.DAVIT_LOG_DAYS,
    logSize: set.DAVIT_LOG_SIZE * 1024 * 1024,
    dockerHost: set.DOCKER_HOST,
    oauth: oauthOf(set),
  })
}

const hosted = { github: 'https://github.com', gitlab: 'https://gitlab.com', gitea: null }

/** The login with a provider is whole or not there. */
function oauthOf(set: z.output<typeof settings>) {
  const provider = set.DAVIT_OAUTH_PROVIDER
  if (!provider) return null
  const clientId = set.DAVIT_OAUTH_CLIENT_ID
  const clientSecret = set.DAVIT_OAUTH_CLIENT_SECRET
  const baseUrl = set.DAVIT_OAUTH_BASE_URL?.origin ?? hosted[provider]
  if (!clientId) throw new ConfigError(`DAVIT_OAUTH_CLIENT_ID ${wantedBy(provider)}`)
  if (!clientSecret) throw new ConfigError(`DAVIT_OAUTH_CLIENT_SECRET ${wantedBy(provider)}`)
  if (!baseUrl) throw new ConfigError(`DAVIT_OAUTH_BASE_URL ${wantedBy(provider)}`)
  return { provider, clientId, clientSecret, baseUrl }
}

const wantedBy = (provider: string) => `is wanted by DAVIT_OAUTH_PROVIDER=${provider}`

/** Where people reach this Davit, as far as the settings tell. Without DAVIT_URL: where it listens. */
export const originOf = ({ url, host, port }: Pick<Config, 'url' | 'host' | 'port'>) =>
  url?.origin ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Names that begin like a setting but are none: most often a typing mistake. */
export const unknownSettings = (env: Record<string, string | undefined>) =>
  Object.keys(env).filter((name) => name.startsWith('DAVIT_') && !(name in settings.shape))

/** Settings whose values nobody may read. */
const secretSettings = ['DAVIT_SECRET_KEY', 'DAVIT_OAUTH_CLIENT_SECRET', 'DAVIT_BACKUP_PASSPHRASE']

/** The settings that are set, apart from each other: those that may be told, and secrets. */
export function settingsIn(env: Record<string, string | undefined>) {
  const set = Object.entries(env).filter(([name, value]) => name in settings.shape && value)
  const isSecret = ([name]: [string, unknown]) => secretSettings.includes(name)
  return {
    plain: Object.fromEntries(set.filter((one) => !isSecret(one))) as Record<string, string>,
    secret: Object.fromEntries(set.filter(isSecret)) as Record<string, string>,
  }
}
