/** What the first comments of a Dockerfile say to who reads it: `# escape=`, `# syntax=`. */
export type Directives = {
  /** The image that is to read the file, each way it can be said; most files have none. */
  syntaxes: string[]
  /** What joins a line with the next. */
  escape: Escape
}

export type Escape = '\\' | '`'

type Comment = { key: string; value: string }

/**
 * Reads the directives. Engines differ in whether a comment with an unknown key ends them: `lenient`
 * reads on behind one. A syntax is looked for in every place in which any engine looks.
 */
export function directivesOf(text: string, { lenient }: { lenient: boolean }): Directives {
  const found = commentsOf(text, '#', { lenient })
  const escape = found.find(({ key }) => key === 'escape')?.value
  return { syntaxes: syntaxesOf(text), escape: escape === '`' ? '`' : '\\' }
}

/** Behind a byte order mark or a `#!` line too, after `//`, or as the only member of a JSON object. */
function syntaxesOf(text: string): string[] {
  const body = text.replace(/^\uFEFF/, '').replace(/^#![^\n]*(\n|$)/, '')
  const comments = ['#', '//'].flatMap((sign) => commentsOf(body, sign, { lenient: true }))
  return [
    ...comments.filter(({ key }) => key === 'syntax').map(({ value }) => value),
    ...jsonSyntax(body),
  ]
}

function jsonSyntax(text: string): string[] {
  if (!/^\s*\{/.test(text)) return []
  try {
    const { syntax } = JSON.parse(text) as { syntax?: unknown }
    return typeof syntax === 'string' ? [syntax] : []
  } catch {
    return []
  }
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

/** One by one: the first comments are few, the file may be long. */
function* lines(text: string) {
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf('\n', from)
    yield text.slice(from, end === -1 ? text.length : end)
    if (end === -1) return
    from = end + 1
  }
}
