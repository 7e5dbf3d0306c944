import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import type { Ids } from '../support/everything.ts'
import { freelyNamed, namedEverywhere } from './names-everywhere.ts'
import { addressOf, routesOf } from './walk.ts'

const markup = `'"></title></textarea></script><img src=x onerror=alert(1)><script>alert(1)</script>{{7*7}}\${7*7}\r\nX-Evil: yes\r\n\r\n`

const clients = {
  browser: { Accept: 'text/html' },
  partial: { Accept: 'text/html', 'HX-Request': 'true' },
}

/** Every page and fragment that there is to read, and the log of a deployment as its stream has it. */
async function* answersOf(t: TestApp, client: TestClient, ids: Ids) {
  for (const route of routesOf(t).filter(({ method }) => method === 'GET'))
    for (const [kind, headers] of Object.entries(clients)) {
      const answer = await client.send(addressOf(route, ids), { headers })
      const what = `${route.route} for a ${kind}`
      expect(answer.status, what).not.toBe(500)
      expect([...answer.headers].join('\n'), what).not.toMatch(/evil|img src/i)
      const type = answer.headers.get('Content-Type') ?? ''
      const isLog = route.path.endsWith('/:deploymentId/logs')
      if (type.includes('html') || isLog) yield { what, html: await answer.text() }
      else await answer.body?.cancel() // a stream of something that goes on would not end
    }
}

test('what is hostile in a name is text on every page and in every fragment', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await namedEverywhere(t, ada, markup)
  const shown: string[] = []
  for await (const { what, html } of answersOf(t, ada, ids)) {
    expect(await actingParts(html), what).toEqual([])
    expect(html, what).not.toContain('<img src=x')
    if (html.includes('&lt;img src=x')) shown.push(what)
  }
  expect(shown.length).toBeGreaterThan(60)
  expect(shown).toContain('GET /projects/:id/deployments/:deploymentId/logs for a browser')
})

/** What in a page would act on its own, or leave Davit for another address, as a browser reads it. */
async function actingParts(html: string) {
  const found: string[] = []
  const rewriter = new HTMLRewriter().on('*', {
    element({ tagName, attributes }) {
      const all = [...attributes]
      if (tagName === 'link' && all.some(([name, value]) => name === 'rel' && value === 'icon'))
        return // an image runs nothing
      const src = all.find(([name]) => name === 'src')?.[1]
      const isForeign = src === undefined ? active.has(tagName) : !src.startsWith('/static/')
      const acts = all.some(
        ([name, value]) =>
          /^(on|hx-on|style$|srcdoc$)/.test(name) ||
          (/^(href|action|formaction|hx-)/.test(name) && /^\s*(javascript|data|js):/i.test(value)),
      )
      if (isForeign || acts) found.push(`<${tagName} ${all.join(' ')}>`)
    },
  })
  await rewriter.transform(new Response(html)).text()
  return found
}

const active = new Set(['script', 'style', 'iframe', 'object', 'embed', 'base'])

test('a name that turns round the direction of writing does so within itself only', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await freelyNamed(t, ada, 'gpj\u202Eexe')
  let names = 0
  for await (const { what, html } of answersOf(t, ada, ids)) {
    const found = await elementsWith(html, '\u202E')
    names += found.length
    expect(
      found.filter(({ tag, isAlone }) => !isolating.has(tag) && !isAlone),
      what,
    ).toEqual([])
  }
  expect(names).toBeGreaterThan(100)
})

/** By their own nature, by the browser, or by our style sheet. */
const isolating = new Set(['bdi', 'code', 'strong', 'textarea', 'option'])

/** The elements in whose own text a character stands, and whether that text is the name and no more. */
async function elementsWith(html: string, character: string) {
  type Element = { tag: string; text: string }
  const open: Element[] = []
  const found: { tag: string; text: string; isAlone: boolean }[] = []
  const rewriter = new HTMLRewriter().on('*', {
    element(element) {
      const own = { tag: element.tagName, text: '' }
      if (!element.canHaveContent) return
      open.push(own)
      element.onEndTag(() => {
        open.length = open.indexOf(own)
        if (!own.text.includes(character)) return
        found.push({ ...own, isAlone: /^\s*gpj\u202Eexe \d+\s*$/.test(own.text) })
      })
    },
    text({ text }) {
      if (open.length > 0) open.at(-1)!.text += text
    },
  })
  await rewriter.transform(new Response(html)).text()
  return found
}
