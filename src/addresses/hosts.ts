import { domainToASCII } from 'node:url'
import { isIP } from 'node:net'
import type { Config } from '../config.ts'
import { canonicalHost, isLocalhost } from '../platform/hosts.ts'
import { line } from '../web/fields.ts'

/** Characters of a whole name in the DNS (RFC 1035). */
const maxName = 253

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Accepts a DNS name as a user writes it; the output is lower case, in ASCII, without a trailing dot. */
export const hostName = line('a name such as app.example.com', { max: 1000 }).transform(
  (text, context) => {
    const refusal = refusalOf(text)
    if (refusal === null) return canonicalName(text)
    context.addIssue({ code: 'custom', message: refusal })
    return ''
  },
)

const canonicalName = (text: string) => domainToASCII(text).toLowerCase().replace(/\.$/, '')

function refusalOf(text: string) {
  if (text.includes('://')) return 'must be only a name, such as app.example.com, without http://.'
  if (/[/?#@]/.test(text)) return 'must be only a name. Enter a path in the field for it.'
  if (isIP(text.replace(/^\[|\]$/g, '')))
    return 'is an address. Use a name, such as app.example.com.'
  if (text.includes(':')) return 'must be a name without a port.'
  if (text.includes('*')) return 'can’t have a wildcard. Add each name on its own.'
  if (text.includes('_')) return 'can’t have an underscore.'
  if (text.includes('%')) return 'must be a name such as app.example.com.'
  const name = canonicalName(text)
  if (isIP(name)) return 'is an address. Use a name, such as app.example.com.'
  if (isLocalhost(name)) return 'is the visitor’s own machine. Use a name in the DNS.'
  const labels = name.split('.')
  if (labels.some(({ length }) => length > 63))
    return 'can’t have a part of more than 63 characters.'
  if (name.length > maxName) return `must be ${maxName} characters or fewer.`
  if (name !== '' && labels.length < 2) return 'must have a dot in it, such as app.example.com.'
  if (!labels.every((part) => label.test(part))) return 'must be a name such as app.example.com.'
  return null
}

/** True for one of Davit's own names. */
export const isDavits = (name: string, { url, domain }: Pick<Config, 'url' | 'domain'>) =>
  [url?.hostname ?? '', domain ?? ''].map(canonicalHost).includes(name)
