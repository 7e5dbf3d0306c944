import type { Document, ParsedNode } from 'yaml'
import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser } from 'yaml'
import type { Places, Position, Source as SourceType, Tree } from './yaml-source.ts'
import { refuseAt, Source } from './yaml-source.ts'

/** Far longer than any Compose file, and shorter than a body may be. */
export const maxFileBytes = 1024 * 1024
/** Some 3,000 lines, for which the parser takes up to 100 ms. */
const maxLexemes = 25_000
const maxDepth = 100
/** Values in the tree, with each alias expanded. */
const maxNodes = 20_000

const plainTags = ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map(
  (tag) => `tag:yaml.org,2002:${tag}`,
)

export type Origin = { file: string; field?: string }

/**
 * Reads one YAML document with YAML 1.2's core schema. Aliases and `<<` are resolved, and scalars keep their
 * original text. Throws `invalid` with line and column for anything else, and for text that is designed to be
 * expensive.
 */
export function readYaml(text: string, { file, field }: Origin): { tree: Tree; source: Source } {
  const origin = { file, field: field ?? null }
  const lines = new LineCounter()
  const refuse = (offset: number | null, complaint: string) =>
    refuseAt(origin, offset === null ? null : placeAt(lines, offset), complaint)

  if (text.length > maxFileBytes || Buffer.byteLength(text) > maxFileBytes)
    throw refuse(null, 'is larger than 1 MiB. Put large files into an image or a volume instead.')
  if (countLexemes(text) > maxLexemes)
    throw refuse(null, `has more than ${maxLexemes} tokens. Split it.`)

  const document = compose(text, lines, refuse)
  const { tree, places } = resolve(document, lines, refuse)
  return { tree, source: new Source(file, origin.field, places) }
}

type Refuse = (offset: number | null, complaint: string) => ReturnType<SourceType['refuse']>

/** Cheaper than parsing, so that a text made only of punctuation is refused first. */
function countLexemes(text: string) {
  let count = 0
  for (const _ of new Lexer().lex(text)) if (++count > maxLexemes) break
  return count
}

function compose(text: string, lines: LineCounter, refuse: Refuse) {
  // `resolve` finds duplicate keys, as the parser compares each key with each.
  const options = { schema: 'core', uniqueKeys: false, resolveKnownTags: false } as const
  const composer = new Composer({ ...options, prettyErrors: false, lineCounter: lines })
  const documents = [...composer.compose(tokens(text, lines, refuse))]
  const [document, second] = documents
  if (!document?.contents) throw refuse(null, 'is empty. Write at least one key.')
  const [error] = document.errors
  if (error) throw refuse(error.pos[0], explain(error))
  if (second) throw refuse(second.range[0], 'A second document starts here. Enter them one by one.')
  return document as Document.Parsed
}

function* tokens(text: string, lines: LineCounter, refuse: Refuse) {
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > maxDepth)
      throw refuse(parser.offset, `This is nested more than ${maxDepth} levels deep. Flatten it.`)
  }
  yield* parser.end()
}

const explain = ({ code, message }: { code: string; message: string }) =>
  code === 'TAB_AS_INDENT' || /\btabs?\b/i.test(message)
    ? 'This line is indented with a tab. YAML only allows spaces. Replace each tab with two.'
    : `This isn’t valid YAML: ${message.replace(/\.?$/, '.')} Correct the line.`

/** Converts the document to plain values, with aliases expanded. */
function resolve(document: Document.Parsed, lines: LineCounter, refuse: Refuse) {
  const anchors = new Map<string, ParsedNode>()
  const open = new Set<ParsedNode>()
  /** Kept, as an anchor may be given again before an alias is read once more. */
  const targets = new Map<unknown, ParsedNode>()
  let count = 0
  const places = placesAt(null)
  return { tree: valueOf(document.contents, places), places }

  /** Adds the places of the values in it to `own`. */
  function valueOf(node: ParsedNode | null, own: Places): Tree {
    if (++count > maxNodes)
      throw refuse(offsetOf(node), `Aliases make this over ${maxNodes} values. Write it out.`)
    if (node === null) return null
    if (isAlias(node)) return valueOf(targetOf(node as ParsedNode & { source: string }), own)
    if (node.tag && !plainTags.includes(node.tag))
      throw refuse(offsetOf(node), `The tag ${node.tag.slice(0, 60)} isn’t supported. Remove it.`)
    if ('anchor' in node && node.anchor) anchors.set(node.anchor, node)
    if (isScalar(node)) return scalar(node as ParsedNode & { value: unknown; source?: string })
    open.add(node)
    const value = isSeq(node)
      ? (node.items as ParsedNode[]).map((item, index) => valueOf(item, below(own, index, item)))
      : mapOf(node as ParsedNode, own)
    open.delete(node)
    return value
  }

  function below(above: Places, part: string | number, at: ParsedNode) {
    const offset = offsetOf(at)
    const own = placesAt(offset === null ? above.at : placeAt(lines, offset))
    above.below.set(part, own)
    return own
  }

  function targetOf(alias: ParsedNode & { source: string }): ParsedNode {
    const target = targets.get(alias) ?? anchors.get(alias.source)
    if (!target)
      throw refuse(offsetOf(alias), `*${alias.source} has no anchor &${alias.source} before it.`)
    if (open.has(target))
      throw refuse(offsetOf(alias), `*${alias.source} contains itself. Write its values out.`)
    targets.set(alias, target)
    return target
  }

  function mapOf(node: ParsedNode, own: Places): Map<string, Tree> {
    const map = new Map<string, Tree>()
    const merged: [Map<string, Tree>, Places][] = []
    if (!isMap(node)) return map
    for (const { key, value } of node.items as { key: ParsedNode; value: ParsedNode | null }[]) {
      const name = nameOf(key)
      if (isMergeKey(key)) merged.push(...mergeSources(key, value))
      else if (map.has(name))
        throw refuse(offsetOf(key), `The key ${name} is repeated here. Remove one.`)
      else map.set(name, valueOf(value, below(own, name, key)))
    }
    for (const [from, places] of merged)
      for (const [name, value] of from) {
        if (map.has(name)) continue
        map.set(name, value)
        own.below.set(name, places.below.get(name)!)
      }
    return map
  }

  function nameOf(key: ParsedNode) {
    if (!isScalar(key)) throw refuse(offsetOf(key), 'A key must be plain text.')
    if (key.tag && !plainTags.includes(key.tag))
      throw refuse(offsetOf(key), 'A key can’t have a tag.')
    return String(key.source ?? key.value ?? '')
  }

  function mergeSources(key: ParsedNode, node: ParsedNode | null) {
    const all = placesAt(null)
    const value = valueOf(node, all)
    const list = Array.isArray(value) ? value : [value]
    return list.map((item, index): [Map<string, Tree>, Places] => {
      if (item instanceof Map) return [item, item === value ? all : all.below.get(index)!]
      throw refuse(offsetOf(key), '<< must be a map, or a list of maps, such as *defaults.')
    })
  }

  function scalar({
    value,
    source,
    range,
  }: ParsedNode & { value: unknown; source?: string }): Tree {
    if (typeof value === 'string') {
      if (value.includes('\0')) throw refuse(range[0], 'This has a NUL character. Remove it.')
      return value
    }
    if (value === null) return null
    // Only a value with the usual notation gets a type: 1.10, 0002, 0o400, True and 1e9 stay text.
    const text = source ?? String(value)
    return String(value) === text ? (value as number | boolean) : text
  }
}

const placesAt = (at: Position | null): Places => ({ at, below: new Map() })

const isMergeKey = (key: ParsedNode) => isScalar(key) && key.type === 'PLAIN' && key.source === '<<'

const offsetOf = (node: ParsedNode | null) => node?.range?.[0] ?? null

function placeAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}
