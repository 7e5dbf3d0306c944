import type { Path, Position, Tree } from '../../platform/yaml-source.ts'
import { Source } from '../../platform/yaml-source.ts'
import type { Template } from './template.ts'

/** A template that can be sent between threads: positions of its values are stored beside the text. */
export type PackedTemplate = Omit<Template, 'source'> & {
  source: { file: string; field: string | null; places: Map<string, Position> }
}

export function pack({ source, ...template }: Template): PackedTemplate {
  const { file, field } = source
  const places = new Map<string, Position>()
  note(template.tree, [])
  return { ...template, source: { file, field, places } }

  function note(node: Tree, path: Path) {
    const place = source.positionOf(path)
    if (place) places.set(keyOf(path), place)
    if (node instanceof Map) for (const [key, child] of node) note(child, [...path, key])
    else if (Array.isArray(node)) node.forEach((child, index) => note(child, [...path, index]))
  }
}

export function unpack({ source, ...template }: PackedTemplate): Template {
  const { file, field, places } = source
  const positionOf = (path: Path): Position | null => {
    for (let length = path.length; length > 0; length--) {
      const place = places.get(keyOf(path.slice(0, length)))
      if (place) return place
    }
    return null
  }
  return { ...template, source: new Source(file, field, positionOf) }
}

const keyOf = (path: Path) => path.join('\0')
