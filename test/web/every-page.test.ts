import { expect, test } from 'bun:test'
import type { Request } from 'playwright-core'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { openAs } from '../support/browser.ts'
import { fill, idOf } from '../support/everything.ts'
import { plentiful } from '../support/plenty.ts'

/** Of a page with all that it asks for, in bytes as they are sent to a browser that keeps nothing yet. */
const most = { requests: 6, bytes: 60_000 }

/** What has a library of its own: a terminal; and two streams: a container. */
const mayAskMore = /^\/containers\/\w+(\/terminal)?$/

/** The library of charts comes after the page: the server draws them, and it is loaded when one is seen. */
const comesLater = /\/vendor\/uplot/

/** The look-up of repositories, for which no git host is there. */
const lookUp = /\/api\/git\//

test('no page has an error of a script, breaks the policy, or asks for much or what is not there', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, root, cookie } = await plentiful(t)
  const { page, complaints, found } = await open(t, root.user.id)
  const sizeOf = sizes(t, cookie)
  let asked = new Map<string, Request>()
  page.on('request', (request) => {
    if (request.isNavigationRequest()) asked = new Map() // those before are another page's
    asked.set(request.url(), request)
  })
  // what changes meanwhile is asked for again, and doesn't belong to the page: it is opened once more
  const requestsOf = async (path: string, tries = 4): Promise<Request[]> => {
    await page.goto(path)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
    const requests = [...asked.values()].filter(
      (request) => ![lookUp, comesLater, /^data:/].some((left) => left.test(request.url())),
    )
    const isOver = requests.length > most.requests && !mayAskMore.test(path)
    return isOver && tries > 1 ? requestsOf(path, tries - 1) : requests
  }
  const pages = new Set(pagesOf(t).map((path) => fill(path, ids, idOf(path))))
  expect(pages.size).toBeGreaterThan(60)
  for (const path of pages) {
    const requests = await requestsOf(path)
    if ((await page.content()).includes('[object Object]')) found.push(`${path}: shows an object`)
    if (mayAskMore.test(path)) continue
    if (requests.length > most.requests) found.push(`${path}: ${requests.length} requests`)
    const bytes: number[] = await Promise.all(requests.map(sizeOf))
    const sum = bytes.reduce((all, one) => all + one, 0)
    if (sum > most.bytes) found.push(`${path}: ${sum} bytes`)
  }
  expect(found).toEqual([])
  const hostIsAway = /status of 502/ // which a git source's page says
  expect(complaints.filter((text) => !hostIsAway.test(text))).toEqual([])
}, 240_000)

test('what is swapped in takes over no style that a script has set', async () => {
  const t = testApp()
  const { page, found } = await open(t, t.logInAsAdmin('ada@example.com').user.id)
  await page.route('**/swapped', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<p id="sized">after</p>' }),
  )
  await page.goto('/settings/profile')
  for (const swap of ['innerHTML', 'innerMorph']) {
    await page.evaluate(`
      document.getElementById('main').innerHTML = '<p id="sized">before</p>'
      document.getElementById('sized').style.height = '40px'
      htmx.ajax('GET', '/swapped', { target: '#main', swap: '${swap}' })
    `)
    await page.locator('#sized', { hasText: 'after' }).waitFor()
    await page.waitForTimeout(50) // styles would be taken back after that
  }
  expect(found).toEqual([])
})

/** What is asked for with GET and answered with a page; neither streams nor logs, which stay open. */
const pagesOf = ({ app }: TestApp) =>
  app.routes
    .filter(
      ({ method, path }) =>
        method === 'GET' && !/^\/(auth\/oauth|static|health|live|api\/)/.test(path),
    )
    .map(({ path }) => path)
    .filter((path) => !/\/(logs|stream|events|stats|notices)$|^\/containers\/api$/.test(path))

/** How many bytes an answer has, compressed; streams, which stay open, count as none. */
function sizes({ app }: TestApp, cookie: string) {
  const files = new Map<string, Promise<number>>()
  const ask = async (request: Request) => {
    const headers = { ...(await request.allHeaders()), 'accept-encoding': 'gzip' }
    const signed = { ...headers, cookie: `svc_session=${cookie}` }
    const answer = await app.request(request.url(), { headers: signed })
    if (!answer.headers.get('Content-Type')?.startsWith('text/event-stream'))
      return (await answer.arrayBuffer()).byteLength
    await answer.body!.cancel()
    return 0
  }
  return (request: Request) => {
    const url = request.url()
    return url.includes('/static/')
      ? files.getOrInsertComputed(url, () => ask(request))
      : ask(request)
  }
}

/** A browser with a login, and what goes wrong in it. */
async function open(t: TestApp, userId: string) {
  const { page, complaints } = await openAs(t, { id: userId })
  await page.route(lookUp, (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  const found: string[] = []
  await page.exposeFunction('broken', (what: string) => void found.push(what))
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    broken([location.pathname, event.violatedDirective, event.blockedURI, event.sourceFile].join(' ')))`)
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    if (!/ABORTED|NETWORK_CHANGED/.test(why)) found.push(`${request.url()}: ${why}`)
  })
  page.on('response', (response) => {
    const isPage = response.request().isNavigationRequest()
    if (response.status() >= 400 && !isPage)
      found.push(`${page.url()}: ${response.status()} for ${response.url()}`)
  })
  return { page, complaints, found }
}
