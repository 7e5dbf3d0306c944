import { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import { dokployText, dokployVariables } from './dokploy-values.ts'
import { bindsToVolumes } from './host-binds.ts'
import { normalPath } from './mounts.ts'
import type { Origin } from './read.ts'
import { maxFileBytes, readYaml } from './read.ts'
import type { Tree } from './source.ts'
import type { About, FileContent, Template } from './template.ts'
import { mentionedIn, refuseUnreadable, unknownAbout } from './template.ts'
import type { Variable } from './variables.ts'
import { looksSecret } from '../../logs/secret-names.ts'
import { variable } from './variables.ts'

export type DokployFiles = { compose: string; config: string; meta?: string }

const value = z.union([z.string(), z.number(), z.boolean()]).transform(String)

const values = (most: number) =>
  z
    .record(z.string(), value)
    .refine((entries) => Object.keys(entries).length <= most, `has more than ${most} entries`)

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
            path: z.string().optional(),
          }),
        )
        .max(100, 'has more than 100 entries')
        .default([]),
      env: z.union([values(500), z.array(z.string()).max(500)]).default({}),
      mounts: z
        .array(z.object({ filePath: z.string(), content: z.string() }))
        .max(100, 'has more than 100 entries')
        .default([]),
    })
    .default({ domains: [], env: {}, mounts: [] }),
})

const metaShape = z.object({
  name: z.string().optional(),
  version: z.coerce.string().optional(),
  description: z.string().optional(),
  links: z.record(z.string(), z.string()).optional(),
  tags: z.array(z.string()).optional(),
})

/** Dokploy's import text: base64 of JSON with the Compose file and the template.toml. */
export function unpackDokploy(blob: string): DokployFiles | null {
  const text = blob.replace(/\s+/g, '')
  if (text.length > 2 * maxFileBytes || !/^[A-Za-z0-9+/]{16,}={0,2}$/.test(text)) return null
  try {
    const parsed = z
      .object({ compose: z.string(), config: z.string() })
      .safeParse(JSON.parse(Buffer.from(text, 'base64').toString('utf8')))
    return parsed.data ?? null
  } catch {
    return null
  }
}

/** Reads a template of Dokploy: its Compose file, template.toml and, where there is one, meta.json. */
export function importDokploy(
  { compose, config, meta }: DokployFiles,
  origin: Origin,
  { name }: { name: string },
): Template {
  const { variables: named, config: said } = tomlOf(config, origin)
  const { tree: raw, source } = readYaml(compose, origin)
  const { domains, mounts } = said
  const variables = dokployVariables(new Map(Object.entries(named)), domains)

  const files = new Map<string, FileContent>()
  for (const { filePath, content } of mounts) {
    const key = `file ${filePath}`
    variables.set(key, dokployText(key, content, variables, domains))
    files.set(normalPath(`../files/${filePath.replace(/^\/+/, '')}`), { variable: key })
  }
  const tree = bindsToVolumes(withoutTheirNetwork(raw), files)
  for (const [key, text] of environmentOf(said.env))
    variables.set(key, shown(dokployText(key, text, variables, domains)))
  for (const [key, found] of mentionedIn(tree, source))
    if (!variables.has(key)) variables.set(key, found)

  const template = {
    about: aboutOf(meta, name),
    expose: domains.map(({ serviceName, port, path }) => ({
      service: serviceName,
      port,
      path: path?.startsWith('/') ? path : '/',
    })),
    connection: [],
    variables,
    files,
    after: null,
    tree,
    source,
  }
  refuseUnreadable(template)
  return template
}

/** Keys and tables at the most: the parser compares each with each. */
const maxSigns = 5_000

function tomlOf(text: string, { field }: Origin) {
  const refuse = (complaint: string, cause?: unknown) => {
    const message = `template.toml: ${complaint}`
    return new AppError('invalid', message, { cause, fields: field ? [{ field, message }] : [] })
  }
  if (text.length > maxFileBytes) throw refuse('This is over 1 MiB. Shorten it.')
  if ((text.match(/[=[]/g)?.length ?? 0) > maxSigns)
    throw refuse(`This has more than ${maxSigns} of the signs = and [. Shorten it.`)
  let parsed: unknown
  try {
    parsed = Bun.TOML.parse(text)
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : 'it can’t be read'
    throw refuse(`This is not valid TOML: ${said}. Correct it.`, cause)
  }
  const { data, error } = shape.safeParse(parsed)
  if (!data) {
    const { path, message } = error.issues[0]!
    throw refuse(`${path.join('.')}: ${message}. Correct it.`)
  }
  return data
}

const environmentOf = (env: Record<string, string> | string[]): [string, string][] =>
  Array.isArray(env)
    ? env.flatMap((line): [string, string][] => {
        const at = line.indexOf('=')
        return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1)]] : []
      })
    : Object.entries(env)

/** What the user sees of the environment: plain values can be changed, those that follow can't. */
const shown = (made: Variable): Variable => {
  const { generate, name } = made
  const [only] = generate?.kind === 'composed' && generate.parts.length <= 1 ? generate.parts : []
  if (generate?.kind === 'composed' && generate.parts.length === 0)
    return variable(name, { default: '' })
  return typeof only === 'string'
    ? variable(name, { default: only, secret: looksSecret(name) })
    : { ...made, secret: looksSecret(name) }
}

/** Its proxy's network; Davit has its own way in. */
function withoutTheirNetwork(tree: Tree): Tree {
  const strip = (node: Tree, path: string[]): Tree => {
    if (!(node instanceof Map)) return node
    return new Map(
      [...node].flatMap(([key, child]): [string, Tree][] => {
        if (key === 'networks' && path.length !== 1) return networks(child)
        return [
          [key, path.length < 2 && child instanceof Map ? strip(child, [...path, key]) : child],
        ]
      }),
    )
  }
  const networks = (child: Tree): [string, Tree][] => {
    const kept = Array.isArray(child)
      ? child.filter((name) => name !== 'dokploy-network')
      : child instanceof Map
        ? new Map([...child].filter(([name]) => name !== 'dokploy-network'))
        : child
    return [['networks', kept]]
  }
  return strip(tree, [])
}

function aboutOf(meta: string | undefined, name: string): About {
  const about = unknownAbout(name)
  if (meta === undefined) return about
  try {
    const { data } = metaShape.safeParse(JSON.parse(meta))
    const links = Object.entries(data?.links ?? {}).filter(([, link]) =>
      /^https?:\/\/\S+$/.test(link),
    )
    return {
      ...about,
      name: data?.name ?? name,
      version: data?.version ?? '',
      description: data?.description ?? '',
      links: Object.fromEntries(links),
      tags: data?.tags ?? [],
    }
  } catch (cause) {
    throw new AppError('invalid', 'meta.json is not valid JSON. Correct it, or leave it out.', {
      cause,
    })
  }
}
