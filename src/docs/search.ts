import { contents, findDocument } from './documents.ts'

export type SearchResult = ReturnType<typeof search>[number]

const maxResults = 30

/** Characters of an excerpt: before its first hit, and in total. */
const lead = 60
const length = 220

/** Sections that contain all words; hits in the heading come first. */
export function search(text: string) {
  const words = [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))]
  if (words.length === 0) return []
  return contents()
    .flatMap(({ entries }) => entries.map(({ name }) => findDocument(name)!))
    .flatMap((document) =>
      document.sections.flatMap((section) => {
        const title = section.title.toLowerCase()
        const all = `${title} ${section.text.toLowerCase()}`
        if (!words.every((word) => all.includes(word))) return []
        const inTitle = words.filter((word) => title.includes(word)).length
        return [{ document, section, inTitle, isTop: section.level === 1 }]
      }),
    )
    .toSorted((a, b) => b.inTitle - a.inTitle || Number(b.isTop) - Number(a.isTop))
    .slice(0, maxResults)
    .map(({ document, section }) => ({
      document,
      section,
      excerpt: excerptOf(section.text, words),
    }))
}

/** Text around the first hit, split so that every other piece is a searched word. */
function excerptOf(text: string, words: string[]) {
  const hits = RegExp(`(${words.map((word) => RegExp.escape(word)).join('|')})`, 'gi')
  const first = Math.max(0, text.search(hits))
  const start = first > lead ? text.indexOf(' ', first - lead) + 1 : 0
  const end = text.length - start > length ? text.lastIndexOf(' ', start + length) : text.length
  const cut = (start > 0 ? '… ' : '') + text.slice(start, end) + (end < text.length ? ' …' : '')
  return cut.split(hits)
}
