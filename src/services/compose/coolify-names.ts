import type { Alphabet, Generate, Variable } from './variables.ts'
import { variable } from './variables.ts'

type Magic = {
  type: string
  /** In characters or bytes, if the name says so. */
  size: number | null
  /** The subject of the name. For an address this is a service, perhaps with its port, as in `WEB_3000`. */
  id: string
}

/** True if the name is for a service's address rather than a value. */
export const isAddress = (name: string) => /^(URL|FQDN)$/.test(magicName(name)?.type ?? '')

const text = (length: number, alphabet: Alphabet): Generate => ({ kind: 'text', length, alphabet })

/** Of the names that are values; the size is that of the name, if it says one. */
const values: Record<string, (size?: number) => Generate> = {
  PASSWORDWITHSYMBOLS: (size = 32) => text(size, 'symbols'),
  PASSWORD: (size = 32) => text(size, 'alphanumeric'),
  LOWERCASEUSER: () => text(16, 'lowercase'),
  USER: () => text(16, 'alphanumeric'),
  REALBASE64: (length = 32) => ({ kind: 'base64', length }),
  BASE64: (size = 32) => text(size, 'alphanumeric'),
  HEX: (length = 32) => ({ kind: 'hex', length }),
  SUPABASEANON: () => token('anon'),
  SUPABASESERVICE: () => token('service_role'),
}

const types = [...Object.keys(values), 'URL', 'FQDN', 'NAME'].join('|')
const shape = new RegExp(`^SERVICE_(${types})_(?:(32|64|128)(?![^_]))?_?(.*)`)

const hundredYears = 100 * 365.25 * 24 * 3600

/** Parses one of Coolify's names; null for any other name. */
export function magicName(name: string): Magic | null {
  const [, type, digits, id] = shape.exec(name) ?? []
  if (type === undefined || (!digits && !id)) return null
  const isPlace = type === 'URL' || type === 'FQDN' || type === 'NAME'
  const whole = isPlace && digits ? `${digits}_${id}` : id!
  return { type, size: digits && !isPlace ? Number(digits) : null, id: whole }
}

/** Returns the variable for such a name. Its value is generated once, and is the same everywhere. */
export function magicVariable(name: string, places: Places): Variable {
  const generate = generateOf(magicName(name)!, places)
  const isPlace = generate.kind === 'address' || generate.kind === 'composed'
  return variable(name, { generate, secret: !isPlace, hidden: isPlace })
}

function generateOf({ type, size, id }: Magic, { placeOf, portOf }: Places): Generate {
  if (values[type]) return values[type](size ?? undefined)
  const { service, port } = placeOf(id)
  if (type === 'NAME') return { kind: 'composed', parts: [service] }
  const form = type === 'URL' ? 'url' : port === null ? 'hostname' : 'host'
  return { kind: 'address', form, service, port: port ?? portOf(service) }
}

const token = (role: string): Generate => ({
  kind: 'jwt',
  key: 'SERVICE_PASSWORD_JWT',
  claims: { iss: 'supabase', role },
  seconds: hundredYears,
})

type Places = {
  placeOf: PlaceOf
  /** The first published port of a service; null if the file doesn't name one. */
  portOf: (service: string) => number | null
}

export type PlaceOf = (id: string) => { service: string; port: number | null }

/**
 * Ids are service names in upper case without punctuation; digits at the end may be a port, or part of the
 * name. An id without a service refers to the service that uses it in its environment: `users` maps ids
 * without ports to these.
 */
export function placesAmong(services: string[], users: ReadonlyMap<string, string>): PlaceOf {
  const named = new Map(services.map((name) => [lettersOf(name), name]))
  return (id) => {
    const whole = named.get(lettersOf(id))
    if (whole) return { service: whole, port: null }
    const { name, port } = splitId(id)
    const service = named.get(lettersOf(name)) ?? users.get(name) ?? name.toLowerCase()
    return { service, port }
  }
}

const lettersOf = (name: string) => name.toUpperCase().replace(/[^A-Z0-9]/g, '')

/** `WEB_3000` is service `WEB` with port 3000. */
export function splitId(id: string): { name: string; port: number | null } {
  const [, name = '', digits = ''] = /^(.*)_(\d{1,5})$/.exec(id) ?? []
  const port = portAt(digits)
  return port === null ? { name: id, port } : { name, port }
}

export const portAt = (text: string) =>
  /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536 ? Number(text) : null
