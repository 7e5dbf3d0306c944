import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { pagesOf, seeded } from '../support/seeded.ts'

/** Where the bars and the tabs of the settings lead to: there is nothing above. */
const isSection = (path: string) =>
  /^\/(dashboard|projects|services|containers|map|api|docs|settings\/\w+)?$/.test(path)

/** For those who have no login yet, and the fragment of a form that is no project’s yet. */
const isOther = (path: string) => /^\/(login$|auth\/|api\/git\/look$)/.test(path)

test('each page below a section has crumbs whose every link leads to a page', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie } = await seeded(t)
  const headers = { Accept: 'text/html', Cookie: `svc_session=${cookie}` }
  const statuses = new Map<string, number>()
  const found: string[] = []
  let count = 0
  for (const [route, address] of Object.entries(await pagesOf(t, ids, cookie))) {
    const page = await (await t.app.request(address, { headers })).text()
    const { crumbs, hasThem } = await crumbsOf(page)
    if (!isSection(route) && !isOther(route) && crumbs.length === 0) found.push(`${route}: none`)
    if (hasThem && crumbs.length === 0) found.push(`${route}: empty`)
    for (const href of crumbs) {
      count++
      if (href === new URL(address, 'http://davit').pathname) found.push(`${route}: itself`)
      if (!statuses.has(href)) {
        const { status, body } = await t.app.request(href, { headers })
        await body?.cancel()
        statuses.set(href, status)
      }
      if (statuses.get(href) !== 200) found.push(`${route}: ${href} ${statuses.get(href)}`)
    }
  }
  expect(found).toEqual([])
  expect(count).toBeGreaterThan(40)
})

/** The links of “You are here”. */
async function crumbsOf(html: string) {
  const crumbs: string[] = []
  let hasThem = false
  const rewriter = new HTMLRewriter()
    .on('nav.crumbs', { element: () => void (hasThem = true) })
    .on('nav.crumbs a', { element: (a) => void crumbs.push(a.getAttribute('href') ?? '') })
  await rewriter.transform(new Response(html)).text()
  return { crumbs, hasThem }
}

test('the pages of backups are marked in the bar as Services, where their crumbs lead', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, root } = await seeded(t)
  for (const path of ['/backups', `/backups/${ids.backup}`, '/services'])
    expect((await root.page(path)).text, path).toMatch(/href="\/services" aria-current="page"/)
})
