import type { Path, Source, Tree } from '../../platform/yaml-source.ts'
import { keyOf } from '../../platform/yaml-source.ts'

/** A value of a Compose file with its position. Reads the expected type; errors name the key. */
export class Field {
  constructor(
    readonly value: Tree | undefined,
    readonly path: Path,
    readonly source: Source,
    /** Shared by the whole file: differences between the file and what Davit does. */
    readonly notes: string[] = [],
  ) {}

  /** As in Compose, a key without a value counts as missing. */
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

  /** Informs the user, who need not change anything. The complaint follows the key as its subject. */
  note(complaint: string) {
    this.notes.push(`${keyOf(this.path)} ${complaint}`)
  }

  get(key: string) {
    return this.at(key, this.value instanceof Map ? this.value.get(key) : undefined)
  }

  /** Refuses all other keys, except those that may be ignored and `x-…`. */
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

  /** A single value counts as a list of one. */
  oneOrMore() {
    return this.absent || this.isList ? this.items() : [this]
  }

  /** Throws when a list or map has more entries. */
  atMost(count: number) {
    const { value } = this
    const entries = Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0
    if (entries > count) throw this.refuse(`can have at most ${count} entries, not ${entries}.`)
    return this
  }

  /** Numbers and booleans are accepted, as written in the file. */
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

  /** As in Compose, which also accepts YAML 1.1's words. */
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

  or<T, U>(other: U, read: (field: Field) => T): T | U {
    return this.absent ? other : read(this)
  }

  private at(key: string | number, value: Tree | undefined) {
    return new Field(value, [...this.path, key], this.source, this.notes)
  }
}

/** Refuses leading zeros, since some parsers would read these as octal. */
const decimal = /^[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)$/

/** Shortened, as error messages may be logged. */
export const quote = (text: string) =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** A Compose file's tree with its services changed. */
export function mapServices(tree: Tree, change: (service: Map<string, Tree>) => Tree): Tree {
  const services = tree instanceof Map ? tree.get('services') : null
  if (!(tree instanceof Map) || !(services instanceof Map)) return tree
  const changed = [...services].map(([name, service]): [string, Tree] => [
    name,
    service instanceof Map ? change(service) : service,
  ])
  return new Map([...tree, ['services', new Map(changed)]])
}
