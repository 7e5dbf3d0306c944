import type { ContainerLogQuery } from './log-forms.ts'
import type { Line } from './log-line.ts'

/** Which lines are wanted; null for all of them. */
export function logFilter({
  stream,
  search,
}: Pick<ContainerLogQuery, 'stream' | 'search'>): ((line: Line) => boolean) | null {
  if (!stream && !search) return null
  const text = search?.toLowerCase()
  return (line) =>
    (!stream || line.stream === stream) && (!text || line.text.toLowerCase().includes(text))
}
