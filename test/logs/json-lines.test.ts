import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { openPage } from '../support/browser.ts'
import { listening } from '../support/listening.ts'
import { assetPath } from '../../src/web/static.ts'

/** How the viewer lays that line out: in one row, and unfolded. */
async function laidOut(...texts: string[]) {
  const { page } = await openPage(listening(testApp()).url.origin)
  await page.goto('/login')
  return page.evaluate<({ summary: string; tree: string } | null)[]>(`
    import('${assetPath('log-json.js')}').then(({ objectOf, summaryOf, treeOf }) =>
      ${JSON.stringify(texts)}.map((text) => {
        const value = objectOf(text)
        return value && { summary: summaryOf(value).textContent, tree: treeOf(value).textContent }
      }))`)
}

test('a line of JSON shows what it escaped, turns nothing round, and isn’t laid out where it is deep', async () => {
  const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  const [odd, level, none] = await laidOut(
    '{"msg":"paid \\u202e001","by":"\\u001b[2Jx"}',
    '{"level":"constructor","msg":"x"}',
    deep,
  )
  expect(odd!.summary).toBe('paid \\u202e001 by=\\u001b[2Jx')
  expect(odd!.tree).not.toContain('\u202e')
  expect(level!.summary).toBe('constructor x')
  expect(none).toBeNull()
})
