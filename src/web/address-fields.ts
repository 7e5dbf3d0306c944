import type { Config } from '../config.ts'
import { canonicalHost, refusedHost, splitPort } from '../platform/hosts.ts'
import { line } from './fields.ts'
import { field } from './schema-fields.tsx'
import type { FieldLook } from './schema-fields.tsx'

type Allowed = Pick<Config, 'allowHosts'>
type Look = Partial<FieldLook>

/** A host to connect to; private ones must be allowed. */
export const hostField = (
  label: string,
  { allowHosts }: Allowed,
  { mayHavePort = false, ...look }: Look & { mayHavePort?: boolean } = {},
) => {
  const schema = line('the host of a server', { max: 255 }).transform((text, context) => {
    const { host, port } = mayHavePort ? splitPort(text) : { host: text, port: null }
    const isPort = port === null || (port > 0 && port <= 65_535)
    const refused = isPort ? refusedHost(host, allowHosts) : 'must have a port from 1 to 65535.'
    if (refused) context.addIssue({ code: 'custom', message: refused })
    const name = canonicalHost(host) ?? host
    if (port === null) return name
    return `${name.includes(':') ? `[${name}]` : name}:${port}`
  })
  return field(schema, { label, code: true, ...look })
}

type UrlRules = {
  example: string
  /** Without HTTPS everyone on the way can read what is sent. */
  onlyHttps?: boolean
  hasQuery?: boolean
  /** True for one with nothing after the host. */
  isOrigin?: boolean
}

/** An address to send requests to, without a slash at its end; private hosts must be allowed. */
export const urlField = (
  label: string,
  { allowHosts }: Allowed,
  { example, onlyHttps = false, hasQuery = false, isOrigin = false, ...look }: UrlRules & Look,
) => {
  const schema = line('an address', { max: 1000 }).transform((text, context) => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message })
      return text
    }
    const url = /[\s\\]/.test(text) ? null : URL.parse(text)
    const host = url && canonicalHost(url.hostname)
    if (!url || !host || !(onlyHttps ? /^https:$/ : /^https?:$/).test(url.protocol))
      return refuse(`must be an address such as ${example}.`)
    if (url.username || url.password || url.hash) return refuse('can’t have a user or fragment.')
    if (url.search && !hasQuery) return refuse('can’t have a query.')
    const refused = refusedHost(host, allowHosts)
    if (refused) return refuse(refused)
    url.hostname = host.includes(':') ? `[${host}]` : host
    const path = url.pathname.replace(/\/+$/, '')
    if (isOrigin && path) return refuse(`can’t have a path. Enter it as ${example}.`)
    return hasQuery ? url.href : `${url.origin}${path}`
  })
  return field(schema, { label, type: 'url', ...look })
}
