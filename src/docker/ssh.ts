import { readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { EngineAddress } from './address.ts'

/** A login of Davit’s own, to a host whose key (in base64) is known. */
export type PinnedLogin = { privateKey: string; hostKey: string }

/** Which server’s engine it is, and its login; by default the user’s. */
export type Access = { serverId?: string; login?: PinnedLogin | undefined }

export type SshAddress = Extract<EngineAddress, { kind: 'ssh' }> & {
  login?: PinnedLogin | undefined
}

/**
 * Logs in with the user's agent, else with their key; and only to a host whose key they have accepted before,
 * because an impostor would get every secret.
 */
export function sshLogin({ host, port, username, login }: SshAddress) {
  if (login) {
    const hostVerifier = (key: Buffer) => key.toString('base64') === login.hostKey
    return { username: username ?? userInfo().username, privateKey: login.privateKey, hostVerifier }
  }
  const agent = process.env.SSH_AUTH_SOCK
  const privateKey = agent ? undefined : findPrivateKey()
  return {
    username: username ?? userInfo().username,
    ...(agent && { agent }),
    ...(privateKey && { privateKey }),
    hostVerifier: (key: Buffer) => isKnownHost(readKnownHosts(), { host, port, key }),
  }
}

const findPrivateKey = () =>
  ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => readOwn(name)).find(Boolean)

const readKnownHosts = () =>
  [readOwn('known_hosts'), readIfThere('/etc/ssh/ssh_known_hosts')].join('\n')

const readOwn = (name: string) => readIfThere(join(homedir(), '.ssh', name))

function readIfThere(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

export type HostKey = { host: string; port: number; key: Buffer }

/** True when a known_hosts text contains the key; one marked as revoked never matches. */
export function isKnownHost(knownHosts: string, { host, port, key }: HostKey): boolean {
  const name = port === 22 ? host : `[${host}]:${port}`
  const matching = knownHosts
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map((words) => (words[0]?.startsWith('@') ? words : ['', ...words]))
    .filter(([, names = '', , base64 = '']) => names && key.equals(Buffer.from(base64, 'base64')))
    .filter(([, names = '']) => names.split(',').some((pattern) => isName(pattern, name)))
    .map(([marker]) => marker)
  return matching.includes('') && !matching.includes('@revoked')
}

/** Names are plain or hashed: `|1|salt|hash`. */
function isName(pattern: string, name: string) {
  if (!pattern.startsWith('|1|')) return pattern === name
  const [, , salt = '', hash = ''] = pattern.split('|')
  return (
    new Bun.CryptoHasher('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash
  )
}
