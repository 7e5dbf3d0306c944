import { readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../platform/errors.ts'

export type EngineAddress =
  | { kind: 'socket'; text: string; path: string }
  | { kind: 'tcp'; text: string; host: string; port: number; tls: boolean; certPath: string | null }
  | { kind: 'ssh'; text: string; host: string; port: number; username: string | null }

type Environment = Record<string, string | undefined>

/** Null for an engine on this machine. */
export function remoteHost(host: string | undefined): string | null {
  const address = parseAddress(host)
  return address.kind === 'socket' ? null : address.host
}

/** True when a DOCKER_HOST is that socket, by any of its paths. */
export function isSocket(host: string | undefined, path: string): boolean {
  const address = parseAddress(host)
  return address.kind === 'socket' && realPath(address.path) === realPath(path)
}

function realPath(path: string) {
  try {
    return realpathSync(path)
  } catch {
    return path.replace(/^\/var\/run\//, '/run/') // the socket doesn't exist while the engine is off
  }
}

/** Reads a DOCKER_HOST as docker's own client does. Without one it is the local socket. */
export function parseAddress(host: string | undefined, env: Environment = {}): EngineAddress {
  if (!host) return socket('/var/run/docker.sock')
  if (host.startsWith('unix://')) return socket(host.slice('unix://'.length))
  const text = host.includes('://') ? host : `tcp://${host}`
  if (!URL.canParse(text)) throw unusable(host)
  const url = new URL(text)
  if (url.hostname === '') throw unusable(host)
  if (url.protocol === 'ssh:') {
    const username = decodeURIComponent(url.username) || null
    return { kind: 'ssh', text, host: url.hostname, port: Number(url.port) || 22, username }
  }
  if (!['tcp:', 'http:', 'https:'].includes(url.protocol)) throw unusable(host)
  const tls = url.protocol === 'https:' || Boolean(env.DOCKER_TLS_VERIFY)
  const port = Number(url.port) || (tls ? 2376 : 2375)
  const certPath = env.DOCKER_CERT_PATH || null
  return { kind: 'tcp', text, host: url.hostname, port, tls, certPath }
}

function socket(path: string): EngineAddress {
  if (!path.startsWith('/')) throw unusable(`unix://${path}`)
  return { kind: 'socket', text: `unix://${path}`, path }
}

const unusable = (host: string) =>
  new Failure(
    'engine_unreachable',
    `The Docker Engine’s address ${host} is invalid.`,
    'Set DOCKER_HOST to unix:///path/to/docker.sock, tcp://host:port or ssh://user@host.',
  )

/** Docker's own client looks for these three files in DOCKER_CERT_PATH, else in ~/.docker. */
export function readCertificates(certPath: string | null) {
  const folder = certPath ?? join(homedir(), '.docker')
  const read = (name: string) => {
    try {
      return readFileSync(join(folder, name))
    } catch (error) {
      throw new Failure(
        'engine_unreachable',
        `The Docker Engine needs TLS, but ${join(folder, name)} can’t be read.`,
        'Set DOCKER_CERT_PATH to the folder that holds ca.pem, cert.pem and key.pem.',
        { cause: error },
      )
    }
  }
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') }
}
