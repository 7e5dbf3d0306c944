import { expect, test } from 'bun:test'
import { renderMarkdown } from '../../src/docs/markdown.ts'

const render = (text: string) => renderMarkdown(text, (href) => `/docs/${href}`)

test('no HTML of a document counts, wherever it stands', () => {
  const { html, sections } = render(
    '# <img src=x>\n\n<script>alert(1)</script>\n\nA <b>c</b> `<i>` [<u>](x"y)\n\n| <s> |\n| --- |\n| <p> |\n',
  )
  expect(html).not.toMatch(/<(script|b|i|u|s|img)\b/)
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(html).toContain('href="/docs/x&quot;y"')
  expect(sections[0]).toMatchObject({ title: '<img src=x>', text: expect.stringContaining('<b>c') })
})

test('headings have the ids that forges give them, and lead to themselves', () => {
  const { html, headings } = render(
    "# A\n\n## HTTPS, `DAVIT_URL`: what's *it*?\n\n## It\n\n## It\n",
  )
  expect(headings.map(({ id }) => id)).toEqual(['a', 'https-davit_url-whats-it', 'it', 'it-1'])
  expect(html).toContain('<h2 id="it-1">It<a class="doc-anchor" href="#it-1"')
  expect(html).not.toContain('<h1')
})

test('tables and code scroll by themselves, by keyboard too', () => {
  const { html } = render('# A\n\n| a |\n| - |\n| `b \\| c` |\n\n```sh\nnpm test\n```\n')
  expect(html).toMatch(/<div class="doc-table" [^>]*tabindex="0"><table>/)
  expect(html).toContain('<pre tabindex="0"><code>npm test\n</code></pre>')
  expect(html).toContain('data-copy="npm test"')
  expect(html).toContain('<th scope="col">a</th>')
})

test('a picture is there in both themes, of which one is shown', () => {
  const { html } = render('# A\n\n![A "page"](page-light.webp)\n')
  expect(html).toContain(
    '<img class="in-light" src="/docs/page-light.webp" alt="A &quot;page&quot;"',
  )
  expect(html).toContain('<img class="in-dark" src="/docs/page-dark.webp"')
})

test('a section is what stands below its heading', () => {
  const { sections } = render('# A\n\nOne `two`\nthree\n\n## B\n\n- four\n- five\n')
  expect(sections.map(({ id, text }) => [id, text])).toEqual([
    ['a', 'One two three'],
    ['b', 'four five'],
  ])
})
