import type { Path, Source, Tree } from '../../platform/yaml-source.ts'
import { quote } from './field.ts'
import { join } from './join.ts'
import { AppError } from '../../platform/errors.ts'

/** Returns the value of a variable. For a host, `generated` adds its URL under a longer name. */
export type Lookup = (name: string) => string | undefined

/** A reference to a variable: `$A`, or `${A}` with an operator and operand. */
type Mention = { name: string; operator: Operator | null; operand: string }
type Operator = ':-' | '-' | ':?' | '?' | ':+' | '+'
type Part = string | Mention

const maxDepth = 20
/** Maximum of references in one text: far more than people write. */
const maxMentions = 10_000
/** Maximum of references in a file, including those in defaults. */
export const maxInFile = 20_000
/** The remaining characters, shared by all texts of a file. */
export type Room = { left: number }

/** A value of 32 KiB may be used many times, and a text may be aliased many times. */
export const roomForFile = (): Room => ({ left: 4 * 1024 * 1024 })

/**
 * Expands variables in every text of the tree by Compose's rules; keys stay. Values are inserted literally:
 * YAML or references within them aren't interpreted.
 */
export function interpolate(
  tree: Tree,
  source: Source,
  lookup: Lookup,
  room = roomForFile(),
): Tree {
  return walk(tree, [])

  function walk(node: Tree, path: Path): Tree {
    if (node instanceof Map)
      return new Map([...node].map(([key, value]) => [key, walk(value, [...path, key])]))
    if (Array.isArray(node)) return node.map((value, index) => walk(value, [...path, index]))
    if (typeof node !== 'string') return node
    return explained(source, path, () => interpolateText(node, lookup, room))
  }
}

/** Like `interpolate`, for one text. Throws `invalid` with the variable. */
export function interpolateText(text: string, lookup: Lookup, room: Room, depth = 0): string {
  const found = parts(text, depth)
  for (const part of found) if (typeof part === 'string') spend(part)
  return join(found, {
    valueOf: (mention) => spend(resolve(mention, lookup, room, depth)),
    addressOf: ({ name }, at) => lookup(name + at),
  })

  function spend(made: string) {
    room.left -= made.length
    if (room.left < 0)
      throw new Unreadable('makes the file larger than 4 MiB. Use the variable less often.')
    return made
  }
}

/** Returns the variables that the text uses without an operator and that have no value. */
export const unsetIn = (text: string, lookup: Lookup) =>
  parts(text, 0).flatMap((part) =>
    typeof part !== 'string' && part.operator === null && lookup(part.name) === undefined
      ? [part.name]
      : [],
  )

type Mentioned = {
  name: string
  path: Path
  required: boolean
  fallback: string | null
  /** The error for a required variable without a value. */
  message: string
}

/** Finds every reference in the tree, including those in defaults. */
export function mentionsIn(tree: Tree, source: Source, at: Path = []) {
  const found: Mentioned[] = []
  walk(tree, at)
  return found

  function walk(node: Tree, path: Path) {
    if (node instanceof Map) for (const [key, value] of node) walk(value, [...path, key])
    else if (Array.isArray(node)) node.forEach((value, index) => walk(value, [...path, index]))
    else if (typeof node === 'string' && node.includes('$'))
      explained(source, path, () => collect(node, path, 0))
  }

  function collect(text: string, path: Path, depth: number) {
    for (const part of parts(text, depth)) {
      if (typeof part === 'string') continue
      const { name, operator, operand } = part
      const inner = operand.includes('$')
      const fallback = operator?.endsWith('-') && !inner ? operand : null
      const required = operator?.endsWith('?') ?? false
      found.push({ name, path, required, fallback, message: required ? operand : '' })
      if (found.length > maxInFile)
        throw new Unreadable(`has more than ${maxInFile} variables. Split the file.`)
      if (inner) collect(operand, path, depth + 1)
    }
  }
}

function resolve(
  { name, operator, operand }: Mention,
  lookup: Lookup,
  room: Room,
  depth: number,
): string {
  const value = lookup(name)
  if (operator === null) return value ?? ''
  const there = operator.startsWith(':') ? value !== undefined && value !== '' : value !== undefined
  const inner = () => interpolateText(operand, lookup, room, depth + 1)
  if (operator.endsWith('+')) return there ? inner() : ''
  if (there) return value!
  if (operator.endsWith('-')) return inner()
  throw new Unreadable(`needs a value for ${name}${operand ? `: ${inner()}` : ''}.`)
}

function parts(text: string, depth: number): Part[] {
  if (depth > maxDepth) throw new Unreadable(`nests variables more than ${maxDepth} deep.`)
  const found: Part[] = []
  let from = 0
  while (from < text.length) {
    const dollar = text.indexOf('$', from)
    if (dollar === -1) break
    found.push(text.slice(from, dollar))
    const { part, end } = readMention(text, dollar)
    found.push(part)
    if (found.length > 2 * maxMentions)
      throw new Unreadable(`uses variables more than ${maxMentions} times. Use them less often.`)
    from = end
  }
  found.push(text.slice(from))
  return found
}

const bareName = /[A-Za-z_][A-Za-z0-9_]*/y
const bracedName = /\{([A-Za-z_][A-Za-z0-9_]*)(:?[-?+]|(?=\}))/y

function readMention(text: string, dollar: number): { part: Part; end: number } {
  if (text[dollar + 1] === '$') return { part: '$', end: dollar + 2 }
  const bare = matchAt(bareName, text, dollar + 1)
  if (bare) return { part: { name: bare[0], operator: null, operand: '' }, end: bareName.lastIndex }
  // As in Compose, such as the end of a regular expression.
  if (text[dollar + 1] !== '{') return { part: '$', end: dollar + 1 }
  const braced = matchAt(bracedName, text, dollar + 1)
  const end = braced ? closingBrace(text, dollar) : -1
  if (!braced || end === -1)
    throw new Unreadable(
      `has ${quote(text.slice(dollar, dollar + 24))}, which isn’t a variable. Pair its braces, or write $$ for a dollar sign.`,
    )
  const operator = (braced[2] || null) as Operator | null
  const operand = text.slice(dollar + 1 + braced[0].length, end)
  return { part: { name: braced[1]!, operator, operand }, end: end + 1 }
}

function matchAt(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Finds the brace that closes the first one; a default may be JSON with braces. */
function closingBrace(text: string, dollar: number) {
  let open = 0
  for (let at = dollar + 1; at < text.length; at++) {
    if (text[at] === '{') open++
    else if (text[at] === '}' && --open === 0) return at
  }
  return -1
}

class Unreadable extends AppError {
  constructor(readonly complaint: string) {
    super('invalid', `This ${complaint}`)
  }
}

/** Adds file, line and key to an error. */
function explained<T>(source: Source, path: Path, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof Unreadable ? source.refuse(path, error.complaint) : error
  }
}
