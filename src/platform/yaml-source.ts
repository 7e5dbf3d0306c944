import { AppError } from './errors.ts'

/** A YAML value. Maps keep any key (`__proto__` too) and the order of the file. */
export type Tree = string | number | boolean | null | Tree[] | Map<string, Tree>
export type Path = readonly (string | number)[]

/** Both are counted from 1. */
export type Position = { line: number; column: number }

/** Where a key or item stands, and those in its value. */
export type Places = { at: Position | null; below: Map<string | number, Places> }

/** The origin of a tree, for errors with file, line, column and key. */
export class Source {
  constructor(
    /** As the user knows it. */
    readonly file: string,
    /** The field of the form or the JSON body with the text. */
    readonly field: string | null,
    readonly places: Places,
  ) {}

  /** The position of a key or item; if it isn't in the text, that of the nearest one above it. */
  positionOf(path: Path) {
    let place = this.places
    for (const part of path) {
      const next = place.below.get(part)
      if (!next) break
      place = next
    }
    return place.at
  }

  /** The complaint follows the key as its subject, and says what to do. */
  refuse(path: Path, complaint: string) {
    const key = keyOf(path)
    const said = key === '' ? complaint : `${key} ${complaint}`
    return refuseAt(this, this.positionOf(path), said, path)
  }
}

export function refuseAt(
  { file, field }: Pick<Source, 'file' | 'field'>,
  place: Position | null,
  complaint: string,
  path: Path = [],
) {
  const where = place ? `${file}, line ${place.line}, column ${place.column}` : file
  const message = `${where}: ${complaint}`
  return new Refusal(message, field, path)
}

/** An `invalid` error with its position in the file. */
export class Refusal extends AppError {
  constructor(
    message: string,
    field: string | null,
    readonly path: Path,
  ) {
    super('invalid', message, { fields: field ? [{ field, message }] : [] })
  }
}

/** As users write it: `services.web.ports[0]`. */
export const keyOf = (path: Path) =>
  path.reduce<string>(
    (key, part) =>
      typeof part === 'number' ? `${key}[${part}]` : key === '' ? part : `${key}.${part}`,
    '',
  )

export const valueAt = (tree: Tree, path: Path): Tree | undefined =>
  path.reduce<Tree | undefined>((node, part) => {
    if (node instanceof Map) return node.get(String(part))
    return Array.isArray(node) ? node[Number(part)] : undefined
  }, tree)

export function plain(tree: Tree): unknown {
  if (Array.isArray(tree)) return tree.map(plain)
  if (!(tree instanceof Map)) return tree
  return Object.fromEntries([...tree].map(([key, value]) => [key, plain(value)]))
}
