import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { openBrowser, register } from '../support/browser.ts'

test('a page follows a container that prints without pause, stays awake, and can be paused', async () => {
  const { page, complaints } = await openBrowser()
  await register(page)
  const docker = connectDocker()
  const id = await docker.createContainer({
    name: `test-${Bun.randomUUIDv7().slice(-12)}`,
    image: 'busybox:latest',
    command: [
      'sh',
      '-c',
      'echo "a needle" >&2; sleep 1; yes "hay that is served as fast as can be"',
    ],
    network: 'none',
    memoryBytes: 32 * 2 ** 20,
    cpus: 0.5,
    pidsLimit: 16,
  })
  try {
    await docker.startContainer(id)
    await page.goto(`/containers/${id}`)
    const log = page.locator('.container-log')
    const state = log.locator('[data-log-state]')
    await state.getByText(/10,000 .*lines here|1\d,\d{3} lines/).waitFor()
    // it answers while lines pour in, and has no more rows than can be seen
    const frames = await page.evaluate<number>(framesIn(2000))
    expect(frames).toBeGreaterThan(10)
    expect(await log.locator('.line').count()).toBeLessThan(200)

    await log.getByRole('button', { name: 'Pause' }).click()
    await state.getByText(/Paused · .* new/).waitFor()
    const [first, text] = [
      log.locator('.line').first(),
      () => log.locator('.log-lines').innerText(),
    ]
    await first.waitFor()
    const seen = await text()
    await page.waitForTimeout(300)
    expect(await text()).toBe(seen)
    await log.getByRole('button', { name: 'Follow' }).click()
    await state.getByText(/Following/).waitFor()
  } finally {
    await docker.removeContainer(id, { force: true })
  }
  await page.locator('[data-log-state]').getByText('Container gone').waitFor()
  expect(complaints).toEqual([])
})

test('the log of a page is searched, narrowed to one output and copied without a reload', async () => {
  const { page, complaints } = await openBrowser()
  await register(page)
  const docker = connectDocker()
  const id = await docker.createContainer({
    name: `test-${Bun.randomUUIDv7().slice(-12)}`,
    image: 'busybox:latest',
    command: ['sh', '-c', 'seq 1 2000; echo "needle <b>one</b>" >&2; echo "Needle two"; sleep 999'],
    network: 'none',
    memoryBytes: 32 * 2 ** 20,
    cpus: 1,
    pidsLimit: 16,
  })
  try {
    await docker.startContainer(id)
    await page.goto(`/containers/${id}`)
    const log = page.locator('.container-log')
    const rows = log.locator('.line')
    await rows.getByText('Needle two').waitFor()

    const search = log.getByPlaceholder('Only lines with…')
    await log.getByRole('button', { name: 'Pause' }).click()
    await search.press('Escape') // there is nothing to clear
    await search.press('Tab')
    await log.locator('[data-log-state]').getByText('Paused').waitFor({ timeout: 2000 })
    await search.fill('needle')
    await log.locator('[data-log-state]').getByText('2 lines').waitFor()
    expect(await log.locator('.line > span').allInnerTexts()).toContain('needle <b>one</b>')
    await log.getByRole('button', { name: 'stdout' }).click()
    await log.locator('[data-log-state]').getByText('1 line').waitFor()
    expect(await rows.count()).toBe(1)
    const download = await log.getByRole('link', { name: 'Download' }).getAttribute('href')
    expect(download).toContain('search=needle&stream=stderr')

    await log.getByRole('button', { name: 'Times' }).click()
    expect(await rows.locator('time').isVisible()).toBe(false)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await log.getByRole('button', { name: 'Copy' }).click()
    await log.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('needle <b>one</b>')
  } finally {
    await docker.removeContainer(id, { force: true })
  }
  expect(complaints).toEqual([])
})

/** Counts what the page draws in so many milliseconds. */
const framesIn = (milliseconds: number) => `(async () => {
  let frames = 0
  const until = performance.now() + ${milliseconds}
  while (performance.now() < until) {
    await new Promise(requestAnimationFrame)
    frames++
  }
  return frames
})()`
