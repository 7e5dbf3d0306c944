/** A value that a template asks for, or that is generated once. */
export type Variable = {
  name: string
  label: string
  description: string | null
  /** Null when the user sets it, or its default applies. */
  generate: Generate | null
  default: string | null
  required: boolean
  /** In the syntax of `compilePattern`. */
  pattern: string | null
  /** Encrypted, masked, and only shown on request. */
  secret: boolean
  /** Empty means any value. */
  options: string[]
  /** Not shown to the user: it depends on others, or is only part of them. */
  hidden: boolean
}

/** The way a value is generated. Lengths are in characters; for base64, in bytes before encoding. */
export type Generate =
  | { kind: 'text'; length: number; alphabet: Alphabet }
  | { kind: 'hex'; length: number }
  | { kind: 'base64'; length: number }
  | { kind: 'uuid' }
  | { kind: 'email' }
  /** Signed with the value of the variable `key`, else with a random key. */
  | { kind: 'jwt'; key: string | null; claims: Claims; seconds: number | null }
  /** The address of a published service. `host` includes the port, unless it is the scheme's default. */
  | {
      kind: 'address'
      form: 'url' | 'host' | 'hostname'
      service: string
      port: number | null
    }
  /** Milliseconds or seconds since 1970. A null `of` means now. */
  | { kind: 'time'; unit: 'ms' | 's'; of: string | null }
  | { kind: 'port' }
  /** A text with values of other variables. */
  | { kind: 'composed'; parts: (string | { variable: string })[] }

/** True for a value that is computed each time and never stored, as it changes with an address. */
export const isDerived = (generate: Generate | null) =>
  generate?.kind === 'address' || generate?.kind === 'composed'

export type Alphabet = 'alphanumeric' | 'lowercase' | 'symbols'

/** Literal claims, or a variable whose value has them as JSON. */
export type Claims = Record<string, unknown> | { variable: string }

export const variable = (name: string, more: Partial<Variable> = {}): Variable => ({
  name,
  label: name,
  description: null,
  generate: null,
  default: null,
  required: false,
  pattern: null,
  secret: false,
  options: [],
  hidden: false,
  ...more,
})

export type Variables = ReadonlyMap<string, Variable>
export type Values = ReadonlyMap<string, string>

/** The URL of a service's published port, without a path. A null port means its first one. */
export type AddressOf = (service: string, port: number | null) => string
