import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../platform/root.ts'
import { docPath } from '../web/components.tsx'
import { assetPath } from '../web/static.ts'
import { renderMarkdown } from './markdown.ts'

export type Document = { name: string; title: string; markdown: string } & ReturnType<
  typeof renderMarkdown
>

export type Entry = { name: string; title: string; about: string }

/** Works in the repository and inside the executable. */
const folder = join(root, 'assets/docs')

/** The table of contents: forges show a folder's README. */
const contentsName = 'README'

const names = new Set(
  readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length)),
)

/** Rendered on first use. */
const documents = new Map<string, Document>()

const read = (name: string) =>
  documents.getOrInsertComputed(name, () => {
    const markdown = readFileSync(join(folder, `${name}.md`), 'utf8')
    const rendered = renderMarkdown(markdown, addressOf)
    return { name, title: rendered.headings[0]!.title, markdown, ...rendered }
  })

export const findDocument = (name: string) =>
  names.has(name) && name !== contentsName ? read(name) : undefined

export const contentsDocument = () => read(contentsName)

/** Entries in groups, in the order of the table of contents. */
export const contents = (): { title: string; entries: Entry[] }[] =>
  contentsDocument()
    .markdown.split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf('\n')).trim(),
      entries: [...part.matchAll(/^- \[(.+?)\]\(([\w-]+)\.md\): (.+(?:\n {2}.+)*)/gm)].map(
        ([, title, name, about]) => ({
          title: title!,
          name: name!,
          about: about!.replaceAll(/\s+/g, ' ').replaceAll('`', ''),
        }),
      ),
    }))

/** Resolves a link between documents to its page; other files beside them are served as assets. */
function addressOf(href: string) {
  if (/^(?:#|\/|[a-z]+:)/.test(href)) return href
  const [, file, heading] = /^([^#]+)(#.*)?$/.exec(href)!
  if (file === `${contentsName}.md`) return `${docPath()}${heading ?? ''}`
  if (file!.endsWith('.md')) return docPath(file!.slice(0, -'.md'.length) + (heading ?? ''))
  return assetPath(`docs/${file}`)
}
