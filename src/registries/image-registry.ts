/** Where images without a host come from. */
export const dockerHub = 'docker.io'

const otherNames = ['index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']

/** Whether everyone may have it: Docker's own selection, `busybox` or `library/busybox`. */
export const isOfficial = (reference: string) =>
  registryOf(reference) === dockerHub && /^(([a-z0-9.-]+\/)?library\/)?[^/]+$/.test(reference)

/**
 * The registry of an image reference, by the rule of Docker: a first part with a dot, a port or, since
 * version 23, a capital letter is a host.
 */
export function registryOf(reference: string) {
  const slash = reference.indexOf('/')
  const written = slash === -1 ? '' : reference.slice(0, slash)
  const first = written.toLowerCase()
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== written
  return isHost && !otherNames.includes(first) ? first : dockerHub
}
