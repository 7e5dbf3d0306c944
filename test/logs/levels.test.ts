import { expect, spyOn, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { openPage } from '../support/browser.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'
import { anEnvironment, linesUntil, written } from './collecting.ts'
import type { Line } from './collecting.ts'
import { writeOutput } from './writing.ts'

const start = Date.parse('2026-11-20T03:00:00Z')
const texts = [
  'INFO served',
  'WARN slow',
  '{"level":"error","msg":"no database"}',
  'plain',
  'DEBUG c',
]

/** An environment with 3,000 lines of all levels, told apart by their numbers. */
async function manyLevels() {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const write = (from: number, count: number, more = '', process = 'web') =>
    writeOutput(
      t,
      { sourceId: environment.id, process },
      Array.from({ length: count }, (_, at) => {
        const n = from + at
        return { time: start + n, stream: 'stdout' as const, text: `${texts[n % 5]} #${n}#${more}` }
      }),
    )
  write(0, 3000)
  return { ...environment, t, ada, write }
}

const numbersOf = (lines: Line[]) => lines.map(({ text }) => Number(/#(\d+)#/.exec(text)![1]))

test('lines of some levels are found in all that is kept, with other filters, both ways and as a file', async () => {
  const { ada, output } = await manyLevels()
  const found = async (query: string) =>
    numbersOf((await ada.get(`${output}?${query}`)).json.items as Line[])
  expect(await found('level=error&limit=3')).toEqual([2, 7, 12])
  expect(await found('level=error&level=warn&limit=4')).toEqual([1, 2, 6, 7])
  expect(await found('level=debug&search=%2399&limit=9')).toEqual([99, 994, 999])
  expect(await found('level=info&before=3000&limit=2')).toEqual([2990, 2995])
  const file = (await ada.get(`${output}?level=warn&download=1`)).text
  expect(file.trimEnd().split('\n')).toHaveLength(600)
  const refused = await ada.get(`${output}?level=loud`)
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('must be error, warn, info or debug')
})

test('the lines of a trace are found with the first of them, both ways, searched for and as they come', async () => {
  const { t, ada, output, id } = await manyLevels()
  const write = (texts: string[]) =>
    writeOutput(
      t,
      { sourceId: id, process: 'web' },
      texts.map((text) => ({ time: start + 5000, stream: 'stderr' as const, text })),
    )
  const trace = ['Error: no', ...Array.from({ length: 1050 }, (_, n) => `    at f${n} (/a.js:1:2)`)]
  const last = async (query: string) => {
    const { items } = (await ada.get(`${output}?${query}`)).json
    return (items as Line[]).map(({ text }) => text)
  }
  write([...trace, 'served', '    in 3 ms', ...Array.from({ length: 400 }, () => 'INFO served')])
  expect(await last('level=error&after=3000&limit=5000')).toEqual(trace)
  expect(await last('level=error&before=9999&limit=1051')).toEqual(trace)
  expect(await last('level=error&after=3700&limit=2')).toEqual(trace.slice(700, 702))
  expect(await last('level=error&search=f987&limit=9')).toEqual(['    at f987 (/a.js:1:2)'])
  expect(await last('level=info&search=f987&limit=9')).toEqual([])
  const isLast = ({ text }: Line) => text.includes('f2 ')
  const live = linesUntil(ada, output, isLast, '&level=error&after=4453')
  write(['Error: no', '    at f1 (/a.js:1:2)'])
  write(['    at f2 (/a.js:1:2)'])
  expect(written(await live)).toHaveLength(3)
})

test('live lines pass the same filter', async () => {
  const { t, ada, output, id, write } = await manyLevels()
  const isLast = ({ text }: Line) => text.includes('#3006#')
  const errors = linesUntil(ada, output, isLast, '&level=warn&level=error&after=3000')
  write(3000, 10)
  expect(written(await errors)).toHaveLength(3)
  const at = { time: start + 9000, stream: 'stderr' as const }
  writeOutput(t, { sourceId: id }, [{ ...at, text: 'bad' }])
  const isBad = ({ text }: Line) => text === 'bad'
  const since = new Date(start + 3008).toISOString()
  expect(written(await linesUntil(ada, output, isBad, '&stream=stderr'))).toEqual(['bad'])
  expect(written(await linesUntil(ada, output, isBad, `&since=${since}`))).toHaveLength(3)
})

test('without a script a page shows the lines of a level, and those that a search finds', async () => {
  const { ada, output } = await manyLevels()
  const all = (await ada.page(output)).text
  expect(all).toContain(`<a class="level error" href="${output}?level=error">Errors</a>`)
  expect(all).toContain(`<form class="log-search" role="search" action="${output}">`)
  const errors = (await ada.page(`${output}?level=error`)).text
  expect(errors).toContain('#2997#')
  expect(errors).not.toContain('#2996#')
  expect(errors).toContain(`<a class="level error" href="${output}" aria-current="true">`)
  expect(errors).toContain('<input type="hidden" name="level" value="error"/>')
  const found = (await ada.page(`${output}?level=error&search=%2312%23`)).text
  expect(found.match(/ id="L\d/g)).toHaveLength(1)
  expect(found).toContain('The last 1 line with <q>#12#</q>.')
  expect(found).toContain(`<a href="${output}?level=error">Show all lines</a>`)
  expect((await ada.page(`${output}?search=%3Cnone%3E`)).text).toContain(
    'No line with <q>&lt;none&gt;</q>.',
  )
})

test('without a script all lines of a level can be reached from its page', async () => {
  const { ada, output } = await manyLevels()
  const found: number[] = []
  for (let path: string | undefined = `${output}?level=error`; path;) {
    const { text } = await ada.page(path)
    found.unshift(...Array.from(text.matchAll(/#(\d+)#/g), ([, number]) => Number(number)))
    expect(text).toContain(`<a href="${output}">Show all lines</a>`)
    path = /<a href="([^"]+)">Search before it</.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(found).toEqual(Array.from({ length: 600 }, (_, at) => at * 5 + 2))
})

test('without a script a log in which nothing is found isn’t said to be empty', async () => {
  const { t, ada, output } = await manyLevels()
  const { origin: url } = listening(t).url
  const browser = (await openPage(url)).page.context().browser()!
  const context = await browser.newContext({ baseURL: url, javaScriptEnabled: false })
  await context.addCookies([{ name: 'svc_session', value: aSession(t, ada.user.id), url }])
  const page = await context.newPage()
  for (const query of ['search=none', 'process=none']) {
    await page.goto(`${output}?${query}`)
    await page.locator('.log-note', { hasText: 'No line with' }).waitFor()
    const saysMore = page.locator('.log-lines').evaluate((list) => {
      const { getComputedStyle } = list.ownerDocument.defaultView!
      return getComputedStyle(list, '::before').display !== 'none'
    })
    expect(await saysMore, query).toBe(false)
  }
})

test('a search that took too long says so, and goes on from there', async () => {
  const { ada, output } = await manyLevels()
  const { now } = performance
  let late = 0
  using _ = spyOn(performance, 'now').mockImplementation(
    () => now.call(performance) + (late += 3000), // each search ends after its first lines
  )
  const search = 'search=%2312%23'
  const { json } = await ada.get(`${output}?${search}&before=9999`)
  expect(json).toMatchObject({ items: [], previousCursor: '2001' })
  const { json: whole } = await ada.get(`${output}?before=9999&limit=3000`)
  expect(whole).not.toHaveProperty('previousCursor')

  const pages: string[] = []
  for (let path: string | undefined = `${output}?${search}`; path;) {
    const { text } = await ada.page(path)
    pages.push(/<p class="log-note">(.*?)[ .]*<a/.exec(text)![1]!)
    path = /<a href="([^"]+)">Search before it</.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(pages).toEqual([
    'No line with <q>#12#</q> in the part that was searched',
    'No earlier line with <q>#12#</q> in the part that was searched',
    '1 earlier line with <q>#12#</q>',
  ])
  const { text } = await ada.page(`${output}?process=worker`)
  expect(text).toContain(`<a href="${output}?before=2001&amp;process=worker">Search before it</a>`)
})

test('the last lines since a time go on to earlier ones until that time, page by page', async () => {
  const { ada, output } = await manyLevels()
  for (const filter of ['', '&level=error', '&search=no database']) {
    const since = new Date(start + 2400).toISOString()
    const found: number[] = []
    const path = `${output}?limit=50&since=${since}${filter}`
    for (let before: string | undefined = '9999'; before;) {
      const { json } = await ada.get(`${path}&before=${before}`)
      found.unshift(...numbersOf(json.items as Line[]))
      before = json.previousCursor
    }
    const all = await ada.get(`${output}?limit=9999&since=${since}${filter}`)
    expect([filter, found]).toEqual([filter, numbersOf(all.json.items as Line[])])
  }
})

test('the viewer shows the lines of a level, old ones and those that come, and searches them', async () => {
  const { t, ada, output, write } = await manyLevels()
  const url = `http://127.0.0.1:${listening(t).port}`
  const { page, complaints } = await openPage(url)
  await page.context().addCookies([{ name: 'svc_session', value: aSession(t, ada.user.id), url }])
  await page.goto(output)
  await page.getByRole('link', { name: 'Errors' }).click()
  await page.locator('.line', { hasText: '#2997#' }).waitFor()
  write(3000, 5)
  await page.locator('.line', { hasText: '#3002#' }).waitFor()
  expect(await page.locator('.line:not(.error)').count()).toBe(0)
  expect(await page.locator('.log-scroller').innerText()).not.toContain('#3003#')
  await page.fill('#log-query', '#12#')
  await page.keyboard.press('Enter')
  await page.locator('.line.match', { hasText: '#12#' }).waitFor()
  expect(await page.locator('#log-matches').textContent()).toBe('1 of 1')

  // a search that was sent without a script goes on in the viewer
  await page.goto(`${output}?search=%2314%23`)
  await page.locator('.line.match', { hasText: '#14#' }).waitFor()
  await page.locator('.line', { hasText: '#15#' }).waitFor()
  expect(complaints).toEqual([])
})

test('on a phone no log is scrolled sideways, and names stand in the way of no text', async () => {
  const { t, ada, output, write } = await manyLevels()
  const url = `http://127.0.0.1:${listening(t).port}`
  const { page } = await openPage(url)
  await page.context().addCookies([{ name: 'svc_session', value: aSession(t, ada.user.id), url }])
  await page.setViewportSize({ width: 390, height: 800 })
  const overflow = () =>
    page.evaluate<
      number[]
    >(`[document.documentElement, document.querySelector('.log-scroller')].map(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)`)
  write(3000, 1, ' and words'.repeat(40))
  await page.goto(output) // one process, which needs no name
  await page.locator('#L3001').waitFor()
  expect(await page.locator('.line > b:visible').count()).toBe(0)
  expect(await overflow()).toEqual([0, 0])
  write(3001, 3, ' and words'.repeat(40), 'a-process-with-a-long-name')
  await page.reload()
  const named = page.locator('#L3004')
  await named.waitFor()
  const boxes = await named.evaluate((row) =>
    ['b', 'span'].map((part) => {
      const [first] = row.querySelector(`:scope > ${part}`)!.getClientRects()
      return { left: first!.left, right: first!.right, top: first!.top, bottom: first!.bottom }
    }),
  )
  const [name, text] = boxes
  expect(name!.right <= text!.left || name!.bottom <= text!.top).toBe(true)
  expect(await overflow()).toEqual([0, 0])
})
