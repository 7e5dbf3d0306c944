import { expect, test } from 'bun:test'
import { testApp, withAda } from './support/app.ts'
import { until } from './support/until.ts'
import { openAs } from './support/browser.ts'

test('on a slow network a form shows that it is sent, and is sent once until the next page is there', async () => {
  const { t, ada } = withAda(testApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { page, complaints } = await openAs(t, ada.user)
  await page.goto(`/projects/${json.id}`)
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  const network = await page.context().newCDPSession(page)
  await network.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 2000 },
    ...{ downloadThroughput: 50_000, uploadThroughput: 50_000 }, // slow 3G, as Chromium calls it
  })
  const button = `document.querySelector('main form[action$="/deployments"] button')`
  await page.evaluate(`setInterval(() => ${button}.click(), 50)`)
  const opacity = `getComputedStyle(${button}).opacity`
  await until(async () => (await page.evaluate(opacity)) === '0.5')
  await page.waitForURL(/deployments\//)
  expect(sent).toHaveLength(1)
  expect(complaints).toEqual([])
})
