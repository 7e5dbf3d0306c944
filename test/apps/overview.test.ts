import { expect, test } from 'bun:test'
import { deployments } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { anApp, servedByCaddy } from '../map/owned.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { openAs } from '../support/browser.ts'

test('an address is on one line, also beside four other facts and on a phone', async () => {
  const { t, ada } = withAda(testApp())
  const host = 'boats.shops.example.com'
  const { id, projectId } = await anApp(t, ada, { name: 'shop', hosts: [host, `www.${host}`] })
  t.db
    .update(deployments)
    .set({ commitHash: 'a'.repeat(40), commitMessage: 'Sell boats' })
    .run()
  insertDeployment(t.db, {
    ...{ projectId, environmentId: id, repositoryUrl: 'https://git.example.com/team/shop.git' },
    ...{ status: 'failed', trigger: 'manual', triggeredBy: ada.user.email },
  })
  servedByCaddy(t)
  const { page } = await openAs(t, ada.user)
  for (const width of [1280, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`/projects/${projectId}/envs/${id}`)
    expect(await page.locator('.facts > div').count()).toBe(5)
    for (const link of await page.locator('.addresses .app-link').all())
      expect((await link.boundingBox())!.height, `${width}`).toBeLessThan(30)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
  }
})

test('the newest deployment has the state that it has elsewhere', async () => {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const { id, projectId } = await anApp(t, ada, { name: 'shop' })
  insertDeployment(t.db, {
    ...{ projectId, environmentId: id, repositoryUrl: 'https://git.example.com/team/shop.git' },
    ...{ status: 'pending', trigger: 'manual', triggeredBy: ada.user.email },
  })
  const { text } = await ada.page(`/projects/${projectId}/envs/${id}`)
  expect(text.match(/Newest deployment[^]*?<span class="muted">(\w+)/)![1]).toBe('queued')
})
