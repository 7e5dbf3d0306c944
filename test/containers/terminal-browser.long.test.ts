import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { connectDocker } from '../../src/docker/index.ts'
import { openBrowser, register } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { aStranger } from './engine.ts'

/** A container of busybox, and a page with its terminal. */
async function openTerminal() {
  const opened = await openBrowser({ env: { DAVIT_TERMINAL: 'all' } })
  const { page } = opened
  await register(page)
  const docker = connectDocker()
  const id = await aStranger({ docker }, 'sleep 999')
  await docker.startContainer(id)
  await page.goto(`/containers/${id}`)
  await page.getByRole('link', { name: 'Terminal' }).click()
  await shows(page, '/ #')
  return { ...opened, docker, id }
}

const screenOf = (page: Page) => page.locator('.xterm-rows').innerText()

const colourOf = (element: unknown): string => (globalThis as any).getComputedStyle(element).color

const shows = (page: Page, text: string | RegExp) =>
  until(async () => {
    const screen = (await screenOf(page)).replaceAll('\u00a0', ' ')
    return typeof text === 'string' ? screen.includes(text) : text.test(screen)
  })

test('a terminal is typed in, coloured, resized and copied, and stays in hand under a flood', async () => {
  const { page, complaints } = await openTerminal()
  const { keyboard } = page
  await keyboard.type("printf '\\033[38;2;1;200;3mgre\\033[44men\\033[0m\\n'\n")
  await shows(page, /^green$/m)
  const coloured = page.locator('.xterm-rows span', { hasText: /^gre$/ }).last()
  const colour = await coloured.evaluate(colourOf)
  const plain = await page.locator('.xterm-rows').evaluate(colourOf)
  expect(colour).not.toBe(plain)

  await keyboard.type('stty size\n')
  await shows(page, /^\d+ \d+$/m)
  const before = /^(\d+) (\d+)$/m.exec(await screenOf(page))![0]
  await page.setViewportSize({ width: 700, height: 500 })
  await keyboard.type(
    `clear; while [ "$(stty size)" = "${before}" ]; do usleep 9999; done; stty size\n`,
  )
  await until(async () => {
    const size = /^(\d+) (\d+)$/m.exec((await screenOf(page)).replaceAll('\u00a0', ' '))
    return size !== null && size[0] !== before
  })

  await keyboard.type('yes flood\n')
  await shows(page, /(flood\s+){5}/)
  const frames = await page.evaluate(async () => {
    const end = performance.now() + 2000
    let count = 0
    while (performance.now() < end) {
      await new Promise((globalThis as any).requestAnimationFrame)
      count++
    }
    return count
  })
  expect(frames).toBeGreaterThan(5)
  await keyboard.press('Control+c')
  await keyboard.type('clear; echo $((6 * 7))\n')
  await shows(page, /^42$/m)

  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', {
      value: {
        writeText: async (text: string) => void ((globalThis as any).copied = text),
        readText: async () => 'echo pasted-text\r',
      },
    })
  })
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => (globalThis as any).copied)).toContain('42')
  await page.getByRole('button', { name: 'Paste' }).click()
  await shows(page, /^pasted-text/m)
  expect(complaints).toEqual([])
})

test('a page says why its terminal ended, and opens another', async () => {
  const { page, docker, id, complaints } = await openTerminal()
  await page.keyboard.type('exit 7\n')
  await page.getByText('exit code 7').waitFor()
  await page.getByRole('button', { name: 'Open again' }).click()
  await page.getByText('Connected').waitFor()
  await docker.stopContainer(id, { timeoutSeconds: 1 })
  await page.getByRole('button', { name: 'Open again' }).click()
  await page.getByText('isn’t running').waitFor()
  expect(complaints.filter((one) => !one.includes('WebSocket'))).toEqual([])
})
