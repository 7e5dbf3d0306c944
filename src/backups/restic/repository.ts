import type { Writable } from 'node:stream'
import type { targets } from '../../db/schema.ts'
import type { Granted } from '../../docker/index.ts'
import { splitPort } from '../../platform/hosts.ts'
import { Failure } from '../../platform/errors.ts'

type Row = typeof targets.$inferSelect

/** A target with its secrets in clear. Fields of other kinds are null or missing. */
export type Target = Pick<Row, 'id' | 'ownerId' | 'password'> &
  Partial<Omit<Row, 'kind'>> & { kind: Row['kind'] | 'channel'; channel?: Channel }

/** Carries sftp between restic and a server that something else reaches; it opens a connection for each run. */
export type Channel = (signal: AbortSignal) => {
  /** Writes what the server says. */
  stdin: (to: Writable) => Promise<void>
  /** Reads what restic says. */
  stdout: (from: AsyncIterable<Uint8Array>) => Promise<void>
}

/** How restic reaches a target. Secrets are in the environment and never in the arguments. */
export type Repository = {
  /** In messages. */
  where: string
  env: Record<string, string>
  /** Options of restic. */
  options: string[]
  /** Shell lines that run before it; they read the environment only. */
  setup: string
  /** Null for one that no network is needed for. */
  host: string | null
  granted: Granted
  capabilities: string[]
  secrets: string[]
  channel?: Channel | undefined
}

/** How many may use a repository at a time; one that removes something uses it alone. */
export const sharers = 32

type Reached = Partial<Repository> & Pick<Repository, 'where' | 'host'> & { location: string }

export function repositoryOf(target: Target): Repository {
  const { location, ...reached } = kinds[target.kind](target)
  return {
    options: [],
    setup: '',
    granted: {},
    capabilities: [],
    ...reached,
    env: { ...reached.env, RESTIC_REPOSITORY: location, RESTIC_PASSWORD: target.password },
    secrets: [target.password, ...(reached.secrets ?? [])].filter(Boolean),
  }
}

/** Input and output of the container are the channel, so messages go to its errors. */
const channelSetup = 'exec 3<&0 4>&1 </dev/null >&2'
const channelCommand = `sh -c 'cat <&3 & cat >&4; kill $!'`

const kinds: Record<Target['kind'], (target: Target) => Reached> = {
  s3({ endpoint, bucket, region, path, accessKey, secretKey }) {
    const address = `${withoutSlash(endpoint ?? '')}/${[bucket, path].filter(Boolean).join('/')}`
    return {
      where: address,
      host: new URL(endpoint ?? '').hostname,
      location: `s3:${address}`,
      env: {
        AWS_ACCESS_KEY_ID: accessKey ?? '',
        AWS_SECRET_ACCESS_KEY: secretKey ?? '',
        ...(region && { AWS_DEFAULT_REGION: region }),
      },
      secrets: [secretKey ?? ''],
    }
  },
  sftp(target) {
    const { host = '', user, path, hostKey, key } = target
    return {
      where: `${user}@${host}:${path}`,
      host: splitPort(host ?? '').host,
      location: `sftp:${alias}:${path}`,
      options: ['-o', `sftp.command=${sshCommand}`],
      setup: sshSetup,
      env: {
        DAVIT_SSH_CONFIG: sshConfig(target),
        DAVIT_SSH_KEY: key ?? '',
        DAVIT_SSH_HOST_KEY: hostKey ? `${alias} ${refuseLines(hostKey)}` : '',
      },
      secrets: [key ?? ''],
    }
  },
  rest({ url }) {
    const { username, password } = new URL(url ?? '')
    const bare = Object.assign(new URL(url ?? ''), { username: '', password: '' })
    return {
      where: bare.href,
      host: bare.hostname,
      location: `rest:${url}`,
      secrets: username ? [password, decodeURIComponent(password)] : [],
    }
  },
  channel: ({ path, channel, host }) => ({
    where: `${host}:${path}`,
    host: null,
    location: `sftp:${alias}:${path}`,
    options: ['-o', `sftp.command=${channelCommand}`],
    setup: channelSetup,
    channel,
  }),
  directory: ({ path }) => ({
    where: path ?? '',
    location: inside,
    host: null,
    granted: { binds: [{ source: path ?? '', path: inside, readOnly: false }] },
    // the directory may belong to another user
    capabilities: ['DAC_OVERRIDE'],
  }),
}

/** Where its directory is mounted. */
const inside = '/target'

/** What ssh calls the host, whatever its address is: its key is stored under this name. */
const alias = 'davit-target'

const files = { config: '/tmp/ssh', key: '/tmp/ssh-key', known: '/tmp/ssh-known' }

/** restic ends with its ssh, also before it has passed on what that said: a failure waits for it. */
const sshCommand = `sh -c 'ssh -F ${files.config} ${alias} -s sftp || { sleep 1; exit 1; }'`

const sshSetup = `
(umask 077
put() { printf '%s\\n' "$2" >"$1.$$" && mv "$1.$$" "$1"; } # another run may be reading it
put ${files.config} "$DAVIT_SSH_CONFIG"
put ${files.key} "$DAVIT_SSH_KEY"
put ${files.known} "$DAVIT_SSH_HOST_KEY")
unset DAVIT_SSH_KEY`

/** Prints the key that a host showed when it was first contacted. */
export const printHostKey = `sed -n 's/^${alias} /davit-host-key /p' ${files.known} 2>/dev/null`

/** A host whose key isn't known yet is trusted once, and from then on only with that key. */
function sshConfig({ host, user, hostKey }: Target) {
  const { host: name, port } = splitPort(host ?? '')
  const settings = {
    HostName: name,
    Port: port ?? 22,
    User: user ?? '',
    HostKeyAlias: alias,
    IdentityFile: files.key,
    IdentitiesOnly: 'yes',
    BatchMode: 'yes',
    StrictHostKeyChecking: hostKey ? 'yes' : 'accept-new',
    UserKnownHostsFile: files.known,
    HashKnownHosts: 'no',
    UpdateHostKeys: 'no',
    ConnectTimeout: 15,
    ServerAliveInterval: 15,
    ServerAliveCountMax: 4,
  }
  const lines = Object.entries(settings).map(([name, value]) => `  ${name} ${quoted(value)}`)
  return [`Host ${alias}`, ...lines].join('\n')
}

const quoted = (value: string | number) => `"${refuseLines(String(value))}"`

/** ssh has no escape for them. */
function refuseLines(text: string) {
  if (!/["\\\p{Cc}]/u.test(text)) return text
  throw new Failure(
    'target_invalid',
    'A field of the target has a quote, a backslash or a line break.',
    'Correct its host, user and host key.',
  )
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '')
