import { raw } from 'hono/html'
import { ansiHtml } from './ansi.ts'

export type LogLine = {
  sequence: number
  /** Milliseconds since 1970. */
  time: number
  stream: 'system' | 'stdout' | 'stderr'
  text: string
}

/** A line as the page and the stream show it. A string: drawing a JSX element for each line is too slow. */
export function logLineHtml({ sequence, stream, text }: LogLine) {
  const link = `<a href="#L${sequence}" tabindex="-1">${sequence}</a>`
  const classes = stream === 'stdout' ? 'line' : `line ${stream}`
  return `<div class="${classes}" id="L${sequence}" data-seq="${sequence}">${link}<span>${ansiHtml(text)}</span></div>`
}

export const LogLine = ({ line }: { line: LogLine }) => raw(logLineHtml(line))
