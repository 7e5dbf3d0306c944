/**
 * Reads a .dockerignore and tells which paths of a context it leaves out, as the documentation
 * of Docker says: the last line that matches a path, or a folder above it, decides.
 */
export function parseDockerignore(text: string): (path: string) => boolean {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#'))
    .map((line) => parseRule(line.trim()))
    .filter((rule) => rule !== null)
  const lastFirst = rules.reverse()
  return (path) => lastFirst.find(({ pattern }) => pattern.test(path))?.ignore ?? false
}

type Rule = { ignore: boolean; pattern: RegExp }

function parseRule(line: string): Rule | null {
  const ignore = !line.startsWith('!')
  const pattern = cleanPath(ignore ? line : line.slice(1).trim())
  return pattern === '' ? null : { ignore, pattern: toRegExp(pattern) }
}

/** Drops empty parts and “.”, and takes back the part before each “..”. */
function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part === '..' && path.startsWith('/')) continue
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

// `**` is any number of folders; the rest is Go's filepath.Match.
const token = /\*\*\/?|\*|\?|\\.|\[\^?(?:\\.|[^\]\\])+\]|[^]/gu

function toRegExp(pattern: string): RegExp {
  const tokens = pattern.match(token) ?? []
  const source = tokens.map((text, i) => translate(text, i === tokens.length - 1)).join('')
  try {
    return new RegExp(`^${source}(/.*)?$`, 'us')
  } catch {
    return new RegExp(`^${RegExp.escape(pattern)}(/.*)?$`, 'us') // A class such as [z-a].
  }
}

function translate(text: string, isLast: boolean): string {
  if (text.startsWith('**')) return isLast ? '.*' : '(.*/)?'
  if (text === '*') return '[^/]*'
  if (text === '?') return '[^/]'
  if (text.length > 2 && text.startsWith('['))
    return `(?!/)${text.replace(/(?<!\\)\[(?!^)/g, '\\[')}`
  return RegExp.escape(text.length === 2 && text.startsWith('\\') ? text.slice(1) : text)
}
