import type { Path, Source, Tree } from './source.ts'
import { keyOf } from './source.ts'

/** A value of a Compose file and where it stands: reads the expected type or names the key in a refusal. */
export class Field {
  constructor(
    readonly value: Tree | undefined,
    readonly path: Path,
    readonly source: Source,
    /** Of the whole file: what is not done as it says. */
    readonly notes: string[] = [],
  ) {}

  /** Compose takes a key without a value for one that is not there. */
  get absent() {
    return this.value === undefined || this.value === null
  }

  get isText() {
    return typeof this.value === 'string'
  }

  get isMap() {
    return this.value instanceof Map
  }

  get isList() {
    return Array.isArray(this.value)
  }

  refuse(complaint: string) {
    return this.source.refuse(this.path, complaint)
  }

  /** For the user, who need not change anything. The complaint follows the key as its subject. */
  note(complaint: string) {
    this.notes.push(`${keyOf(this.path)} ${complaint}`)
  }

  get(key: string) {
    return this.at(key, this.value instanceof Map ? this.value.get(key) : undefined)
  }

  /** Refuses every other key by name, but those that may be ignored; `x-…` may stand anywhere. */
  only(
    keys: readonly string[],
    hint: (key: string) => string = () => 'Remove it.',
    ignored: Readonly<Record<string, string>> = {},
  ) {
    for (const [key, field] of this.entries()) {
      if (keys.includes(key) || key.startsWith('x-')) continue
      if (!Object.hasOwn(ignored, key)) throw field.refuse(`isn’t supported. ${hint(key)}`)
      field.note(`is ignored. ${ignored[key]}`)
    }
    return this
  }

  entries(): [string, Field][] {
    if (this.absent) return []
    if (!(this.value instanceof Map)) throw this.refuse('must have keys with values below it.')
    return [...this.value].map(([key, value]) => [key, this.at(key, value)])
  }

  items(): Field[] {
    if (this.absent) return []
    if (!Array.isArray(this.value)) throw this.refuse('must be a list.')
    return this.value.map((value, index) => this.at(index, value))
  }

  /** A list, or one value that stands for a list of one. */
  oneOrMore() {
    return this.absent || this.isList ? this.items() : [this]
  }

  /** Refuses a list or map with more entries than that. */
  atMost(count: number) {
    const { value } = this
    const entries = Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0
    if (entries > count) throw this.refuse(`can have at most ${count} entries, not ${entries}.`)
    return this
  }

  /** Text as the file writes it: numbers and booleans count too. */
  text(what = 'text'): string {
    const { value } = this
    if (typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    throw this.refuse(`must be ${what}.`)
  }

  matching(pattern: RegExp, what: string) {
    const text = this.text(what)
    if (text.length <= 4096 && pattern.test(text)) return text
    throw this.refuse(`is ${quote(text)}, but must be ${what}.`)
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    const text = this.text(choices.join(' or '))
    const found = choices.find((choice) => choice === text)
    if (found === undefined)
      throw this.refuse(`is ${quote(text)}, but must be ${choices.join(' or ')}.`)
    return found
  }

  /** As Compose takes it, YAML 1.1's words too. */
  flag(): boolean {
    const text = this.text('true or false')
    if (/^(true|yes|on|y)$/i.test(text)) return true
    if (/^(false|no|off|n)$/i.test(text)) return false
    throw this.refuse(`is ${quote(text)}, but must be true or false.`)
  }

  number({ min, max, whole = true }: { min: number; max: number; whole?: boolean }): number {
    const text = this.text('a number')
    const number = decimal.test(text) ? Number(text) : NaN
    const fits = number >= min && number <= max && (!whole || Number.isInteger(number))
    if (!fits)
      throw this.refuse(
        `is ${quote(text)}, but must be a number from ${min} to ${max}, written in plain digits.`,
      )
    return number
  }

  /** What `read` makes of it, or the other value when it is not there. */
  or<T, U>(other: U, read: (field: Field) => T): T | U {
    return this.absent ? other : read(this)
  }

  private at(key: string | number, value: Tree | undefined) {
    return new Field(value, [...this.path, key], this.source, this.notes)
  }
}

/** Without a leading zero, with which some would read it as octal. */
const decimal = /^[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)$/

/** Shortened: error messages may be logged. */
export const quote = (text: string) =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
