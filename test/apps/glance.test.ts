import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { findingsOn } from '../support/axe.ts'
import { openPage } from '../support/browser.ts'
import { listening } from '../support/listening.ts'
import { seeded } from '../support/seeded.ts'

test('an environment shows its last hour and the end of its log, and only to its owner', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie } = await seeded(t)
  const path = `/projects/${ids.project}/envs/${ids.environment}`
  const headers = { Accept: 'text/html', Cookie: `svc_session=${cookie}` }
  const text = await (await t.app.request(path, { headers })).text()
  expect(text).toContain('aria-label="CPU in the last hour"')
  expect(text).toContain('aria-label="Requests in the last hour"')
  expect(text).toContain('the build failed')
  expect((await t.logIn('mallory@example.com').page(path)).status).toBe(404)
})

test('where nothing ran there is nothing to glance at', async () => {
  const { ada } = withAda(testApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const { text } = await ada.page(`/projects/${project.id}/envs/${environment.id}`)
  expect(text).toContain('id="glance"')
  expect(text).not.toContain('Last hour')
})

test('the end of the log looks like a log, whole on a phone, and its headings stand clear', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie } = await seeded(t)
  t.logs.write({ sourceId: ids.environment, logId: '' }, [
    { time: Date.now(), stream: 'stdout', text: 'a long line '.repeat(20) },
  ])
  const { origin: url } = listening(t).url
  const { page, complaints } = await openPage(url)
  await page.context().addCookies([{ name: 'svc_session', value: cookie, url }])
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`/projects/${ids.project}/envs/${ids.environment}`)
    const log = page.getByRole('log', { name: 'Last lines' })
    const style = (selector: string) =>
      page.evaluate<{ font: string; background: string }>(`(() => {
      const { fontFamily, backgroundColor } = getComputedStyle(document.querySelector('${selector}'))
      return { font: fontFamily, background: backgroundColor }
    })()`)
    const drawn = await style('#glance [role=log]')
    expect(drawn.font).toContain('mono')
    expect((await style('#glance .line > a')).background).toBe(drawn.background)
    const box = (await log.boundingBox())!
    const line = (await log.getByText('a long line').boundingBox())!
    expect(line.x + line.width).toBeLessThanOrEqual(box.x + box.width)
    const cut = await log
      .locator('.line')
      .evaluateAll(
        (lines) => lines.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length,
      )
    expect(cut).toBe(0)
    const heading = (await page.getByRole('heading', { name: 'Last hour' }).boundingBox())!
    const cards = (await page.locator('.glance').boundingBox())!
    expect(cards.y - heading.y - heading.height).toBeGreaterThan(8)
    expect(await findingsOn(page)).toEqual([])
  }
  expect(complaints).toEqual([])
})
