import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { deployments } from '../../src/db/schema.ts'
import { anApp, aService } from '../map/owned.ts'
import { testApp, withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { openAs } from '../support/browser.ts'

const titleOf = (html: string) => /<title>(.*?)<\/title>/.exec(html)![1]!
const iconOf = (html: string) => /<link rel="icon" href="(.*?)"/.exec(html)![1]!

test('the title begins with the state, and the icon has a dot by it', async () => {
  const { t, ada } = withAda(testApp())
  const app = await anApp(t, ada, { name: 'hello' })
  const fresh = await anApp(t, ada, { name: 'fresh', processes: {} })
  const [failed, runs] = ['failed', 'running'] as const
  const broken = aService(t, ada, { name: 'broken', status: failed })
  const well = aService(t, ada, { name: 'well', status: runs })
  const { items } = (await ada.get(`/projects/${app.projectId}/deployments`)).json
  const titles: Record<string, string> = {}
  const icons: Record<string, string> = {}
  for (const path of [
    `/projects/${app.projectId}/envs/${app.id}`,
    `/projects/${fresh.projectId}/envs/${fresh.id}`,
    `/projects/${app.projectId}/deployments/${items[0].id}`,
    `/services/${broken}`,
    `/services/${well}`,
    '/services',
  ]) {
    const { text } = await ada.page(path)
    titles[path] = titleOf(text)
    icons[path] = iconOf(text)
  }
  expect(Object.values(titles)).toEqual([
    'Running · hello: production · Davit',
    'Not deployed · fresh: production · Davit',
    'Running · Deployment #1 · hello / production · Davit',
    'Failed · broken · Davit',
    'Running · well · Davit',
    'Services · Davit',
  ])
  const dots = Object.values(icons).map((icon) => /circle.*?fill%3D%22%23(\w+)/.exec(icon)?.[1])
  expect(dots[0]).toBe(dots[4]!)
  expect(new Set([dots[0], dots[1], dots[3]]).size).toBe(3)
  expect(dots[5]).toBeUndefined()
})

test('the tab of an open page follows the state', async () => {
  const { t, ada } = withAda(testApp())
  const app = await anApp(t, ada, { name: 'hello' })
  const { page, complaints } = await openAs(t, ada.user)
  await page.goto(`/projects/${app.projectId}/envs/${app.id}`)
  const icon = () => page.getAttribute('link[rel=icon]', 'href')
  const before = await icon()
  t.db
    .update(deployments)
    .set({ status: 'stopped' })
    .where(eq(deployments.environmentId, app.id))
    .run()
  await until(async () => (await page.title()).startsWith('Stopped · hello: production'))
  const followed = await icon()
  expect(followed).not.toBe(before)
  await page.reload()
  expect(await icon()).toBe(followed)
  expect(complaints).toEqual([])
})
