import { z } from 'zod'
import { hostName } from '../addresses/hosts.ts'
import { httpsKinds } from '../addresses/store.ts'
import { canonicalRange } from '../platform/hosts.ts'
import type { Target } from '../services/ports.ts'
import { block, line, lines, whole } from '../web/fields.ts'
import { choiceField, flagField } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { maxCertificate, maxKey } from './certificate-own.ts'
import { responseHeaders } from './response-headers.ts'

/** A literal path prefix: Caddy would treat other characters as patterns. */
const pathPrefix = line('a path such as /api', { max: 200 })
  .refine((text) => text.startsWith('/'), 'must start with /, such as /api.')
  .refine((text) => !/[?#]/.test(text), 'must be only a path, without ? and #.')
  .refine((text) => !/(^|\/)\.{1,2}(\/|$)/.test(text), 'can’t have . or .. as a part.')
  .refine(
    (text) => /^[\w.~!$&'()+,;=:@/?#-]*$/.test(text),
    'can only have letters without accents, digits and - . _ ~ ! $ & ’ ( ) + , ; = : @ in it.',
  )
  .transform((text) => text.replace(/\/+/g, '/').replace(/(?<=.)\/$/, ''))

/** `component:port`; see `parseTarget`. */
const target = line('a component and its port, such as web:8080', { max: 200 }).refine(
  (text) => parseTarget(text) !== null,
  'must be a component and its port, such as web:8080.',
)

export function parseTarget(text: string): Target | null {
  const [, component, digits] = /^([^:\s]+):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  return component && port > 0 && port < 65_536 ? { component, port } : null
}

/** Without a trailing slash: the path of each request is appended. */
const redirectTo = line('an address such as https://example.com', { max: 500 }).transform(
  (text, context) => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message })
      return ''
    }
    const url = /^https?:\/\/[^/]/i.test(text) ? URL.parse(text) : null
    if (!url) return refuse('must be an address that starts with https:// or http://.')
    if (url.username || url.password) return refuse('can’t have a user name and password.')
    if (/[?#]/.test(text))
      return refuse('can’t have ? or #. Path and query of each request are appended.')
    return url.origin + url.pathname.replace(/\/+$/, '')
  },
)

/** bcrypt's limit in bytes; programs shorten longer passwords differently. */
const maxPassword = 72

const account = z.object(
  {
    username: line('a user name', { max: 100 }).refine(
      (text) => !text.includes(':'),
      'can’t have a colon in a user name.',
    ),
    /** Null to keep the user name's current password. */
    password: block('a password', { max: 200 })
      .min(1, 'has an empty password.')
      .refine((text) => !/\p{Cc}/u.test(text), 'can’t have control characters in a password.')
      .refine(
        (text) => Buffer.byteLength(text) <= maxPassword,
        `has a password of more than ${maxPassword} bytes.`,
      )
      .nullish(),
  },
  'must have a user name and a password in each entry.',
)

export type AskedAccount = z.output<typeof account>

const basicAuth = z
  .preprocess(
    (value) => (typeof value === 'string' ? accountsIn(value) : value),
    z
      .array(account, 'must be a list of user names and passwords.')
      .max(20, 'can have at most 20 entries.'),
  )
  .refine(
    (accounts) => new Set(accounts.map(({ username }) => username)).size === accounts.length,
    'has a user name twice.',
  )

/** A form has one `user:password` per line. */
const accountsIn = (text: string) =>
  text
    .split('\n')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => {
      const [, username, password] = /^([^:]*):?(.*)$/.exec(entry)!
      return { username, password: password || null }
    })

/** As Caddy reads it, in one spelling. */
const range = line('an address or a range such as 203.0.113.0/24', { max: 60 }).transform(
  (text, context) => {
    const plain = canonicalRange(text)
    if (plain !== null) return plain
    const message = `must be addresses and ranges such as 203.0.113.0/24, not “${text}”.`
    context.addIssue({ code: 'custom', message })
    return ''
  },
)

export const domainForm = z.object({
  host: field(hostName, {
    label: 'Domain',
    inputmode: 'url',
    placeholder: 'app.example.com',
    code: true,
  }),
  path: field(pathPrefix.nullish(), {
    label: 'Path',
    group: 'route',
    placeholder: '/',
    hint: 'Only requests below this path. Leave empty for the whole domain.',
    code: true,
    isNarrow: true,
  }),
  target: field(target.nullish(), {
    label: 'Target',
    group: 'route',
    placeholder: 'web:8080',
    hint: 'A component and its port. Leave empty for the first port that the service publishes.',
    code: true,
    isNarrow: true,
  }),
  protocol: choiceField(
    'Protocol',
    { http: 'HTTP/1.1, with WebSockets', h2c: 'HTTP/2 without TLS (h2c), for gRPC' },
    {
      group: 'route',
      initial: 'http',
      hint: 'What the app itself speaks, whatever visitors use.',
    },
  ).nullish(),
  redirectTo: field(redirectTo.nullish(), {
    label: 'Redirect to',
    group: 'route',
    placeholder: 'https://example.com',
    hint: 'Visitors are redirected there, with path and query. Leave empty to serve the app.',
    code: true,
  }),
  https: field(z.enum(httpsKinds, 'must be auto, off or own.').nullish(), {
    label: 'HTTPS',
    group: 'https',
    initial: 'auto',
    options: [],
    hint: 'The same for all paths of the domain.',
  }),
  certificate: field(block('a certificate as PEM text', { max: maxCertificate }).nullish(), {
    label: 'Certificate',
    group: 'https',
    placeholder: '-----BEGIN CERTIFICATE-----',
    hint: 'PEM, followed by the certificates of its issuers.',
    code: true,
    isLong: true,
    rows: 3,
  }),
  key: field(block('a private key as PEM text', { max: maxKey }).nullish(), {
    label: 'Private key',
    group: 'https',
    placeholder: '-----BEGIN PRIVATE KEY-----',
    hint: 'PEM, without a passphrase. It is stored encrypted and never shown again.',
    code: true,
    isLong: true,
    rows: 3,
    secret: true,
  }),
  hsts: flagField('Tell browsers to use HTTPS only (HSTS)', {
    group: 'https',
    hint: 'They remember it for a year: turn it on once HTTPS works reliably.',
  }),
  basicAuth: field(basicAuth.nullish(), {
    label: 'Logins',
    group: 'access',
    placeholder: 'ada:a long password',
    hint: 'One name:password per line. Browsers ask for it. Leave empty to allow everyone.',
    code: true,
    isLong: true,
    rows: 3,
    secret: true,
  }),
  allowIps: field(lines(range, { max: 200 }).nullish(), {
    label: 'Allowed addresses',
    group: 'access',
    placeholder: '203.0.113.0/24',
    hint: 'One IP address or range per line; all others are refused. Leave empty to allow all.',
    code: true,
    isLong: true,
    rows: 3,
  }),
  headers: field(responseHeaders.nullish(), {
    label: 'Response headers',
    group: 'options',
    placeholder: 'X-Frame-Options: DENY',
    hint: 'One Name: value per line. They override those of the app.',
    code: true,
    isLong: true,
    rows: 3,
  }),
  maxBody: field(whole('MiB', { min: 1, max: 10_240 }).nullish(), {
    label: 'Maximum request size',
    unit: 'MiB',
    group: 'options',
    inputmode: 'numeric',
    placeholder: 'no limit',
    hint: 'Larger requests are refused with 413. Leave empty for no limit.',
  }),
  maintenance: flagField('Show a maintenance page instead of the app', {
    group: 'options',
  }),
})

export const domainUpdateForm = domainForm.partial({ host: true })

export type AskedDomain = z.output<typeof domainUpdateForm>
