import { z } from 'zod'
import type { Field } from './field.ts'
import { newBudget, compilePattern } from './pattern.ts'
import type { Budget } from './pattern.ts'
import { plain, valueAt } from '../../platform/yaml-source.ts'
import type { Generate, Variable } from './variables.ts'
import { looksSecret } from '../../logs/secret-names.ts'
import { serverCommands } from './server-commands.ts'
import type { FirstStart } from './server-commands.ts'
import { variable } from './variables.ts'

/** Far more than any service has. Each may have a pattern that must be compiled. */
const maxVariables = 200

/** YAML reads 8080 and true as other types, but a value is text. */
const value = z.union([z.string(), z.number(), z.boolean()], 'must be one value.').transform(String)

const text = (max: number) =>
  z
    .string('must be text; put a number in quotes.')
    .trim()
    .min(1, 'can’t be empty.')
    .max(max, `must be at most ${max} characters.`)

const link = text(2000).regex(/^https?:\/\/\S+$/, 'must be an address that starts with https://.')

const variableDeclaration = z.strictObject({
  generate: z
    .enum(
      ['password', 'hex', 'base64', 'uuid', 'jwt'],
      'must be password, hex, base64, uuid or jwt.',
    )
    .optional(),
  length: z.int('must be a whole number.').min(4, 'must be 4 or more.').max(1024).optional(),
  /** For a jwt: the variable with the key that signs it, and its claims. */
  key: text(100).optional(),
  claims: z.record(z.string(), z.unknown()).optional(),
  label: text(100).optional(),
  description: text(500).optional(),
  default: value.optional(),
  required: z.boolean('must be true or false.').optional(),
  pattern: text(500).optional(),
  secret: z.boolean('must be true or false.').optional(),
  options: z.array(value).min(1, 'must be one or more.').max(200).optional(),
})

const variableKey = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)

const commandNames = Object.keys(serverCommands) as (keyof typeof serverCommands)[]

export const backupEngines = ['postgresql', 'mysql', 'redis', 'mongodb'] as const
export type BackupEngine = (typeof backupEngines)[number]

const backupDeclaration = z.strictObject({
  /** By service, those that are dumped with their own tools. */
  databases: z
    .record(text(63), z.enum(backupEngines, `must be ${backupEngines.join(', ')}.`))
    .default({}),
  /** Volumes whose files can be created again. All others but those with a database's own data are stored. */
  without: z.array(text(100)).max(50).default([]),
  /** By service, what a copy that was restored for a test is asked, and must answer. */
  queries: z.record(text(63), z.strictObject({ database: text(63), sql: text(4000) })).default({}),
})

export type BackupDeclaration = z.infer<typeof backupDeclaration>

/** What the catalogue shows of it. */
export const aboutTemplate = z.object({
  name: text(60),
  description: text(500).default(''),
  category: text(40).default('other'),
  tags: z.array(text(40)).max(20).default([]),
  links: z.record(z.string(), link).default({}),
  version: text(128),
})

const declaration = z.strictObject({
  ...aboutTemplate.shape,
  /** The published ports. The instance's address leads to the first. */
  expose: z
    .array(
      z.strictObject({
        service: text(63),
        port: z.int('must be a port.').min(1, 'must be a port.').max(65_535, 'must be a port.'),
      }),
    )
    .max(20)
    .default([]),
  variables: z.record(variableKey, variableDeclaration).default({}),
  files: z.record(text(500), z.string('must be text.')).default({}),
  /** The lines for clients that connect. Values may use variables. */
  connection: z
    .array(z.strictObject({ label: text(60), value: text(1000) }))
    .max(20)
    .default([]),
  /** Variables for linked apps. Values may use variables and `${HOST}`. */
  provides: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,39}$/), text(1000))
    .refine((said) => Object.keys(said).length <= 50, 'can have at most 50 names.')
    .default({}),
  /** Proposed keys in those apps, each with the name of a provided variable. */
  proposes: z.record(variableKey, text(40)).default({}),
  /** Variables that a server only reads at its first start, and how to change them later. */
  first_start: z
    .record(
      variableKey,
      z.strictObject({
        service: text(63).optional(),
        run: z.union([z.enum(commandNames), z.array(text(4000)).min(1)]).optional(),
        how: text(500).optional(),
      }),
    )
    .default({}),
  /** A text for the user, shown once it runs. */
  after: text(4000).optional(),
  /** How its data is backed up; by default its databases are recognised by their images. */
  backup: backupDeclaration.optional(),
})

/** Reads the file's `x-davit` block. Throws `invalid` with the key that is wrong. */
export function declarationOf(block: Field, root: Field) {
  const [services, volumes] = [root.get('services'), root.get('volumes')]
  const { data, error } = declaration.safeParse(plain(block.value ?? null))
  if (error) throw complain(block, error.issues[0]!)
  const { name, description, category, tags, links, version } = data
  const { expose, connection, files, provides, proposes, backup = null } = data
  const entries = Object.entries(data.variables)
  if (entries.length > maxVariables)
    throw block.get('variables').refuse(`can be at most ${maxVariables}. Split the file.`)
  const budget = newBudget()
  const variables = new Map(
    entries.map(([name, said]) => [
      name,
      variableOf(name, said, { field: block.get('variables').get(name), budget }),
    ]),
  )
  for (const [name, { generate }] of variables)
    if (generate?.kind === 'jwt' && generate.key !== null && !variables.has(generate.key))
      throw block.get('variables').get(name).get('key').refuse('isn’t a variable of this file.')
  for (const [index, { service }] of expose.entries())
    if (!services.get(service).isMap)
      throw block.get('expose').items()[index]!.refuse(`uses ${service}, which isn’t a service.`)
  for (const name of Object.keys(backup?.databases ?? {}))
    if (!services.get(name).isMap)
      throw block.get('backup').get('databases').get(name).refuse('isn’t a service of this file.')
  for (const name of Object.keys(backup?.queries ?? {}))
    if (!['postgresql', 'mysql'].includes(backup!.databases[name] ?? ''))
      throw block
        .get('backup')
        .get('queries')
        .get(name)
        .refuse('isn’t a database of PostgreSQL or MySQL under x-davit.backup.databases.')
  for (const [index, name] of backup?.without.entries() ?? [])
    if (!volumes.entries().some(([volume]) => volume === name))
      throw block
        .get('backup')
        .get('without')
        .items()
        [index]!.refuse('isn’t a volume of this file.')
  for (const [key, provided] of Object.entries(proposes))
    if (!Object.hasOwn(provides, provided))
      throw block.get('proposes').get(key).refuse('isn’t under x-davit.provides.')
  return {
    about: { name, description, category, tags, links, version },
    variables,
    expose,
    connection,
    provides: new Map(Object.entries(provides)),
    proposes: new Map(Object.entries(proposes)),
    files: Object.entries(files),
    firstStart: firstStartOf(data.first_start, {
      block: block.get('first_start'),
      variables,
      services,
    }),
    after: data.after ?? null,
    backup,
  }
}

function firstStartOf(
  said: z.infer<typeof declaration>['first_start'],
  {
    block,
    variables,
    services,
  }: { block: Field; variables: Map<string, Variable>; services: Field },
) {
  return new Map(
    Object.entries(said).map(([name, { service, run, how }]): [string, FirstStart] => {
      const field = block.get(name)
      if (!variables.has(name)) throw field.refuse('isn’t a variable of this file.')
      if (how !== undefined && !service && !run) return [name, { how }]
      if (how !== undefined || !service || !run)
        throw field.refuse('must have a service with what to run there, or how it is changed.')
      if (!services.get(service).isMap)
        throw field.refuse(`uses ${service}, which isn’t a service.`)
      return [name, { service, command: typeof run === 'string' ? serverCommands[run] : run }]
    }),
  )
}

function variableOf(
  name: string,
  said: z.infer<typeof variableDeclaration>,
  { field, budget }: { field: Field; budget: Budget },
): Variable {
  const generate = generateOf(said, field)
  const { options = [] } = said
  // A doubled dollar is one, as in the rest of a Compose file.
  const pattern = said.pattern?.replaceAll('$$', '$') ?? null
  if (generate && said.default !== undefined)
    throw field.get('default').refuse('can’t be combined with generate. Keep one of the two.')
  if (options.length > 0 && said.default !== undefined && !options.includes(said.default))
    throw field.get('default').refuse('must be one of the options.')
  if (pattern !== null && said.default && !compilePattern(pattern)(said.default, budget))
    throw field.get('default').refuse('doesn’t match the pattern. Correct one of the two.')
  return variable(name, {
    label: said.label ?? name,
    description: said.description ?? null,
    generate,
    default: said.default ?? null,
    required: said.required ?? false,
    pattern,
    secret: said.secret ?? (generate !== null || looksSecret(name)),
    options,
  })
}

function generateOf(said: z.infer<typeof variableDeclaration>, field: Field): Generate | null {
  const { generate, length } = said
  const sized = generate === 'password' || generate === 'hex' || generate === 'base64'
  if (length !== undefined && !sized)
    throw field.get('length').refuse('is only for password, hex or base64. Remove it.')
  if ((said.key ?? said.claims) !== undefined && generate !== 'jwt')
    throw field.refuse('has a key or claims, which are only for jwt. Remove them.')
  if (generate === 'password')
    return { kind: 'text', length: length ?? 32, alphabet: 'alphanumeric' }
  if (generate === 'hex') return { kind: 'hex', length: length ?? 64 }
  if (generate === 'base64') return { kind: 'base64', length: length ?? 32 }
  if (generate === 'uuid') return { kind: 'uuid' }
  if (generate === 'jwt')
    return { kind: 'jwt', key: said.key ?? null, claims: said.claims ?? {}, seconds: null }
  return null
}

function complain(block: Field, { path, message, ...issue }: z.core.$ZodIssue) {
  const key = issue.code === 'unrecognized_keys' ? issue.keys[0]! : null
  const at = [...block.path, ...(path as (string | number)[])]
  if (key !== null) return block.source.refuse([...at, key], 'isn’t supported. Remove it.')
  if (issue.code === 'invalid_key')
    return block.source.refuse(at, 'must be a name of letters, digits and _, such as DB_PASSWORD.')
  const missing =
    issue.code === 'invalid_type' && valueAt(block.value ?? null, at.slice(1)) === undefined
  return block.source.refuse(at, missing ? 'is missing. Add it.' : message)
}
