import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { openBrowser, register } from '../support/browser.ts'
import { aStranger } from './engine.ts'

test('a page follows a container that prints without pause, stays awake, and can be paused', async () => {
  const { page, complaints } = await openBrowser()
  await register(page)
  const docker = connectDocker()
  const script = 'echo "a needle" >&2; sleep 1; yes "hay that is served as fast as can be"'
  const id = await aStranger({ docker }, script, { cpus: 0.5 })
  await docker.startContainer(id)
  await page.goto(`/containers/${id}`)
  const log = page.locator('.log')
  const state = log.locator('[data-log-state]')
  await state.getByText(/Following · [2-4]\d,\d{3}\+? lines/).waitFor()
  // it answers while lines pour in, and has no more rows than can be seen
  await page.evaluate(painted)
  expect(await log.locator('.line').count()).toBeLessThan(200)

  await log.getByRole('button', { name: 'Pause' }).click()
  await state.getByText(/Paused · .* new/).waitFor()
  await log.locator('.line').first().waitFor()
  await page.evaluate(painted) // rows are drawn with the next frame
  const seen = await page.evaluate<string[]>(rowsInView)
  expect(seen).not.toBeEmpty()
  const said = await state.innerText()
  await state.filter({ hasNotText: said }).waitFor() // more lines have come
  await page.evaluate(painted)
  // they stay where they are; another may come below, where there was room
  const later = await page.evaluate<string[]>(rowsInView)
  expect(later.slice(0, seen.length)).toEqual(seen)
  await log.getByRole('button', { name: 'Follow' }).click()
  await state.getByText(/Following/).waitFor()
  await docker.removeContainer(id, { force: true })
  await page.locator('[data-log-state]').getByText('Container removed').waitFor()
  expect(complaints).toEqual([])
})

test('the log of a container has the tools of all logs, and its page one stream for all of it', async () => {
  const { page, complaints } = await openBrowser()
  await register(page)
  const docker = connectDocker()
  const id = await aStranger(
    { docker },
    'echo "needle <b>one</b>" >&2; seq 1 9000; echo "WARN Needle two"; while sleep 1; do echo tick; done',
  )
  const streams: string[] = []
  page.on('request', (request) => {
    const isStream = request.headers().accept?.includes('event-stream')
    const isOfPage = request.frame().url().includes('/containers/') // not of the page before
    if (isStream && isOfPage && /\/(logs|live|stats)\b/.test(request.url()))
      streams.push(request.url())
  })
  await docker.startContainer(id)
  await page.goto(`/containers/${id}`)
  const log = page.locator('.log')
  const rows = log.locator('.line')
  await rows.getByText('tick').first().waitFor()
  await page.locator('#stats-figures').getByText('of 32.0 MiB').waitFor()
  expect(streams.map((url) => new URL(url).pathname)).toEqual([`/containers/${id}/logs`])

  await page.fill('#log-query', 'needle')
  await page.keyboard.press('Enter')
  await log.locator('.line.match', { hasText: 'needle <b>one</b>' }).waitFor()
  expect(await page.locator('#log-matches').textContent()).toBe('1 of 2')
  await log.locator('.log-hits a').nth(1).click()
  await log.locator('.line.match, .line.selected', { hasText: 'WARN Needle two' }).waitFor()

  await log.getByRole('link', { name: 'Warnings' }).click()
  await page.waitForURL(/level=warn/)
  await rows.getByText('WARN Needle two').waitFor()
  expect(await rows.count()).toBe(1)
  await log.getByRole('link', { name: 'Warnings' }).click()
  await log.getByRole('link', { name: 'stderr' }).click()
  await page.waitForURL(/stream=stderr/)
  await rows.getByText('needle <b>one</b>').waitFor()
  expect(await rows.count()).toBe(1)
  const download = await log.getByRole('link', { name: 'Download' }).getAttribute('href')
  expect(download).toContain('download=1&stream=stderr')

  await page.goto(`/containers/${id}`)
  await log.locator('[data-log-state]').getByText('Following').waitFor()
  await docker.stopContainer(id, { timeoutSeconds: 0 })
  await page.locator('.status-line').getByText('Stopped').waitFor()
  await log.locator('[data-log-state]').getByText('Container stopped').waitFor()
  await docker.removeContainer(id, { force: true })
  await page.locator('[data-log-state]').getByText('Container removed').waitFor()
  expect(complaints).toEqual([])
})

/** Resolves when what was due has been drawn. */
const painted = `new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`

/** The ids of the rows that a reader sees. */
const rowsInView = `(() => {
  const { top, bottom } = document.querySelector('.log-scroller').getBoundingClientRect()
  return [...document.querySelectorAll('.log-lines .line')]
    .filter((row) => {
      const at = row.getBoundingClientRect()
      return at.bottom > top && at.top < bottom
    })
    .map((row) => row.id)
})()`
