import type { Entry } from './catalogue.ts'

/** Entries that have every word somewhere in name, description, tags or category. */
export function matching(entries: Entry[], { q, category }: { q: string; category: string }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return entries.filter(({ template, about }) => {
    if (category && about.category !== category) return false
    const text = [template, about.name, about.description, about.category, ...about.tags]
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
