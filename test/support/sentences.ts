import { join } from 'node:path'

/** A text that a person reads, and where it is. */
export type Sentence = { file: string; text: string }

const root = join(import.meta.dir, '../..')

/**
 * The texts, JSX texts and comments of code and the prose of Markdown; of code only its texts, or the
 * titles of its tests, where that is said.
 */
export async function sentencesOf(patterns: string[], only?: keyof typeof readers) {
  const files = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)]).sort()
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await Bun.file(join(root, file)).text()
      const texts = (only ? readers[only] : readerOf(file))(text)
      return texts.map((one): Sentence => ({ file, text: one.replace(/\s+/g, ' ').trim() }))
    }),
  )
  return found.flat()
}

function readerOf(file: string) {
  if (file.endsWith('.md')) return proseOf
  if (file.endsWith('.css')) return commentsIn
  return (text: string) => [...commentsIn(text), ...literalsIn(text)]
}

/** Prose without code blocks, code and addresses. */
export const proseOf = (markdown: string) =>
  markdown
    .replace(/^```.*?^```/gms, '')
    .replace(/`[^`\n]*`|\]\([^)]*\)|https?:\S+/g, ' ')
    .split(/\n\s*\n|^[-*|] /m)

export const commentsIn = (code: string) =>
  Array.from(
    code.matchAll(/(?:^|\s)(?:\/\*\*?(.*?)\*\/|((?:\/\/[^\n]*(?:\n\s*(?=\/\/)|$))+))/gms),
    ([, block, lines]) => (block ?? lines!).replace(/^\s*(?:\*|\/\/) ?/gm, ' '),
  )

const transpiler = new Bun.Transpiler({ loader: 'tsx' })

/** Transpiling leaves comments out and makes literals of JSX texts; `…` stands for what is put in. */
export function literalsIn(code: string) {
  const plain = transpiler.transformSync(code)
  const found: string[] = []
  const token =
    /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|(?<=[(=:,?&|!\[{;]\s*|return )\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//gs
  for (const [, double, single, template] of plain.matchAll(token)) {
    const text = double ?? single ?? template?.replace(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '…')
    if (text) found.push(text.replace(/\\n/g, ' ').replace(/\\(.)/g, '$1'))
  }
  return found
}

/** The names of tests and groups of tests. */
const titlesIn = (code: string) =>
  Array.from(
    code.matchAll(/\b(?:test|describe)(?:\.\w+)*\(\s*(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`)/g),
    ([, plain, template]) => (plain ?? template!).replace(/\\(.)/g, '$1'),
  )

const readers = { texts: literalsIn, titles: titlesIn }
