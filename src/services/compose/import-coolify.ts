import { magicVariable, magicName } from './coolify-names.ts'
import { Field } from './field.ts'
import { bindsToVolumes } from './host-binds.ts'
import type { Origin } from './read.ts'
import { readYaml } from './read.ts'
import type { Tree } from './source.ts'
import type { Exposed, Template } from './template.ts'
import { mentionedIn, refuseUnreadable, unknownAbout } from './template.ts'
import type { Variable } from './variables.ts'

/** Told by the comments at its head, or by a name that only Coolify gives a meaning. */
export const isCoolify = (text: string) =>
  /^#\s*(documentation|slogan)\s*:/m.test(text.slice(0, 4000)) ||
  /\bSERVICE_(URL|FQDN|PASSWORD|USER|BASE64|REALBASE64|HEX)_[A-Z0-9]/.test(text)

/**
 * Reads a template of Coolify: the comments at its head say what it is, and names such as
 * `SERVICE_PASSWORD_DB` or `SERVICE_URL_WEB_3000` how values are made and what is published.
 */
export function importCoolify(
  text: string,
  origin: Origin,
  { name, env = new Map() }: { name: string; env?: ReadonlyMap<string, string> },
): Template {
  const { tree: raw, source } = readYaml(text, origin)
  const head = headOf(text)
  const tree = bindsToVolumes(withoutOwnKeys(raw), new Map())
  const services = new Field(tree, ['services'], source).isMap
    ? new Field(tree, [], source).get('services').entries()
    : []
  const names = services.map(([service]) => service)
  const magic = new Set<string>()
  const bare = services.flatMap(([, service]) => environmentNames(service))
  const mentioned = mentionedIn(tree, source, env)
  for (const key of [...bare, ...mentioned.keys()]) if (magicName(key)) magic.add(key)

  const expose = exposed([...magic], names, Number(head.get('port')) || null)
  const portOf = (service: string) => expose.find((e) => e.service === service)?.port ?? null
  const variables = new Map<string, Variable>()
  for (const key of magic) variables.set(key, magicVariable(key, names, portOf))
  for (const [key, variable] of mentioned) if (!magic.has(key)) variables.set(key, variable)
  // a token is signed with a value that the file may mention nowhere else
  for (const { generate } of [...variables.values()])
    if (generate?.kind === 'jwt' && generate.key && !variables.has(generate.key))
      variables.set(generate.key, { ...magicVariable(generate.key, names, portOf), hidden: true })

  const template = {
    about: aboutFrom(head, name),
    expose,
    connection: [],
    variables,
    files: new Map(),
    after: null,
    tree,
    source,
  }
  refuseUnreadable(template)
  return template
}

/** `# key: value` lines before the first line of YAML. */
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
  ...unknownAbout(name),
  description: head.get('slogan') ?? '',
  category: head.get('category') ?? 'other',
  tags: (head.get('tags') ?? '').split(',').flatMap((tag) => tag.trim() || []),
  links: /^https?:\/\/\S+$/.test(head.get('documentation') ?? '')
    ? { docs: head.get('documentation')! }
    : {},
})

/** Each service with an address of its own, at the port that its name or the head tells. */
function exposed(magic: string[], services: string[], port: number | null): Exposed[] {
  const found = new Map<string, Exposed>()
  for (const key of magic) {
    const address = magicName(key)
    if (address?.type !== 'URL' && address?.type !== 'FQDN') continue
    const { service, port: own } = address.target(services)
    const at = own ?? found.get(service)?.port ?? null
    if (at !== null) found.set(service, { service, port: at, path: '/' })
    else if (port !== null && !found.has(service)) found.set(service, { service, port, path: '/' })
  }
  const [first] = services
  if (found.size === 0 && port !== null && first) return [{ service: first, port, path: '/' }]
  return [...found.values()]
}

const environmentNames = (service: Field) => {
  const environment = service.get('environment')
  if (environment.isList) return environment.items().map((item) => item.text().split('=', 1)[0]!)
  return environment.entries().map(([key]) => key)
}

/** Compose does not have them; a path behind the name of an address belongs to the address. */
function withoutOwnKeys(tree: Tree): Tree {
  if (!(tree instanceof Map)) return tree
  const services = tree.get('services')
  if (!(services instanceof Map)) return tree
  const changed = new Map(
    [...services].map(([name, service]): [string, Tree] => {
      if (!(service instanceof Map)) return [name, service]
      const kept = new Map([...service].filter(([key]) => key !== 'exclude_from_hc'))
      const environment = kept.get('environment')
      if (environment !== undefined) kept.set('environment', withPaths(environment))
      return [name, kept]
    }),
  )
  return new Map([...tree, ['services', changed]])
}

function withPaths(environment: Tree): Tree {
  const withPath = (key: string, value: Tree): Tree =>
    /^SERVICE_(URL|FQDN)_/.test(key) && typeof value === 'string' && value.startsWith('/')
      ? `\${${key}}${value}`
      : value
  if (environment instanceof Map)
    return new Map([...environment].map(([key, value]) => [key, withPath(key, value)]))
  if (!Array.isArray(environment)) return environment
  return environment.map((entry) => {
    const [, key, value] = typeof entry === 'string' ? (/^([^=]+)=(.*)$/s.exec(entry) ?? []) : []
    return key === undefined ? entry : `${key}=${withPath(key, value!)}`
  })
}
