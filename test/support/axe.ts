import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const source = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/** In both themes, on a desktop and on a phone. */
const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'dark', width: 390 },
  { colorScheme: 'light', width: 390 },
] as const

/** What axe finds on the open page in each look, and whether the page runs over its side. */
export async function findingsOn(page: Page) {
  const found: string[] = []
  await page.evaluate(source)
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 900 })
    await page.locator(painted[colorScheme]).waitFor({ state: 'attached' })
    const { violations, over } = (await page.evaluate(run)) as Result
    const look = `${colorScheme} ${width}`
    if (over > 0) found.push(`${look}: runs over by ${over} px`)
    for (const { id, nodes } of violations)
      for (const { target, any } of nodes)
        found.push(`${look}: ${id}: ${target.join(' ')} ${(any[0]?.message ?? '').slice(0, 120)}`)
  }
  return found
}

/** theme.js follows the system in a turn of its own. */
const painted = { light: 'html:not(.dark)', dark: 'html.dark' }

type Result = {
  violations: { id: string; nodes: { target: string[]; any: { message: string }[] }[] }[]
  over: number
}

const run = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => ({
  violations,
  over: document.documentElement.scrollWidth - innerWidth,
}))`
