import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openLogDatabase } from '../../src/db/index.ts'
import { Logs } from '../../src/logs/logs.ts'
import { writeOutput } from './writing.ts'
import { openBrowser, register } from '../support/browser.ts'

const night = Date.parse('2026-11-20T03:00:00Z')

test('the page of an environment’s logs shows, searches and jumps in all that is kept', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  await page.goto('/projects/new')
  await page.fill('[name=name]', 'site')
  await page.fill('[name=repository_url]', 'https://git.example.com/team/site.git')
  await page.click('main form button[type=submit]:not([name=deploy])')
  await page.waitForURL(/projects\/[0-9a-f-]{36}/)
  const path = new URL(page.url()).pathname.split('/').slice(0, 3).join('/')
  await page.goto(`${path}/envs`)
  await page.getByRole('link', { name: 'Logs of production' }).click()
  await page.waitForURL(/\/output$/)
  const output = new URL(page.url()).pathname
  fill(directory, output.split('/')[4]!)

  await page.reload()
  await page.locator('#L900000').waitFor()
  expect(await page.locator('[data-log-state]').textContent()).toContain('900,000 lines')
  await page.fill('#log-query', 'needle')
  await page.keyboard.press('Enter')
  await page.locator('.log-hits li').nth(8).waitFor()
  expect(await page.locator('.log-hits li').count()).toBe(9)
  await page.getByText('1 of 9', { exact: true }).waitFor() // once it has been looked to the end
  await page.locator('#L50000.match').waitFor()
  await page.locator('.log-hits a').nth(5).click()
  await page.locator('#L550000.selected').waitFor()

  await page.fill('#log-query', '')
  await page.fill('#log-time', await page.evaluate(localText, night + 400_000_000))
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.locator('#L400000.selected').waitFor()

  // the first ones are so long that they come in several answers
  await page.fill('#log-time', await page.evaluate(localText, night))
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.locator('#L1.selected').waitFor()
  await page.evaluate("location.hash = '#L290'")
  await page.locator('#L290.selected').waitFor()
  expect(await page.locator('#L290').textContent()).toContain('request 290 served')
  expect(await page.getByText('no longer kept').count()).toBe(0)

  await page.getByRole('button', { name: 'Follow' }).click()
  await page.locator('#L900000').waitFor()
  expect(complaints).toEqual([])
})

/** 900,000 lines, one a second, two deployments. */
function fill(directory: string, sourceId: string) {
  const config = parseConfig({ DAVIT_DATA_DIR: join(directory, 'data') })
  const logDb = openLogDatabase(join(config.dataDir, 'logs.db'))
  const logs = new Logs({ logDb, config })
  for (let batch = 0; batch < 180; batch++) {
    writeOutput(
      { logs },
      { sourceId, deploymentId: Bun.randomUUIDv7() },
      Array.from({ length: 5000 }, (_, at) => {
        const n = batch * 5000 + at + 1
        const request = `request ${n} served`.padEnd(n < 300 ? 16_000 : 0, ' ok')
        const text = n % 100_000 === 50_000 ? `\u001b[31mthe needle ${n}` : request
        return { time: night + n * 1000, stream: n % 7 === 0 ? 'stderr' : 'stdout', text } as const
      }),
    )
  }
  logDb.$client.close()
}

/** As the field takes it, in the time zone of the browser. */
function localText(time: number) {
  const at = new Date(time)
  return new Date(time - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
