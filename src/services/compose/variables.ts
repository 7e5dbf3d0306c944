/** A value that a template asks for, or has made once. */
export type Variable = {
  name: string
  label: string
  description: string | null
  /** Null: the user gives it, or its default stands. */
  generate: Generate | null
  default: string | null
  required: boolean
  /** As `compilePattern` takes it. */
  pattern: string | null
  /** Sealed, masked, shown on request only. */
  secret: boolean
  /** Empty: any value. */
  options: string[]
  /** Not asked for: it follows from others, or only helps to make them. */
  hidden: boolean
}

/** How a value is made. Lengths are in characters, those of base64 in bytes before it is encoded. */
export type Generate =
  | { kind: 'text'; length: number; alphabet: Alphabet }
  | { kind: 'hex'; length: number }
  | { kind: 'base64'; length: number }
  | { kind: 'uuid' }
  | { kind: 'email' }
  /** Signed with the value of the variable `key`, else with a random key. */
  | { kind: 'jwt'; key: string | null; claims: Claims; seconds: number | null }
  /** Where a service is published; `host` with its port where that is not the scheme's own. */
  | {
      kind: 'address'
      form: 'url' | 'host' | 'hostname'
      service: string
      port: number | null
      path: string
    }
  /** Milliseconds or seconds since 1970; `of` null: now. */
  | { kind: 'time'; unit: 'ms' | 's'; of: string | null }
  | { kind: 'port' }
  /** The values of other variables within a text. */
  | { kind: 'composed'; parts: (string | { variable: string })[] }

/** Follows from something else each time, and is not kept: it changes when an address does. */
export const isDerived = (generate: Generate | null) =>
  generate?.kind === 'address' || generate?.kind === 'composed'

export type Alphabet = 'alphanumeric' | 'lowercase' | 'symbols'

/** Given, or the JSON that a variable holds. */
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
