import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { plentiful } from '../support/plenty.ts'
import { pagesOf } from '../support/seeded.ts'

/** Bytes of a page as it is sent to a browser that has its files already: what else it loads is in every-page.test. */
const most = 15_000

/** Of the list of all routes. */
const mostOfApi = 16_000

test('among 100 projects, and with more of everything than lists show, every page weighs little', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie } = await plentiful(t)
  const pages = Object.values(await pagesOf(t, ids, cookie))
  expect(pages.length).toBeGreaterThan(60)
  const found: string[] = []
  const headers = { Accept: 'text/html', 'Accept-Encoding': 'gzip' }
  const look = async (path: string, given: Record<string, string>) => {
    const answer = await t.app.request(path, { headers: { ...headers, ...given } })
    expect(answer.status, path).toBe(200)
    const { byteLength } = await answer.arrayBuffer()
    if (byteLength > (path === '/api' ? mostOfApi : most))
      found.push(`${path}: ${byteLength} bytes`)
  }
  for (const path of pages) await look(path, { Cookie: `svc_session=${cookie}` })
  for (const path of ['/', '/login']) await look(path, {})
  expect(found).toEqual([])
}, 120_000)
