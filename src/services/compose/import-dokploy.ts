import { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import { dokployText, dokployVariables, isNamed } from './dokploy-values.ts'
import { mapServices } from './field.ts'
import { maxInFile } from './interpolate.ts'
import { normalPath } from './mounts.ts'
import type { Origin } from '../../platform/yaml.ts'
import { maxFileBytes, readYaml } from '../../platform/yaml.ts'
import type { Tree } from '../../platform/yaml-source.ts'
import type { FileContent, Template } from './template.ts'
import { mentionedIn, refuseUnreadable, undeclared } from './template.ts'
import type { Variable } from './variables.ts'
import { looksSecret } from '../../logs/secret-names.ts'
import { variable } from './variables.ts'
import { jsonOrNull } from '../../platform/json.ts'

export type DokployFiles = { compose: string; config: string }

const value = z.union([z.string(), z.number(), z.boolean()]).transform(String)

const values = (max: number) =>
  z
    .record(z.string(), value)
    .refine((entries) => Object.keys(entries).length <= max, `has more than ${max} entries`)

/** For the environment; entries that aren't values are ignored. */
const pairs = z.preprocess((table) => {
  if (typeof table !== 'object' || table === null || Array.isArray(table)) return table
  return Object.fromEntries(Object.entries(table).filter(([, entry]) => typeof entry !== 'object'))
}, values(500))

const shape = z.object({
  variables: values(500).default({}),
  config: z
    .object({
      domains: z
        .array(
          z.object({
            serviceName: z.string(),
            port: z.coerce.number().int().min(1).max(65_535),
            host: z.string().optional(),
          }),
        )
        .max(100, 'has more than 100 entries')
        .default([]),
      env: z.union([pairs, z.array(z.union([z.string(), pairs])).max(500)]).default({}),
      mounts: z
        // Other keys describe volumes, which the Compose file has anyway.
        .array(z.object({ filePath: z.string().optional(), content: z.string().optional() }))
        .max(100, 'has more than 100 entries')
        .default([]),
    })
    .default({ domains: [], env: {}, mounts: [] }),
})

/** Reads Dokploy's import text: base64 of JSON with Compose file and template.toml. Null for other text. */
export function unpackDokploy(blob: string): DokployFiles | null {
  const text = blob.replace(/\s+/g, '')
  if (text.length > 2 * maxFileBytes || !/^[A-Za-z0-9+/]{16,}={0,2}$/.test(text)) return null
  const json = jsonOrNull(Buffer.from(text, 'base64').toString('utf8'))
  return z.object({ compose: z.string(), config: z.string() }).safeParse(json).data ?? null
}

/** Reads a template of Dokploy: its Compose file and its template.toml. */
export function importDokploy(
  { compose, config }: DokployFiles,
  origin: Origin,
  { name }: { name: string },
): Template {
  const { variables: texts, config: said } = tomlOf(config, origin)
  const named = new Map(Object.entries(texts))
  const { tree: raw, source } = readYaml(compose, origin)
  const { domains, mounts } = said
  const variables = dokployVariables(named, domains)

  const files = new Map<string, FileContent>()
  for (const { filePath, content } of mounts) {
    if (filePath === undefined || content === undefined) continue
    const key = `file ${filePath}`
    variables.set(key, dokployText(key, content, variables, domains))
    files.set(normalPath(`../files/${filePath.replace(/^\/+/, '')}`), { variable: key })
  }
  const env = new Map(environmentOf(said.env))
  const tree = withEnvFile(withoutTheirNetwork(raw), [...env.keys()])
  for (const [key, text] of env) {
    const whole = named.get(/^\$\{(\w+)\}$/.exec(text)?.[1] ?? '') ?? text
    // A variable that only refers to itself must be set by the user.
    const [, self, fallback] = /^\$\{(\w+)(?::?-([^{}]*))?\}$/.exec(whole) ?? []
    if (self !== key || isNamed(variables, key))
      variables.set(key, shown(dokployText(key, text, variables, domains, env)))
    else if (fallback !== undefined)
      variables.set(key, variable(key, { default: fallback, secret: looksSecret(key) }))
  }
  for (const [key, found] of mentionedIn(tree, source)) {
    const made = variables.get(key)
    if (!made) variables.set(key, found)
    // The user must replace an empty value if the file requires one.
    else if (found.required && made.default === '')
      variables.set(key, { ...made, required: true, default: null })
  }

  const expose = domains.map(({ serviceName, port }) => ({ service: serviceName, port }))
  const parts = { expose, variables, files, foreign: true, tree, source }
  const template = undeclared({ name }, parts)
  refuseUnreadable(template)
  return template
}

/** Limits keys and tables, since the parser compares each with each. */
const maxSigns = 5_000

function tomlOf(text: string, { field }: Origin) {
  const refuse = (complaint: string, cause?: unknown) => {
    const message = `template.toml: ${complaint}`
    return new AppError('invalid', message, { cause, fields: field ? [{ field, message }] : [] })
  }
  if (text.length > maxFileBytes) throw refuse('This is larger than 1 MiB. Shorten it.')
  if ((text.match(/[=[]/g)?.length ?? 0) > maxSigns)
    throw refuse(`This has more than ${maxSigns} of the signs = and [. Shorten it.`)
  let parsed: unknown
  try {
    parsed = Bun.TOML.parse(text)
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : 'it can’t be read'
    throw refuse(`This isn’t valid TOML: ${said}. Correct it.`, cause)
  }
  const { data, error } = shape.safeParse(parsed)
  if (!data) {
    const { path, message } = error.issues[0]!
    throw refuse(`${path.join('.')}: ${message}. Correct it.`)
  }
  return data
}

type Env = Record<string, string>

/** Reads a table, or a list of `KEY=value` and tables. */
const environmentOf = (env: Env | (string | Env)[]): [string, string][] =>
  (Array.isArray(env) ? env : [env]).flatMap((entry): [string, string][] => {
    if (typeof entry !== 'string') {
      const name = entry.key ?? entry.name
      const { value } = entry
      return name !== undefined && value !== undefined ? [[name, value]] : Object.entries(entry)
    }
    // A line of a .env file, which may be a comment.
    const [, name, value] = /^\s*([A-Za-z_][\w.-]*)\s*=(.*)$/s.exec(entry) ?? []
    return name === undefined ? [] : [[name, value!.replace(/^(["'])(.*)\1$/s, '$2')]]
  })

/** Replaces the `.env` beside the Compose file, which has the config's environment. */
function withEnvFile(tree: Tree, names: string[]): Tree {
  const services = tree instanceof Map ? tree.get('services') : null
  if (!(services instanceof Map)) return tree
  const isEnv = (file: Tree): boolean =>
    file instanceof Map ? isEnv(file.get('path') ?? null) : /^(\.\/)?\.env$/.test(String(file))
  const filesOf = (service: Tree): Tree[] => {
    const found = service instanceof Map ? (service.get('env_file') ?? null) : null
    return Array.isArray(found) ? found : [found]
  }
  const mentions = names
    .filter((name) => /^[A-Za-z_]\w*$/.test(name))
    .map((name): [string, string] => [name, `\${${name}}`])
  const users = [...services.values()].filter((service) => filesOf(service).some(isEnv))
  if (users.length * mentions.length > maxInFile)
    throw new AppError(
      'invalid',
      `${users.length} services use ${mentions.length} variables each from .env; the maximum is ${maxInFile} in total. Split the file.`,
    )
  return mapServices(tree, (service) => {
    const files = filesOf(service)
    if (!files.some(isEnv)) return service
    const own = service.get('environment') ?? null
    const environment = Array.isArray(own)
      ? [...mentions.map((pair) => pair.join('=')), ...own]
      : new Map([...mentions, ...(own instanceof Map ? own : [])])
    const others: [string, Tree] = ['env_file', files.filter((file) => !isEnv(file))]
    return new Map([...service, ['environment', environment], others])
  })
}

/** Users can change plain values, but not those that depend on others. */
const shown = (made: Variable): Variable => {
  const { generate, name } = made
  const [only] = generate?.kind === 'composed' && generate.parts.length <= 1 ? generate.parts : []
  if (generate?.kind === 'composed' && generate.parts.length === 0)
    return variable(name, { default: '' })
  return typeof only === 'string'
    ? variable(name, { default: only, secret: looksSecret(name) })
    : { ...made, secret: looksSecret(name) }
}

/** Removes the network of Dokploy's proxy, since Davit's routing doesn't need it. */
const withoutTheirNetwork = (tree: Tree) =>
  mapServices(tree instanceof Map ? withoutIt(tree) : tree, withoutIt)

function withoutIt(node: Map<string, Tree>): Map<string, Tree> {
  const networks = node.get('networks')
  const isOther = (name: Tree) => name !== 'dokploy-network'
  if (Array.isArray(networks)) return new Map([...node, ['networks', networks.filter(isOther)]])
  if (!(networks instanceof Map)) return node
  const others = new Map([...networks].filter(([name]) => isOther(name)))
  return new Map([...node, ['networks', others]])
}
