/** The registry of images without a host. */
export const dockerHub = 'docker.io'

const otherNames = ['index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']

/** Whether it is public: Docker's official images, `busybox` or `library/busybox`. */
export const isOfficial = (reference: string) =>
  registryOf(reference) === dockerHub && /^(([a-z0-9.-]+\/)?library\/)?[^/]+$/.test(reference)

/** The registry of an image reference. */
export const registryOf = (reference: string) => split(reference).registry

/** By the rule of Docker: a first part with a dot, a port or, since version 23, a capital letter is a host. */
function split(reference: string) {
  const slash = reference.indexOf('/')
  const written = slash === -1 ? '' : reference.slice(0, slash)
  const first = written.toLowerCase()
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== written
  const registry = isHost && !otherNames.includes(first) ? first : dockerHub
  return { registry, rest: isHost ? reference.slice(slash + 1) : reference }
}

export type ImageReference = {
  registry: string
  path: string
  tag: string | null
  digest: string | null
}

const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const grammar = new RegExp(
  `^(${part}(?:/${part})*)` + /(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/.source,
)

/**
 * The full form of a reference, with all that Docker adds; null when it isn't one. In full it is
 * never taken for the id of an image.
 */
export function parseReference(text: string): ImageReference | null {
  if (text.length > 500) return null
  const { registry, rest } = split(text)
  const [, path, tag, digest] = grammar.exec(rest) ?? []
  if (!path) return null
  const isShort = registry === dockerHub && !path.includes('/')
  return {
    registry,
    path: isShort ? `library/${path}` : path,
    tag: tag ?? (digest ? null : 'latest'),
    digest: digest ?? null,
  }
}

export const repositoryOf = ({ registry, path }: ImageReference) => `${registry}/${path}`

/** In full: `docker.io/library/busybox:latest`. */
export const writtenOut = (reference: ImageReference) =>
  repositoryOf(reference) +
  (reference.tag ? `:${reference.tag}` : '') +
  (reference.digest ? `@${reference.digest}` : '')
