import { kinds } from './items.ts'
import type { Item } from './items.ts'

/** Results that are listed. */
const maxResults = 20

/**
 * Finds items that contain all words, best first: names that begin with a word, names in which a word begins,
 * names that contain it, then details. Without words all items match.
 */
export function findItems(items: Item[], text: string): Item[] {
  const words = [...new Set(folded(text).split(/\s+/).filter(Boolean))].map(
    (word) => [word, wordStart(word)] as const,
  )
  return items
    .map((item) => ({ item, rank: rankOf(item, words) }))
    .filter(({ rank }) => rank < Infinity)
    .toSorted((a, b) => a.rank - b.rank || kindOf(a.item) - kindOf(b.item))
    .slice(0, maxResults)
    .map(({ item }) => item)
}

const kindOf = ({ kind }: Item) => kinds.indexOf(kind)

const folded = (text: string) => text.normalize('NFKC').toLowerCase()

const wordStart = (word: string) => RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}`, 'u')

/** Lower is better. */
function rankOf({ name, detail }: Item, words: (readonly [string, RegExp])[]) {
  const [inName, inDetail] = [folded(name), folded(detail)]
  return words.reduce((rank, [word, start]) => {
    if (inName.startsWith(word)) return rank
    if (start.test(inName)) return rank + 1
    if (inName.includes(word)) return rank + 2
    return rank + (inDetail.includes(word) ? 3 : Infinity)
  }, 0)
}
