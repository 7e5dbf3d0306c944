import type { MapNode } from './graph.ts'
import { rateText } from './traffic.ts'

/**
 * A name in a line that isn't HTML, where nothing isolates it: what turns round the order of its
 * surroundings is taken out, and its own direction stays its own.
 */
export const isolated = (name: string) =>
  `\u2068${name.replace(/[\u202A-\u202E\u2066-\u2069]/g, '')}\u2069`

/** As it is called among others: `hello / production`. */
export const fullName = ({ kind, name, project }: MapNode) =>
  kind === 'app' ? `${isolated(project!.name)} / ${isolated(name)}` : isolated(name)

/** What there is to say of a node beside its name. */
export const factsOf = ({ look, note, traffic }: MapNode) =>
  [look.word, note, rateText(traffic)].filter((fact) => fact !== null && fact !== '')

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The beginning of a text that fits into so many letters of usual width; all of it where it does. */
export function clipped(text: string, most: number) {
  let [room, kept] = [most, '']
  for (const { segment } of characters.segment(text)) {
    room -= widthOf(segment)
    if (room < 0) return `${kept.trimEnd()}…`
    kept += segment
  }
  return kept
}

/** In usual letters. Of what is wide in most scripts the wider: the server doesn't know the font. */
function widthOf(character: string) {
  const code = character.codePointAt(0)!
  if (code >= 0x1100 && !(code >= 0x1e00 && code <= 0x20cf)) return 2
  if (code > 0x590) return 1.1
  return /[A-Z@%&mwMW—]/.test(character) ? 1.35 : 1
}
