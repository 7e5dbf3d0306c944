import { plainHandler } from './pages.ts'
import type { Host, Site } from './plan.ts'

/*
 * Apps read more into a path than Caddy: a parameter after `;`, `\` for `/`, an end at a zero byte, an
 * extension after a dot, double encoding, full-width letters. So where a prefix is protected, its other
 * spellings are, too; those that lead up, or to another host, are refused, since no browser sends them.
 */

/** Matches an ASCII character, also in its full-width form. */
const spelled = (character: string) => {
  const code = character.charCodeAt(0)
  return `[\\x{${code.toString(16)}}\\x{${(code + 0xfee0).toString(16)}}]`
}

/** Caddy has decoded the path once. */
const slash = `(?:${spelled('/')}|${spelled('\\')}|\\x{fffd}|%(?:25)*(?:2f|5c))`
const dot = spelled('.')
const lettersTwice = '%(?:25)*(?:2[de]|3\\d|[46][1-9a-f]|[57][\\da]|5f|7e)'

/** Characters that some apps ignore at the start of a name, and those that end it. */
const blank = '[\\x00-\\x20\\x7f]*'
const parameter = '[;%\\x00-\\x20\\x7f]'
const rest = '[^/\\\\]*'

const isProtected = ({ accounts = [], allow = [] }: Site) => accounts.length + allow.length > 0

const path = '{http.request.uri.path}'

/** Refuses paths that some apps resolve differently, on hosts that are only partly protected. */
export function clearPaths(hosts: Host[]) {
  const host = hosts.flatMap(({ name, sites }) =>
    sites.some(isProtected) && sites.some((site) => site.path !== '/') ? name : [],
  )
  const match = { host, vars_regexp: { [path]: { pattern: unclear } } }
  const handle = [plainHandler(400, 'The path has parts that programs read differently.')]
  return host.length > 0 ? [{ match: [match], handle, terminal: true }] : []
}

const up = `${slash}${blank}${dot}{1,2}(?:${parameter}${rest})?(?:${slash}|\\z)`
const unclear = `(?i)^${slash}{2}|${up}|${lettersTwice}`

/** Matches the other spellings of a protected prefix. */
export const spellings = (site: Site) =>
  isProtected(site) ? [{ vars_regexp: { [path]: { pattern: spellingsOf(site.path) } } }] : []

function spellingsOf(prefix: string) {
  const before = `${slash}(?:(?:${parameter}${rest})?${slash})*${blank}`
  const parts = prefix.split('/').slice(1)
  const names = parts.map((part) => before + [...part].map(spelled).join(''))
  return `(?i)^${names.join(`(?:[^\\w/\\\\-]${rest})?`)}(?:[^\\w-]|\\z)`
}
