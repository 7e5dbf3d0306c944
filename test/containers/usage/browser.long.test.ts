import { expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { openBrowser, register } from '../../support/browser.ts'
import { aStranger } from '../engine.ts'

const docker = connectDocker()

/** A container that keeps a processor busy in part, until the test ends. */
async function aBusyOne() {
  const id = await aStranger({ docker }, 'while :; do :; done', { cpus: 0.2 })
  await docker.startContainer(id)
  return id
}

/** Samples of the last three quarters of each range, with a hole in them. */
function writeHistory(directory: string, containerId: string) {
  const db = new Database(join(directory, 'data/logs.db'))
  const insert = db.query('INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 3)')
  db.transaction(() => {
    for (const [span, count] of [
      [10, 270],
      [60, 1080],
      [600, 756],
    ] as const) {
      const now = Math.floor(Date.now() / 1000 / span) * span
      for (let ago = count; ago > 0; ago--) {
        if (ago < count / 2 && ago > count / 3) continue
        const wave = 1 + Math.sin((ago / count) * 20)
        const use = [wave * 40, (8 + wave * 4) * 2 ** 20, wave * 20_000, 5000, 0, wave * 300]
        insert.run(containerId, span, now - ago * span, ...(use as [number]))
      }
    }
  })()
  db.close()
}

/** Waits until it reads otherwise; the test's own limit is the last one. */
async function untilOther(read: () => Promise<string | null>) {
  const first = await read()
  while ((await read()) === first) await Bun.sleep(100)
}

test('the last hour is there when the page opens, and the figures follow the container', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const id = await aBusyOne()
  writeHistory(directory, id)

  await page.goto(`/containers/${id}`, { waitUntil: 'commit' })
  const cpu = page.getByRole('img', { name: 'CPU, the last hour' })
  await cpu.waitFor()
  const line = () => page.locator('davit-chart .chart-line').first().getAttribute('d')
  const first = (await line())!
  expect(first.match(/M/g)).toHaveLength(2) // the hole is no line

  const figures = page.locator('#stats-figures')
  await figures.getByText('of 32.0 MiB').waitFor()
  const kept = await page.locator('.stats-figures').elementHandle()
  await untilOther(() => figures.textContent())
  await untilOther(line)
  expect(await kept!.evaluate((element) => element.isConnected)).toBe(true) // morphed, not replaced

  await docker.stopContainer(id)
  await figures.getByText('Stopped').waitFor()
  await docker.startContainer(id)
  await figures.getByText('of 32.0 MiB').waitFor()
  await docker.removeContainer(id, { force: true })
  await page.getByText('This container was removed.').waitFor()
  expect(complaints).toEqual([])
})

test('the charts go back a day or a week without leaving the page', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const id = await aBusyOne()
  writeHistory(directory, id)
  await page.goto(`/containers/${id}`)
  await page.locator('main').evaluate((main) => main.setAttribute('data-kept', ''))
  await page.getByRole('link', { name: '24 hours' }).click()
  await page.getByRole('img', { name: 'CPU, the last 24 hours' }).waitFor()
  await page.getByRole('link', { name: '7 days' }).click()
  const week = page.getByRole('img', { name: 'CPU, the last 7 days' })
  expect((await week.locator('canvas').boundingBox())!.width).toBeGreaterThan(100) // it is drawn
  await page.getByRole('link', { name: 'Last hour' }).click()
  await page.getByRole('img', { name: 'Memory, the last hour' }).waitFor()
  expect(await page.locator('main[data-kept]').count()).toBe(1)
  expect(complaints).toEqual([])
})
