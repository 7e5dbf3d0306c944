import {
  isAddress,
  magicName,
  magicVariable,
  placesAmong,
  portAt,
  splitId,
} from './coolify-names.ts'
import type { PlaceOf } from './coolify-names.ts'
import { Field, mapServices } from './field.ts'
import { normalPath } from './mounts.ts'
import type { Origin } from '../../platform/yaml.ts'
import { mentionsIn } from './interpolate.ts'
import { readYaml } from '../../platform/yaml.ts'
import type { Source, Tree } from '../../platform/yaml-source.ts'
import type { FileContent, Template } from './template.ts'
import { mentionedIn, ofImage, refuseUnreadable, undeclared } from './template.ts'

/** Recognised by the comments at its start, or by a name that only Coolify uses. */
export const isCoolify = (text: string) =>
  /^#\s*(documentation|slogan|category)\s*:/m.test(text.slice(0, 4000)) ||
  /\bSERVICE_(URL|FQDN|PASSWORD|USER|BASE64|REALBASE64|HEX)_[A-Z0-9]/.test(text)

/**
 * Reads a template of Coolify. The comments at its start describe it. Names such as `SERVICE_PASSWORD_DB` or
 * `SERVICE_URL_WEB_3000` say how values are generated and what is published.
 */
export function importCoolify(
  text: string,
  origin: Origin,
  { name, env = new Map() }: { name: string; env?: ReadonlyMap<string, string> },
): Template {
  const { tree: raw, source } = readYaml(text, origin)
  const head = headOf(text)
  const tree = asCompose(raw)
  const root = new Field(tree, [], source)
  const services = root.get('services').isMap ? root.get('services').entries() : []
  const mentioned = mentionedIn(tree, source, env, { isCoolify: true })
  const uses = usesIn(services, tree, source)
  const placeOf = placesAmong(
    services.map(([service]) => service),
    usersOf(uses),
  )
  const expose = exposed(uses, placeOf, { services, port: portAt(head.get('port') ?? '') })
  const portOf = (service: string) => expose.find((e) => e.service === service)?.port ?? null
  const places = { placeOf, portOf }
  const magic = [...new Set(uses.map(({ name }) => name))]
  const variables = new Map(magic.map((name) => [name, magicVariable(name, places)]))
  for (const [name, variable] of mentioned) if (!variables.has(name)) variables.set(name, variable)
  // A token may be signed with a value that appears nowhere else in the file.
  for (const { generate } of [...variables.values()])
    if (generate?.kind === 'jwt' && generate.key && !variables.has(generate.key))
      variables.set(generate.key, { ...magicVariable(generate.key, places), hidden: true })

  const parts = { expose, variables, files: filesOf(tree), foreign: true, tree, source }
  const template = undeclared(aboutFrom(head, name), parts)
  refuseUnreadable(template)
  return template
}

/** Reads `# key: value` lines before the first line of YAML. */
function headOf(text: string) {
  const found = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() !== '' && !line.startsWith('#')) break
    const [, key, value] = /^#\s*([a-z_]+)\s*:\s*(.*?)\s*$/.exec(line.slice(0, 2000)) ?? []
    if (key && value) found.set(key, value)
  }
  return found
}

const aboutFrom = (head: Map<string, string>, name: string) => ({
  name,
  description: head.get('slogan') ?? '',
  category: head.get('category') ?? 'other',
  tags: (head.get('tags') ?? '').split(',').flatMap((tag) => tag.trim() || []),
  links: /^https?:\/\/\S+$/.test(head.get('documentation') ?? '')
    ? { docs: head.get('documentation')! }
    : {},
})

/** One of Coolify's names in a service: as a key of its environment, which takes precedence, or in a text. */
type Use = { name: string; service: string }

function usesIn(services: [string, Field][], tree: Tree, source: Source): Use[] {
  const declared = services.flatMap(([service, field]) =>
    environmentNames(field).map((name) => ({ name, service })),
  )
  const mentioned = mentionsIn(tree, source).map(({ name, path }) => ({
    name,
    service: path[0] === 'services' ? String(path[1]) : '',
  }))
  return [...declared, ...mentioned].filter(({ name }) => magicName(name))
}

function usersOf(uses: Use[]) {
  const users = new Map<string, string>()
  for (const { name, service } of uses) {
    const id = splitId(magicName(name)!.id).name
    if (isAddress(name) && service !== '' && !users.has(id)) users.set(id, service)
  }
  return users
}

/**
 * Returns each service with an address: at all ports in its names, else at the port in the file's head, else
 * at the first port of the service itself, else at that of its image.
 */
function exposed(
  uses: Use[],
  placeOf: PlaceOf,
  { services, port: ofHead }: { services: [string, Field][]; port: number | null },
): Template['expose'] {
  const places = uses
    .filter(({ name }) => isAddress(name))
    .map(({ name }) => placeOf(magicName(name)!.id))
  const [first] = services
  if (places.length === 0 && ofHead !== null && first)
    places.push({ service: first[0], port: null })
  const found = new Map<string, Template['expose'][number]>()
  for (const { service, port: own } of places) {
    const field = services.find(([name]) => name === service)?.[1]
    const isTold = own === null && places.some((other) => other.service === service && other.port)
    const port = own ?? ofHead ?? (field && declaredPort(field)) ?? ofImage
    if (field && !isTold) found.set(`${service} ${port}`, { service, port })
  }
  return [...found.values()]
}

function declaredPort(service: Field): number | null {
  for (const entry of [...service.get('expose').items(), ...service.get('ports').items()]) {
    const target = entry.isMap ? entry.get('target') : entry
    const [, port] = /(\d{1,5})\}?(?:\/tcp)?$/.exec(target.text()) ?? []
    if (port !== undefined) return Number(port)
  }
  return null
}

const environmentNames = (service: Field) => {
  const environment = service.get('environment')
  if (environment.isList) return environment.items().map((item) => item.text().split('=', 1)[0]!)
  return environment.entries().map(([key]) => key)
}

/**
 * Converts what Compose doesn't support: a path after the name of an address becomes part of the address, and
 * a required value with a variable in its error message falls back to it.
 */
const asCompose = (tree: Tree) =>
  mapServices(tree, (service) => {
    const kept = new Map([...service].filter(([key]) => key !== 'exclude_from_hc'))
    const environment = kept.get('environment')
    const volumes = kept.get('volumes')
    if (environment !== undefined) kept.set('environment', withPaths(environment))
    if (Array.isArray(volumes)) kept.set('volumes', volumes.map(withLiteralContent))
    return kept
  })

/** Escapes dollar signs: in Coolify's files they are for the program, and never a reference. */
function withLiteralContent(mount: Tree): Tree {
  const content = mount instanceof Map ? mount.get('content') : null
  if (!(mount instanceof Map) || typeof content !== 'string') return mount
  return new Map([...mount, ['content', content.replaceAll('$', '$$$$')]])
}

/** By path, as another service may mount the same file without its content. */
function filesOf(tree: Tree): Map<string, FileContent> {
  const services = tree instanceof Map ? tree.get('services') : null
  const mounts = services instanceof Map ? [...services.values()].flatMap(mountsOf) : []
  return new Map(
    mounts.flatMap((mount): [string, FileContent][] => {
      const [source, text] = [mount.get('source'), mount.get('content')]
      const isFile = typeof source === 'string' && typeof text === 'string'
      return isFile && source.startsWith('.') ? [[normalPath(source), { text }]] : []
    }),
  )
}

function mountsOf(service: Tree) {
  const mounts = service instanceof Map ? service.get('volumes') : null
  return (Array.isArray(mounts) ? mounts : []).filter((mount) => mount instanceof Map)
}

function withPaths(environment: Tree): Tree {
  const withPath = (key: string, value: Tree): Tree => {
    if (typeof value !== 'string') return value
    if (/^SERVICE_(URL|FQDN)_/.test(key) && value.startsWith('/')) return `\${${key}}${value}`
    // Coolify treats the text after `:?` as a fallback, which may be a generated value.
    return value.replace(/(?<=\$\{\w{1,256}):\?(?=\$)/g, ':-')
  }
  if (environment instanceof Map)
    return new Map([...environment].map(([key, value]) => [key, withPath(key, value)]))
  if (!Array.isArray(environment)) return environment
  return environment.map((entry) => {
    const [, key, value] = typeof entry === 'string' ? (/^([^=]+)=(.*)$/s.exec(entry) ?? []) : []
    return key === undefined ? entry : `${key}=${withPath(key, value!)}`
  })
}
