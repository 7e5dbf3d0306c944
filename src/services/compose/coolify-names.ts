import type { Generate, Variable } from './variables.ts'
import { variable } from './variables.ts'

type Magic = {
  type: string
  /** Characters or bytes, where the name says. */
  size: number | null
  /** The service that an id such as `WEB_3000` means, and its port. */
  target: (services: string[]) => { service: string; port: number | null }
}

const types = [
  'PASSWORDWITHSYMBOLS',
  'PASSWORD',
  'LOWERCASEUSER',
  'USER',
  'REALBASE64',
  'BASE64',
  'HEX',
  'URL',
  'FQDN',
  'NAME',
  'SUPABASEANON',
  'SUPABASESERVICE',
]

const shape = new RegExp(`^SERVICE_(${types.join('|')})_(?:(32|64|128)(?![^_]))?_?(.*)`)

const hundredYears = 100 * 365.25 * 24 * 3600

/** What a name of Coolify's means; null when it means nothing. */
export function magicName(name: string): Magic | null {
  const [, type, digits, id] = shape.exec(name) ?? []
  if (type === undefined || (!digits && !id)) return null
  const isPlace = type === 'URL' || type === 'FQDN' || type === 'NAME'
  const whole = isPlace && digits ? `${digits}_${id}` : id!
  return {
    type,
    size: digits && !isPlace ? Number(digits) : null,
    target: (services) => placeOf(whole, services),
  }
}

/** The variable of that name: its value is made once, and is the same wherever it is mentioned. */
export function magicVariable(
  name: string,
  services: string[],
  portOf: (service: string) => number | null,
): Variable {
  const magic = magicName(name)!
  const generate = generateOf(magic, services, portOf)
  const isPlace = generate.kind === 'address' || generate.kind === 'composed'
  return variable(name, { generate, secret: !isPlace, hidden: isPlace })
}

function generateOf(
  { type, size, target }: Magic,
  services: string[],
  portOf: (service: string) => number | null,
): Generate {
  const text = (length: number, alphabet: 'alphanumeric' | 'lowercase' | 'symbols') =>
    ({ kind: 'text', length, alphabet }) as const
  switch (type) {
    case 'PASSWORD':
      return text(size ?? 32, 'alphanumeric')
    case 'PASSWORDWITHSYMBOLS':
      return text(size ?? 32, 'symbols')
    case 'USER':
      return text(16, 'alphanumeric')
    case 'LOWERCASEUSER':
      return text(16, 'lowercase')
    case 'BASE64':
      return text(size ?? 32, 'alphanumeric')
    case 'REALBASE64':
      return { kind: 'base64', length: size ?? 32 }
    case 'HEX':
      return { kind: 'hex', length: size ?? 32 }
    case 'SUPABASEANON':
      return token('anon')
    case 'SUPABASESERVICE':
      return token('service_role')
    case 'NAME':
      return { kind: 'composed', parts: [target(services).service] }
    default: {
      const { service, port } = target(services)
      const form = type === 'URL' ? 'url' : 'host'
      return { kind: 'address', form, service, port: port ?? portOf(service), path: '' }
    }
  }
}

const token = (role: string): Generate => ({
  kind: 'jwt',
  key: 'SERVICE_PASSWORD_JWT',
  claims: { iss: 'supabase', role },
  seconds: hundredYears,
})

/** Ids are written in capitals with `_` for `-` and `.`; digits at the end are a port, or the name's. */
function placeOf(id: string, services: string[]) {
  const plain = (name: string) => name.toUpperCase().replace(/[^A-Z0-9]/g, '_')
  const named = (wanted: string) => services.find((name) => plain(name) === plain(wanted))
  const whole = named(id)
  if (whole) return { service: whole, port: null }
  const [, name, digits] = /^(.*)_(\d{1,5})$/.exec(id) ?? []
  const port = digits === undefined ? null : Number(digits)
  const service = named(name ?? id) ?? services[0] ?? (name ?? id).toLowerCase()
  return { service, port }
}
