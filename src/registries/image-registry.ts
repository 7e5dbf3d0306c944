/** Where images without a host come from. */
export const dockerHub = 'docker.io'

const otherNames = ['index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']

/** The registry of an image reference, by the rule of Docker: a first part with a dot or a port is a host. */
export function registryOf(reference: string) {
  const slash = reference.indexOf('/')
  const first = slash === -1 ? '' : reference.slice(0, slash).toLowerCase()
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost'
  return isHost && !otherNames.includes(first) ? first : dockerHub
}
