import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { joinStyles, styleSources } from '../../src/web/stylesheet.ts'
import { testApp } from '../support/app.ts'
import { full, kept, prune, pruned } from '../support/prune-basecoat.ts'

const root = join(import.meta.dir, '../..')
const assets = join(root, 'assets')

test('a page loads one style sheet, which holds every source', async () => {
  const { app } = testApp()
  const page = await (await app.request('/auth/register')).text()
  const sheets = page.match(/<link rel="stylesheet"[^>]*>/g)!
  expect(sheets).toHaveLength(1)
  const css = await (await app.request(/href="([^"]*)"/.exec(sheets[0]!)![1]!)).text()
  for (const part of ['.btn{', '.dark .log{', '.row-link', '.api-operation', '.terminal'])
    expect(css).toContain(part)
  for (const { 0: open, 1: close } of ['{}', '()', '[]'])
    expect(css.split(open!).length, `${open} ${close}`).toBe(css.split(close!).length)
})

test('every style sheet of the assets is a source', () => {
  const there = readdirSync(assets).filter((name) => name.endsWith('.css'))
  expect(styleSources.filter((name) => !name.includes('/')).sort()).toEqual(there.sort())
})

test('a source of the style sheet has 300 lines at most', async () => {
  for (const name of styleSources.filter((name) => !name.startsWith('vendor/')))
    expect((await Bun.file(join(assets, name)).text()).split('\n').length - 1, name).toBeLessThan(
      301,
    )
})

test('joining leaves out comments, and blanks and zeros that say nothing, and nothing else', () => {
  const texts = [
    '/* why */\n.a > .b + :hover,\n.c {\n  color: red;\n  margin: 0.5px calc(1px + 2%) 0;\n}\n',
    "/*! (c) */\n.d::after { content: 'a / b' }",
  ]
  expect(joinStyles(texts)).toBe(
    ".a>.b+:hover,.c{color:red;margin:.5px calc(1px + 2%) 0}/*! (c) */ .d::after{content:'a / b'}",
  )
})

test('the rules of Basecoat are those that the pages need (`npm run basecoat` writes them)', async () => {
  expect(await Bun.file(pruned).text()).toBe(prune(await Bun.file(full).text()))
})

test('no page names a component of Basecoat whose rules were left out', async () => {
  const known = new Set(
    Array.from((await Bun.file(full).text()).matchAll(/\.([a-zA-Z_][\w-]*)/g), ([, name]) => name!),
  )
  const own = await (await testApp().app.request('/static/app.css')).text()
  const unstyled: string[] = []
  for (const path of new Bun.Glob('{src/**/*.tsx,assets/*.js}').scanSync(root)) {
    const text = await Bun.file(join(root, path)).text()
    for (const [, names] of text.matchAll(/\bclass(?:Name)?\s*=\s*["']([^"']+)["']/g))
      for (const name of names!.split(' '))
        if (known.has(name) && !kept.includes(name) && !own.includes(`.${name}`))
          unstyled.push(`${path}: ${name}`)
  }
  expect(unstyled).toEqual([])
})
