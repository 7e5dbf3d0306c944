import Modem from 'docker-modem'
import type { EngineAddress } from './address.ts'
import { readCertificates } from './address.ts'
import type { PinnedLogin } from './ssh.ts'

/** The client for what Bun's own fetch can't do. The ssh code is only loaded for an engine behind ssh. */
export async function openModem(address: EngineAddress, login: PinnedLogin | undefined) {
  // every key is set, because docker-modem fills missing ones from the environment
  const base = {
    socketPath: undefined,
    host: undefined,
    port: undefined,
    protocol: 'http',
  } as const
  switch (address.kind) {
    case 'socket':
      return new Modem({ ...base, socketPath: address.path })
    case 'tcp': {
      const { host, port, tls, certPath } = address
      if (!tls) return new Modem({ ...base, host, port })
      return new Modem({ ...base, host, port, protocol: 'https', ...readCertificates(certPath) })
    }
    case 'ssh': {
      const { SshAgent } = await import('./ssh-agent.ts')
      // @ts-expect-error it has no types
      const { default: connectSsh } = await import('docker-modem/lib/ssh.js')
      return new Modem({
        ...base,
        host: 'docker',
        agent: new SshAgent({ ...address, login }, connectSsh),
      })
    }
  }
}
