import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { findingsOn } from '../support/axe.ts'
import { anApp, aService, servedByCaddy } from './owned.ts'
import { openAs } from '../support/browser.ts'

test('the keyboard and the pointer show what stops with a node, a narrow screen the list', async () => {
  const { t, ada } = withAda(testApp())
  const db = aService(t, ada, { name: 'shop-db' })
  const cache = aService(t, ada, { name: 'cache', template: 'redis' })
  await anApp(t, ada, { name: 'blog', hosts: ['blog.example.com'], uses: [db] })
  await anApp(t, ada, { name: 'shop', hosts: ['shop.example.com'], uses: [db, cache] })
  servedByCaddy(t)
  const { page, complaints } = await openAs(t, ada.user)
  await page.goto('/map')
  const marked = async (mark: string) =>
    (await page.locator(`.map-node[data-mark=${mark}] .map-name`).allTextContents()).map((name) =>
      name.replaceAll(/[\u2066-\u2069]/g, ''),
    )
  const marks = async () => ({
    chosen: await marked('chosen'),
    dependents: await marked('dependent'),
    needs: await marked('needed'),
  })
  const node = (name: string | RegExp) => page.locator('.map-drawing').getByRole('link', { name })

  // in the order in which they are read: a project, its addresses and apps, then the services
  const order: string[] = []
  await page.getByRole('button', { name: 'Show' }).focus()
  for (let at = 0; at < 8; at++) {
    await page.keyboard.press('Tab')
    order.push(await page.evaluate<string>('document.activeElement.textContent'))
  }
  expect(order.map((text) => /\w[\w.-]+/.exec(text)![0])).toEqual([
    ...['blog', 'blog.example.com', 'blog', 'shop', 'shop.example.com', 'shop'],
    ...['shop-db', 'cache'],
  ])
  expect(await marks()).toEqual({
    chosen: ['cache'],
    dependents: ['shop.example.com', 'production'],
    needs: [],
  })
  await node(/^.shop. \/ .production., Running, 1 of 1 container$/).hover()
  expect(await marks()).toEqual({
    chosen: ['production'],
    dependents: ['shop.example.com'],
    needs: ['shop-db', 'cache'],
  })
  expect(await page.locator('.map-line[data-mark=needed]').count()).toBe(2)
  await page.mouse.move(0, 0)
  expect(await marked('chosen')).toEqual(['cache']) // the keyboard is still there

  // what changes is drawn by itself, and the keyboard stays where it is
  const { id } = await anApp(t, ada, { name: 'new', uses: [cache] })
  await page.locator(`.map-node[href="/map?focus=${id}"][data-mark=dependent]`).waitFor()
  expect(await marked('chosen')).toEqual(['cache'])
  await page.getByRole('button', { name: 'Show' }).focus()
  expect(await marks()).toEqual({ chosen: [], dependents: [], needs: [] })
  await node(/^.cache., Running/).focus()

  await page.keyboard.press('Enter')
  await page.waitForURL(`**/map?focus=${cache}`)
  await page.getByRole('heading', { name: 'If cache stops' }).waitFor()
  const asked = await marks()
  expect(asked).toMatchObject({ chosen: ['cache'], needs: [] })
  expect(asked.dependents).toContain('shop.example.com')
  await node(/blog\.example\.com/).focus()
  expect(await marked('chosen')).toEqual(['blog.example.com'])
  await page.getByRole('link', { name: 'Show everything' }).focus()
  expect(await marks()).toEqual(asked)

  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.locator('.map-drawing').isVisible()).toBe(false)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
  await page.getByRole('link', { name: /If it stops \(.shop-db/ }).click()
  await page.getByRole('heading', { name: 'If shop-db stops' }).waitFor()
  expect(complaints).toEqual([])
})

test('the page of a project has its connections as a drawing, and as a list on a narrow screen', async () => {
  const { t, ada } = withAda(testApp())
  const db = aService(t, ada, { name: 'shop-db' })
  const { projectId } = await anApp(t, ada, { name: 'shop', uses: [db] })
  const { page, complaints } = await openAs(t, ada.user)
  await page.goto(`/projects/${projectId}`)
  const connections = page.getByRole('region', { name: 'Connections' })
  const rows = connections.locator('.map-row:visible')
  expect(await connections.locator('.map-drawing').isVisible()).toBe(true)
  expect(await rows.count()).toBe(0)
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await connections.locator('.map-drawing').isVisible()).toBe(false)
  expect(await rows.locator('.row-title').allTextContents()).toEqual(['production', 'shop-db'])
  expect(await findingsOn(page)).toEqual([])
  expect(complaints).toEqual([])
})
