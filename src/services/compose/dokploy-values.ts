import { AppError } from '../../platform/errors.ts'
import type { Generate, Variable } from './variables.ts'
import { looksSecret } from '../../logs/secret-names.ts'
import { variable } from './variables.ts'

type Domain = { serviceName: string; port: number; host?: string | undefined }
type Variables = Map<string, Variable>

/** Each of them is made, sealed and kept. */
const maxVariables = 2_000

/** Names of template.toml are apart from those of the Compose file. */
const inner = (name: string) => `toml ${name}`

export const isNamed = (variables: Variables, name: string) => variables.has(inner(name))

/** The `[variables]` of a template.toml: none is asked for, they only help to make the environment. */
export function dokployVariables(named: Map<string, string>, domains: Domain[]): Variables {
  const variables: Variables = new Map()
  for (const name of named.keys())
    variables.set(inner(name), variable(inner(name), { hidden: true }))
  for (const [name, text] of named) {
    const domain = domains.find(({ host }) => host?.includes(`\${${name}}`)) ?? domains[0]
    // a host below the one that is given is a domain like that: Davit gives each its address
    const isHost = domains.some(({ host }) => host === `\${${name}}`)
    const own = isHost ? text.replace(/^[\w.-]+(?=\$\{domain\}$)/, '') : text
    const made = dokployText(inner(name), own, variables, domain ? [domain] : [])
    variables.set(inner(name), { ...made, hidden: true, secret: true })
  }
  return variables
}

/**
 * A text with Dokploy's `${…}` in it, as a variable that is made of others. A helper within it becomes
 * a hidden variable, so that its value is made once; a name that means nothing stays as it stands. In
 * the environment, `env`, its other names mean something too.
 */
export function dokployText(
  name: string,
  text: string,
  variables: Variables,
  domains: Domain[],
  env: ReadonlyMap<string, string> = new Map(),
): Variable {
  const parts: (string | { variable: string })[] = []
  let from = 0
  let count = 0
  for (const found of text.matchAll(/\$\{([^{}]{1,200})\}/g)) {
    const part = partOf(found[1]!)
    if (part === null) continue
    parts.push(text.slice(from, found.index), part)
    from = found.index + found[0].length
  }
  parts.push(text.slice(from))
  const kept = parts.filter((part) => part !== '')
  const [only] = kept
  const helper = kept.length === 1 && typeof only === 'object' ? variables.get(only.variable) : null
  if (helper && only && helper.name.startsWith(`${name} `)) {
    variables.delete(helper.name)
    return variable(name, { ...aside(helper.generate), secret: looksSecret(name) })
  }
  return variable(name, { ...aside({ kind: 'composed', parts: kept }) })

  /** A variable that has the name of a helper, as its value, is made by that helper. */
  function isOther(named: string) {
    return inner(named) !== name && isNamed(variables, named)
  }

  function partOf(expression: string): { variable: string } | null {
    if (isOther(expression)) return { variable: inner(expression) }
    const generate = helperOf(expression, isOther, domains)
    if (generate === null)
      return env.has(expression) && expression !== name ? { variable: expression } : null
    if (variables.size >= maxVariables)
      throw new AppError(
        'invalid',
        `template.toml creates more than ${maxVariables} values. Shorten it.`,
      )
    const key = `${name} ${++count}`
    variables.set(key, variable(key, { generate, hidden: true, secret: true }))
    return { variable: key }
  }
}

/** A value that follows from others can't be given; one that is made can. */
const aside = (generate: Generate | null) => {
  const free = generate?.kind === 'text' || generate?.kind === 'hex' || generate?.kind === 'base64'
  return { generate, hidden: !free }
}

function helperOf(
  expression: string,
  isNamed: (name: string) => boolean,
  domains: Domain[],
): Generate | null {
  const [helper, ...args] = expression.split(':')
  const [first, second] = args
  const size = (fallback: number) => {
    const given = Number(first)
    return Number.isInteger(given) && given > 0 && given <= 4096 ? given : fallback
  }
  switch (helper) {
    case 'domain':
      return address(domains)
    case 'password':
      return { kind: 'text', length: size(16), alphabet: 'alphanumeric' }
    case 'base64':
      return { kind: 'base64', length: size(32) }
    case 'hash':
      return { kind: 'hex', length: size(8) }
    case 'username':
      return { kind: 'text', length: 12, alphabet: 'lowercase' }
    case 'email':
      return { kind: 'email' }
    case 'uuid':
      return { kind: 'uuid' }
    case 'randomPort':
      return { kind: 'port' }
    case 'timestamp':
    case 'timestampms':
      return time('ms', args)
    case 'timestamps':
      return time('s', args)
    case 'jwt':
      return first !== undefined && isNamed(first)
        ? token(first, second !== undefined && isNamed(second) ? second : null)
        : { kind: 'hex', length: size(128) * 2 }
    default:
      return null
  }
}

const token = (key: string, payload: string | null): Generate => ({
  kind: 'jwt',
  key: inner(key),
  claims: payload === null ? { iss: 'davit', exp: endOf2030 } : { variable: inner(payload) },
  seconds: null,
})

const endOf2030 = Date.UTC(2031, 0, 1) / 1000

function address([domain]: Domain[]): Generate | null {
  if (!domain) return null
  const { serviceName: service, port } = domain
  return { kind: 'address', form: 'hostname', service, port, path: '' }
}

function time(unit: 'ms' | 's', args: string[]): Generate | null {
  const of = args.length > 0 ? args.join(':') : null
  return of !== null && Number.isNaN(Date.parse(of)) ? null : { kind: 'time', unit, of }
}
