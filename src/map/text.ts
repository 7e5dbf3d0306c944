import type { MapNode } from './graph.ts'
import { rateText } from './traffic.ts'

/**
 * Isolates a name in plain text, which has no <bdi>: removes characters that could
 * change the direction of the text around it, and keeps its own direction.
 */
export const isolated = (name: string) =>
  `\u2068${name.replace(/[\u202A-\u202E\u2066-\u2069]/g, '')}\u2069`

/** Includes the project of an app: `hello / production`. */
export const fullName = ({ kind, name, project }: MapNode) =>
  kind === 'app' ? `${isolated(project!.name)} / ${isolated(name)}` : isolated(name)

export const factsOf = ({ look, note, traffic }: MapNode) =>
  [look.word, note, rateText(traffic)].filter((fact) => fact !== null && fact !== '')

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Shortens a text to that many letters of average width. */
export function clipped(text: string, most: number) {
  let [room, kept] = [most, '']
  for (const { segment } of characters.segment(text)) {
    room -= widthOf(segment)
    if (room < 0) return `${kept.trimEnd()}…`
    kept += segment
  }
  return kept
}

/** In letters of average width. The server doesn't know the font, so it takes the wider value. */
function widthOf(character: string) {
  const code = character.codePointAt(0)!
  if (code >= 0x1100 && !(code >= 0x1e00 && code <= 0x20cf)) return 2
  if (code > 0x590) return 1.1
  if (/\d/.test(character)) return 1.1
  return /[A-Z@%&mwMW—]/.test(character) ? 1.35 : 1
}
