import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../platform/root.ts'
import { docPath } from '../web/doc-link.tsx'
import { assetPath } from '../web/static.ts'
import { renderMarkdown } from './markdown.ts'

/** A document of `assets/docs`: what it says as Markdown, and as its page and the search need it. */
export type Document = { name: string; title: string; markdown: string } & ReturnType<
  typeof renderMarkdown
>

/** What leads to a document in the contents. */
export type Entry = { name: string; title: string; about: string }

/** In the repository, or inside the executable. */
const folder = join(root, 'assets/docs')

/** The contents, which are a document themselves, as forges show one for a folder. */
const contentsName = 'README'

const names = new Set(
  readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length)),
)

/** Read and rendered when they are first asked for. */
const documents = new Map<string, Document>()

const read = (name: string) =>
  documents.getOrInsertComputed(name, () => {
    const markdown = readFileSync(join(folder, `${name}.md`), 'utf8')
    const rendered = renderMarkdown(markdown, addressOf)
    return { name, title: rendered.headings[0]!.title, markdown, ...rendered }
  })

/** Undefined where there is none of that name. */
export const findDocument = (name: string) =>
  names.has(name) && name !== contentsName ? read(name) : undefined

/** The page that leads to all documents. */
export const contentsDocument = () => read(contentsName)

/** All documents in the order of the contents, in groups. */
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

/** Where a link of a document leads to from its page: files beside it are served as documents or as they are. */
function addressOf(href: string) {
  if (/^(?:#|\/|[a-z]+:)/.test(href)) return href
  const [, file, heading] = /^([^#]+)(#.*)?$/.exec(href)!
  if (file === `${contentsName}.md`) return `${docPath()}${heading ?? ''}`
  if (file!.endsWith('.md')) return docPath(file!.slice(0, -'.md'.length) + (heading ?? ''))
  return assetPath(`docs/${file}`)
}
