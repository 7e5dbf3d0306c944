import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RepositoryUrl } from './repository-url.ts'
import type { GitSetup } from './run.ts'
import { keyDirectory } from './folders.ts'

/** The password may be a token. Only the base URL may receive them. */
export type Credential = { baseUrl: string; username: string; password: string }

export type Keys = {
  /** Only for http:// and https:// below its base URL. */
  credential?: Credential | null | undefined
  /** An OpenSSH private key, only for ssh:// and git@. */
  deployKey?: string | null | undefined
}

export type OwnKeys = {
  env: Record<string, string>
  /** The value of the Authorization header that `env` makes git send. */
  header: string | null
  /** Must never appear in git's output. */
  secrets: string[]
  deployKey: string | null
  /** Separates the mirrors of different keys; empty without a credential. */
  id: string
  kind: 'token' | 'key' | null
}

const none: OwnKeys = { env: {}, header: null, secrets: [], deployKey: null, id: '', kind: null }

export function keysFor(url: RepositoryUrl, { credential, deployKey }: Keys): OwnKeys {
  if (url.protocol === 'ssh' && deployKey) {
    return { ...none, deployKey, id: fingerprint(deployKey), kind: 'key' }
  }
  if (!credential || !isBelow(url.href, credential.baseUrl)) return none
  const { username, password } = credential
  const basic = btoa(`${username}:${password}`)
  const header = `Basic ${basic}`
  return {
    // Environment variables are private to the process and never on disk. git only sends the header to
    // addresses below this one.
    env: {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${withoutSlash(credential.baseUrl)}/.extraHeader`,
      GIT_CONFIG_VALUE_0: `Authorization: ${header}`,
    },
    header,
    secrets: [basic, password],
    deployKey: null,
    id: fingerprint(`${username}:${password}`),
    kind: 'token',
  }
}

/** Keeps the key in a file that ssh can read while `work` runs. */
export async function withKeyFile<T>(
  { home }: GitSetup,
  deployKey: string | null,
  work: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  if (deployKey === null) return work({})
  const directory = keyDirectory(home)
  const path = join(directory, Bun.randomUUIDv7())
  await mkdir(directory, { recursive: true, mode: 0o700 })
  try {
    await writeFile(path, deployKey, { mode: 0o600, flag: 'wx' })
    return await work({ DAVIT_SSH_KEY: path })
  } finally {
    await rm(path, { force: true })
  }
}

function isBelow(href: string, baseUrl: string): boolean {
  const [url, base] = [new URL(href), new URL(withoutSlash(baseUrl))]
  return (
    url.origin === base.origin && url.pathname.startsWith(`${base.pathname.replace(/\/$/, '')}/`)
  )
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '')

const fingerprint = (key: string) =>
  new Bun.CryptoHasher('sha256').update(key).digest('hex').slice(0, 16)
