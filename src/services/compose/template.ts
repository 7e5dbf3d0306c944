import { declarationOf } from './declaration.ts'
import { notesOn } from './env-file.ts'
import { Field } from './field.ts'
import { interpolate, interpolateText, mentionsIn, roomForFile } from './interpolate.ts'
import type { Stack } from './model.ts'
import { isOneShot } from './model.ts'
import { normalPath } from './mounts.ts'
import { readStack } from './read-stack.ts'
import type { Origin } from '../../platform/yaml.ts'
import { readYaml } from '../../platform/yaml.ts'
import type { Source, Tree } from '../../platform/yaml-source.ts'
import { Refusal, valueAt } from '../../platform/yaml-source.ts'
import type { Variable } from './variables.ts'
import { looksSecret } from '../../logs/secret-names.ts'
import { withDerived } from './values.ts'
import type { Values } from './variables.ts'
import { variable } from './variables.ts'

/** A file of the catalogue or of a user, in any of the supported formats. */
export type Template = Omit<ReturnType<typeof declarationOf>, 'files'> & {
  /** By normalised path. Texts may use variables like the rest of the file. */
  files: Map<string, FileContent>
  /** As in `ReadOptions`. */
  foreign: boolean
  /** The Compose file without its `x-davit`, with variables unexpanded. */
  tree: Tree
  source: Source
}

export type About = Template['about']

/** Represents the first port that the service's image exposes, until the image is pulled. */
export const ofImage = 0

export type FileContent = { text: string } | { variable: string }

/** Variables for the instance's address, which any file may use without declaring them. */
export const builtIn = ['DAVIT_URL', 'DAVIT_HOST']

/** `connection` and `provides` may also use the name under which linked apps reach the instance. */
export const hostVariable = 'HOST'

/**
 * Reads a template of the catalogue. It must have an `x-davit` block, declare and use every variable, and
 * have a health check for each service that keeps running. Throws `invalid` for the first violation.
 */
export function readTemplate(text: string, origin: Origin): Template {
  const { tree, source } = readYaml(text, origin)
  const root = new Field(tree, [], source)
  const block = root.get('x-davit')
  if (block.absent) throw root.refuse('This has no x-davit block. Add one with a name.')
  const template = declared(root, block, source)
  const stack = stackOf(template, samplesOf(template))
  refuseUnwatched(stack, root)
  return template
}

/** The name of a `.env` beside the file, and of the variable that holds its text. */
export const dotenv = '.env'

/**
 * Reads a user's Compose file. Without `x-davit`, its variables are those that it uses, with values from the
 * `.env` beside it, which `env_file` may name.
 */
export function readCompose(
  text: string,
  origin: Origin,
  { env }: { env?: ReadonlyMap<string, string> } = {},
): Template {
  const { tree, source } = readYaml(text, origin)
  const root = new Field(tree, [], source)
  const block = root.get('x-davit')
  const template = block.absent
    ? undeclared(
        { name: root.get('name').or('compose', (name) => name.text()) },
        { variables: mentionedIn(tree, source, env), tree, source },
      )
    : declared(root, block, source)
  if (env) template.files.set(dotenv, { variable: dotenv })
  refuseUnreadable(template)
  return template
}

/** Expands the template's variables. */
export function stackOf(
  { tree, source, files, foreign }: Pick<Template, 'tree' | 'source' | 'files' | 'foreign'>,
  values: ReadonlyMap<string, string>,
): Stack {
  const lookup = (name: string) => values.get(name)
  const room = roomForFile()
  const own = [...files].map(([path, content]): [string, string] => [
    path,
    'text' in content
      ? interpolateText(content.text, lookup, room)
      : (values.get(content.variable) ?? ''),
  ])
  const expanded = own.flatMap(([path]) => ('text' in files.get(path)! ? [path] : []))
  const stack = readStack(interpolate(tree, source, lookup, room), source, {
    files: new Map(own),
    expanded: new Set(expanded),
    lookup,
    foreign,
  })
  stack.notes.push(...notesOn(values.get(dotenv) ?? '', lookup))
  return stack
}

/**
 * Returns the variables that a file uses and a user may set. For a file of Coolify's, a fallback applies to
 * every use, and the text after `:?` is a fallback too.
 */
export function mentionedIn(
  tree: Tree,
  source: Source,
  env: ReadonlyMap<string, string> = new Map(),
  { isCoolify = false } = {},
): Map<string, Variable> {
  const found = new Map<string, Variable>()
  for (const { name, required, fallback, message } of mentionsIn(tree, source)) {
    if (builtIn.includes(name)) continue
    const before = found.get(name)
    // With two different fallbacks, each use keeps its own.
    const differs = before && before.default !== fallback
    const own = isCoolify
      ? (before?.default ?? fallback ?? (message.includes('$') ? null : message || null))
      : differs
        ? null
        : fallback
    found.set(
      name,
      variable(name, {
        default: env.get(name) ?? own,
        required: required || (before?.required ?? false),
        secret: looksSecret(name),
      }),
    )
  }
  const root = new Field(tree, [], source)
  for (const name of passedOn(root))
    if (!found.has(name) && !builtIn.includes(name))
      found.set(name, variable(name, { default: env.get(name) ?? null, secret: looksSecret(name) }))
  for (const name of heldBy(root.get('secrets'))) {
    const held = found.get(name)
    if (held) found.set(name, { ...held, secret: true })
  }
  return found
}

function declared(root: Field, block: Field, source: Source): Template {
  const { files, ...said } = declarationOf(block, root)
  const tree = new Map([...(root.value as Map<string, Tree>)].filter(([key]) => key !== 'x-davit'))
  const template = {
    ...said,
    files: new Map([...files].map(([path, text]) => [normalPath(path), { text }])),
    foreign: false,
    tree,
    source,
  }
  const used = [
    ...mentionsIn(tree, source),
    ...mentionsIn(new Map(files), source, ['x-davit', 'files']),
    ...[
      ...mentionsIn(block.get('connection').value ?? null, source, ['x-davit', 'connection']),
      ...mentionsIn(said.provides, source, ['x-davit', 'provides']),
    ].filter(({ name }) => name !== hostVariable),
  ]
  for (const { name, path } of used)
    if (!template.variables.has(name) && !builtIn.includes(name))
      throw source.refuse(path, `uses ${name}. Declare it under x-davit.variables.`)
  refuseUnused(template, [...used.map(({ name }) => name), ...passedOn(root)], block)
  return template
}

function refuseUnused({ variables }: Pick<Template, 'variables'>, used: string[], block: Field) {
  const keys = [...variables.values()].flatMap(({ generate }) =>
    generate?.kind === 'jwt' && generate.key !== null ? [generate.key] : [],
  )
  for (const name of variables.keys())
    if (!used.includes(name) && !keys.includes(name))
      throw block.get('variables').get(name).refuse('isn’t used. Remove it, or use it.')
}

/** Variables that are used by name only, in a service's environment or as a file. */
const passedOn = (root: Field) => [
  ...heldBy(root.get('configs')),
  ...heldBy(root.get('secrets')),
  ...root
    .get('services')
    .entries()
    .flatMap(([, service]) => {
      const environment = service.get('environment')
      if (environment.isList)
        return environment
          .items()
          .map((item) => item.text())
          .filter((entry) => !entry.includes('='))
      return environment.entries().flatMap(([key, value]) => (value.absent ? [key] : []))
    }),
]

const heldBy = (field: Field) =>
  field.entries().flatMap(([, held]) => held.get('environment').or([], (name) => [name.text()]))

/** Placeholders for values that a user hasn't set, to validate the rest of the file. */
export function samplesOf({ variables }: Pick<Template, 'variables'>, given: Values = new Map()) {
  const asked = [...variables.values()].filter(({ generate }) => !generate)
  const samples = new Map([
    ...builtIn.map((name): [string, string] => [name, 'example']),
    ...asked.map(({ name, default: value, options }): [string, string] => [
      name,
      value ?? options[0] ?? 'example',
    ]),
    ...given,
  ])
  return withDerived(variables, samples, () => 'http://example.com')
}

/** Throws when the file is invalid. A value that depends on a variable is checked once that is set. */
export function refuseUnreadable(template: Template) {
  try {
    stackOf(template, samplesOf(template))
  } catch (error) {
    const at = error instanceof Refusal ? valueAt(template.tree, error.path) : null
    if (typeof at !== 'string' || !at.includes('$')) throw error
  }
}

function refuseUnwatched(stack: Stack, root: Field) {
  for (const { name, health, restart } of stack.services.values()) {
    const ends = isOneShot(stack, name) || restart?.name === 'no' || restart?.name === 'on-failure'
    if (!health && !ends)
      throw root
        .get('services')
        .get(name)
        .refuse(
          'has no healthcheck. Add one, or healthcheck: {disable: true} if it can’t have one.',
        )
  }
}

type Parts = Pick<Template, 'variables' | 'tree' | 'source'> &
  Partial<Pick<Template, 'files' | 'expose' | 'foreign'>>

/** A file without `x-davit`, of which only so much is known. */
export const undeclared = (about: Partial<About>, parts: Parts): Template => ({
  about: {
    ...{ name: '', description: '', category: 'other', tags: [], links: {}, version: '' },
    ...about,
  },
  files: new Map(),
  foreign: false,
  expose: [],
  connection: [],
  provides: new Map(),
  proposes: new Map(),
  firstStart: new Map(),
  after: null,
  backup: null,
  ...parts,
})
