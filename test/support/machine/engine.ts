import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'

const localSocket = '/var/run/docker.sock'

/** Sends one short request to the engine that `DOCKER_HOST` names, or to the local one. */
export function askEngine(path: string, init: RequestInit = {}) {
  const host = new URL(process.env.DOCKER_HOST || `unix://${localSocket}`)
  if (host.protocol === 'unix:') {
    return fetch(`http://localhost${path}`, { ...init, unix: host.pathname })
  }
  if (host.protocol !== 'tcp:') {
    throw new Error(`DOCKER_HOST is ${host.href}: the demo and the tests want unix:// or tcp://.`)
  }
  const directory = process.env.DOCKER_CERT_PATH
  if (!directory) return fetch(`http://${host.host}${path}`, init)
  const file = (name: string) => Bun.file(join(directory, name))
  const tls = { ca: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem') }
  return fetch(`https://${host.host}${path}`, { ...init, tls })
}

/** Whether the engine answers now; throws where it runs but is not ours to use. */
export async function engineAnswers() {
  if (!process.env.DOCKER_HOST && existsSync(localSocket)) checkAccess()
  try {
    return (await askEngine('/_ping', { signal: AbortSignal.timeout(2000) })).ok
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('DOCKER_HOST')) throw error
    return false
  }
}

function checkAccess() {
  try {
    accessSync(localSocket, constants.R_OK | constants.W_OK)
  } catch {
    throw new Error(`${localSocket} is closed to this user: be root, or in the group docker.`)
  }
}
