import { jsonOrNull } from '../../platform/json.ts'

export type Escape = '\\' | '`'

type Comment = { key: string; value: string }

/**
 * Returns the line continuation character, from `# escape=`. Engines differ in whether a comment with an
 * unknown key ends the directives: `lenient` continues after one.
 */
export function escapeOf(text: string, { lenient }: { lenient: boolean }): Escape {
  const found = commentsOf(text, '#', { lenient }).find(({ key }) => key === 'escape')
  return found?.value === '`' ? '`' : '\\'
}

/**
 * Returns the frontend images (`# syntax=`) wherever any engine looks for one: also after a byte order mark
 * or a `#!` line, after `//`, or as the only member of a JSON object.
 */
export function syntaxesOf(text: string): string[] {
  const body = text.replace(/^\uFEFF/, '').replace(/^#![^\n]*(\n|$)/, '')
  const comments = ['#', '//'].flatMap((sign) => commentsOf(body, sign, { lenient: true }))
  return [
    ...comments.filter(({ key }) => key === 'syntax').map(({ value }) => value),
    ...jsonSyntax(body),
  ]
}

function jsonSyntax(text: string): string[] {
  if (!/^\s*\{/.test(text)) return []
  const { syntax } = (jsonOrNull(text) ?? {}) as { syntax?: unknown }
  return typeof syntax === 'string' ? [syntax] : []
}

const known = ['syntax', 'escape', 'check']

function commentsOf(text: string, sign: string, { lenient }: { lenient: boolean }): Comment[] {
  const found: Comment[] = []
  for (const line of lines(text.replace(/^\uFEFF/, ''))) {
    const comment = line.trim()
    if (!comment.startsWith(sign)) break
    const [, name, value] =
      /^([A-Za-z][A-Za-z0-9]*)\s*=\s*(\S.*)$/.exec(comment.slice(sign.length).trimStart()) ?? []
    if (name === undefined || value === undefined) break
    const key = name.toLowerCase()
    if (known.includes(key)) found.push({ key, value })
    else if (!lenient) break
  }
  return found
}

/** A generator, as only the first few lines are needed of a file that may be long. */
function* lines(text: string) {
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf('\n', from)
    yield text.slice(from, end === -1 ? text.length : end)
    if (end === -1) return
    from = end + 1
  }
}
