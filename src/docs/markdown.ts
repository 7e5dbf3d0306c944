import { CopyButton } from '../web/copy.tsx'

type Link = (href: string) => string

export type Heading = { id: string; level: number; title: string }

export type Section = Heading & { text: string }

/**
 * Renders one of our documents as HTML, and splits it into sections of plain text for the search. HTML in
 * the text is escaped. Headings have the same ids as on forges; `link` resolves links.
 */
export function renderMarkdown(markdown: string, link: Link) {
  const ids = new Set<string>()
  const headings: Heading[] = []
  const html = Bun.markdown.render(
    markdown,
    {
      ...elements(link),
      heading: (inner, { level }) => {
        const title = plainText(inner)
        const id = newId(title, ids)
        headings.push({ id, level, title })
        if (level === 1) return '' // the page has its own heading
        return (
          `<h${level} id="${id}">${inner}` +
          `<a class="doc-anchor" href="#${id}" aria-label="Link to “${Bun.escapeHTML(title)}”">#</a></h${level}>\n`
        )
      },
    },
    options,
  )
  return { html, headings, sections: sectionsOf(markdown, headings) }
}

/** `noHtml…` shows tags as text. */
const options = { noHtmlBlocks: true, noHtmlSpans: true, autolinks: { url: true } }

type Callbacks = NonNullable<Parameters<typeof Bun.markdown.render>[1]>

const elements = (link: Link): Callbacks => ({
  text: (text) => Bun.escapeHTML(text),
  paragraph: (inner) => `<p>${inner}</p>\n`,
  blockquote: (inner) => `<blockquote>${inner}</blockquote>\n`,
  strong: (inner) => `<strong>${inner}</strong>`,
  emphasis: (inner) => `<em>${inner}</em>`,
  strikethrough: (inner) => `<del>${inner}</del>`,
  codespan: (inner) => `<code>${inner}</code>`,
  // a scrolling element must be focusable, so that a keyboard can scroll it
  code: (inner) =>
    `<div class="doc-code"><pre tabindex="0"><code>${inner}</code></pre>${copyButton(inner)}</div>\n`,
  list: (inner, { ordered }) => (ordered ? `<ol>${inner}</ol>\n` : `<ul>${inner}</ul>\n`),
  listItem: (inner) => `<li>${inner}</li>\n`,
  link: (inner, { href }) => `<a href="${Bun.escapeHTML(link(href))}">${inner}</a>`,
  image: (alt, { src }) =>
    `<img class="in-light" src="${Bun.escapeHTML(link(src))}" alt="${alt}" loading="lazy">` +
    `<img class="in-dark" src="${Bun.escapeHTML(link(inDark(src)))}" alt="${alt}" loading="lazy">`,
  hr: () => '<hr>\n',
  table: (inner) =>
    `<div class="doc-table" role="group" aria-label="Table" tabindex="0"><table>${inner}</table></div>\n`,
  thead: (inner) => `<thead>${inner}</thead>`,
  tbody: (inner) => `<tbody>${inner}</tbody>`,
  tr: (inner) => `<tr>${inner}</tr>\n`,
  th: (inner) => `<th scope="col">${inner}</th>`,
  td: (inner) => `<td>${inner}</td>`,
})

/** Each picture exists for both themes; a forge shows the light one. */
const inDark = (src: string) => src.replace(/-light(?=\.\w+$)/, '-dark')

const copyButton = (code: string) =>
  String(CopyButton({ text: plainText(code).trimEnd(), what: 'this code' }))

/** Separates sections, since it occurs in no text. */
const mark = '\0'

function sectionsOf(markdown: string, headings: Heading[]): Section[] {
  const line = (inner: string) => `${inner}\n`
  const text = Bun.markdown.render(
    markdown,
    {
      heading: () => mark,
      paragraph: line,
      listItem: line,
      code: line,
      tr: line,
      th: (inner) => `${inner} `,
      td: (inner) => `${inner} `,
      image: () => '',
    },
    options,
  )
  const [, ...parts] = text.split(mark)
  return headings.map((heading, at) => ({
    ...heading,
    text: parts[at]!.replaceAll(/\s+/g, ' ').trim(),
  }))
}

const plainText = (html: string) =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:(amp|lt|gt|quot)|#x27);/g, unescaped)

const unescaped = (entity: string) =>
  ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' })[entity] ?? "'"

/** Follows the rules of forges, so that a link to a heading works there and here. */
function newId(title: string, taken: Set<string>) {
  const plain = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
  let id = plain
  for (let more = 1; taken.has(id); more++) id = `${plain}-${more}`
  taken.add(id)
  return id
}
