export const dockerHub = 'docker.io'

const otherNames = ['index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']

/** The one name of a registry, by which its login is found. */
export const registryNamed = (host: string) => (otherNames.includes(host) ? dockerHub : host)

/** True for Docker's official images, which are public: `busybox` or `library/busybox`. */
export const isOfficial = (reference: string) =>
  registryOf(reference) === dockerHub && /^(([a-z0-9.-]+\/)?library\/)?[^/]+$/.test(reference)

export const registryOf = (reference: string) => split(reference).registry

/** Docker's rule: the first part is a host if it has a dot, a port or, since version 23, a capital letter. */
function split(reference: string) {
  const slash = reference.indexOf('/')
  const written = slash === -1 ? '' : reference.slice(0, slash)
  const first = written.toLowerCase()
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== written
  const registry = isHost ? registryNamed(first) : dockerHub
  return { registry, rest: isHost ? reference.slice(slash + 1) : reference }
}

export type ImageReference = NonNullable<ReturnType<typeof parseReference>>

const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const grammar = new RegExp(
  `^(${part}(?:/${part})*)` + /(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/.source,
)

/** Adds the parts that Docker assumes, so that it can't be mistaken for an image id; null when invalid. */
export function parseReference(text: string) {
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

/** The full form, such as `docker.io/library/busybox:latest`. */
export const writtenOut = (reference: ImageReference) =>
  repositoryOf(reference) +
  (reference.tag ? `:${reference.tag}` : '') +
  (reference.digest ? `@${reference.digest}` : '')
