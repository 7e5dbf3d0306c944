import type { Config } from '../../config.ts'
import { canonicalHost, refusedHost } from '../../platform/hosts.ts'
import { line } from '../../web/fields.ts'

type Allowed = Pick<Config, 'allowHosts'>

/** A host to connect to. */
export const hostField = ({ allowHosts }: Allowed) =>
  line('the host of a server', { max: 253 }).transform((text, context) => {
    const refused = refusedHost(text, allowHosts)
    if (refused) context.addIssue({ code: 'custom', message: refused })
    return canonicalHost(text) ?? text
  })

/** An address to send requests to. Without HTTPS everyone on the way can read them. */
export const urlField = (
  { allowHosts }: Allowed,
  {
    example,
    onlyHttps = false,
    hasQuery = false,
  }: { example: string; onlyHttps?: boolean; hasQuery?: boolean },
) =>
  line('an address', { max: 1000 }).transform((text, context) => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message })
      return text
    }
    const url = /[\s\\]/.test(text) ? null : URL.parse(text)
    if (!url || !(onlyHttps ? /^https:$/ : /^https?:$/).test(url.protocol))
      return refuse(`must be an address such as ${example}.`)
    if (url.username || url.password || url.hash) return refuse('can’t have a user or fragment.')
    if (url.search && !hasQuery) return refuse('can’t have a query.')
    const refused = refusedHost(url.hostname, allowHosts)
    if (refused) return refuse(refused)
    return hasQuery ? url.href : `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  })

/** A secret that is sent in a header or path. */
export const tokenField = (what: string) =>
  line(what, { max: 500 }).regex(/^[\x21-\x7e]+$/, 'can’t have spaces.')
