import { z } from 'zod'
import { readPublicKey } from './minisign.ts'
import { canonicalRange, refuseListEntry } from './hosts.ts'

/* Field types of settings, which are texts of the environment. Messages follow the name of the key. */

export const list = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter(Boolean))

export const hostList = list.superRefine((entries, context) => {
  for (const entry of entries) {
    const refusal = refuseListEntry(entry)
    if (refusal) context.addIssue({ code: 'custom', message: refusal })
  }
})

export const cidrList = list.transform((entries, context) =>
  entries.map((entry) => {
    const range = canonicalRange(entry)
    if (range !== null) return range
    context.addIssue({ code: 'custom', message: `must be addresses or CIDRs, not “${entry}”` })
    return z.NEVER
  }),
)

export const whole = (name: string, { min, max }: { min: number; max: number }) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be ${name}, a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be ${name}, a whole number from ${min} to ${max}`)

export const publicUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash)
    return url
  context.addIssue({
    code: 'custom',
    message: 'must be an address such as https://davit.example.com',
  })
  return z.NEVER
})

export const isPlainUrl = (text: string) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).pathname === '/'

export const releaseIndex = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:\/\/\S+\.json$/.test(text),
    'must be the address of a release.json, such as https://example.com/release.json',
  )

/** A public key of minisign: the second line of its file. */
export const signingKey = z
  .string()
  .refine((text) => readPublicKey(text) !== null, 'must be a public key of minisign')

/** Of this host, such as `80,443`. */
export const twoPorts = z
  .string()
  .regex(/^\d{1,5},\d{1,5}$/, 'must be two ports, such as 80,443')
  .transform((text) => text.split(',').map(Number) as [number, number])
  .refine(
    (ports) => ports.every((port) => port > 0 && port < 65_536) && ports[0] !== ports[1],
    'must be two ports, such as 80,443',
  )

/** A registry, and what the names of its repositories begin with. */
export const repositoryPrefix = z
  .string()
  .max(200, 'must be 200 characters at most')
  .regex(
    /^(?!docker\.io$)(?=localhost|[^/]*[.:])[a-z\d]([a-z\d.-]*[a-z\d])?(:\d{1,5})?(\/[a-z\d]+(([._]|__|-+)[a-z\d]+)*)*$/,
    'must be a registry and the beginning of its repositories, such as registry.example.com/davit',
  )

export const flag = z
  .enum(['0', '1'], 'must be 0 or 1')
  .default('0')
  .transform((text) => text === '1')

const aPool = 'must be an IPv4 network such as 10.201.0.0/16'

export const networkPool = z
  .string()
  .regex(/^(\d{1,3}\.){3}0\/(8|9|1\d|2[0-4])$/, aPool)
  .refine((cidr) => refuseListEntry(cidr) === null, aPool)

export const processors = z
  .string()
  .regex(/^\d{1,3}(\.\d{1,2})?$/, 'must be processors, such as 2 or 0.5')
  .transform(Number)
  .refine((cpus) => cpus >= 0.1 && cpus <= 512, 'must be processors, from 0.1 to 512')

export const imageName = z.string().regex(/^[\w.:/@-]+$/, 'must be the name of an image')
