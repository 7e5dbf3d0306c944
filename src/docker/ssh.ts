import { readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { EngineAddress } from './address.ts'
import { isKnownHost } from './known-hosts.ts'

/**
 * How to log in over ssh: with the user's agent, else with their key; and only to a host whose key
 * they have accepted before, because whoever answers in its place would be given every secret.
 */
export function sshLogin({ host, port, username }: Extract<EngineAddress, { kind: 'ssh' }>) {
  const agent = process.env.SSH_AUTH_SOCK
  const privateKey = agent ? undefined : findPrivateKey()
  return {
    username: username ?? userInfo().username,
    sshOptions: {
      ...(agent && { agent }),
      ...(privateKey && { privateKey }),
      hostVerifier: (key: Buffer) => isKnownHost(readKnownHosts(), { host, port, key }),
    },
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
