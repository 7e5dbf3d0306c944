import { expect, test } from 'bun:test'
import { join, normalize } from 'node:path'

const source = join(import.meta.dir, '../src')

const transpiler = new Bun.Transpiler({ loader: 'tsx', minifyWhitespace: true })

/** What is evaluated before a server answers: all that these reach without `import()` or `require()`. */
const roots = ['main.ts', 'serve.ts']

async function loadedAtStart() {
  const modules = new Map<string, number>()
  const packages = new Set<string>()
  const waiting = [...roots]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue
    if (!/\.tsx?$/.test(path)) continue // a file of data
    const text = await Bun.file(join(source, path)).text()
    modules.set(path, transpiler.transformSync(text).length)
    for (const { kind, path: named } of transpiler.scanImports(text))
      if (kind !== 'import-statement' || /^(node|bun):|^bun$/.test(named)) continue
      else if (named.startsWith('.')) waiting.push(normalize(join(path, '..', named)))
      else packages.add(named.split('/', named.startsWith('@') ? 2 : 1).join('/'))
  }
  return { modules, packages }
}

const { modules, packages } = await loadedAtStart()

test('a start loads these packages, and others where they are first used', () => {
  const needed = ['@oslojs/crypto', '@oslojs/encoding', 'drizzle-orm', 'hono', 'zod']
  expect([...packages].sort()).toEqual(needed)
})

test('a start loads no page, no form and nothing of git but the names of its folders', () => {
  const views = [...modules.keys()].filter((path) => path.endsWith('.tsx'))
  expect(views).toEqual(['logs/log-line.tsx'])
  const late = /(^|\/)(\w+-)?forms?\.ts$|^git\/(operations|context|run|fetch|upload)\.ts$/
  expect([...modules.keys()].filter((path) => late.test(path))).toEqual([])
})

test('a start loads no more code than it did', () => {
  const bytes = modules.values().reduce((sum, size) => sum + size, 0)
  const largest = [...modules].sort(([, a], [, b]) => b - a).slice(0, 10)
  const kilobytes = Math.ceil(bytes / 1000)
  expect(
    kilobytes,
    `the largest are ${largest.map(([path]) => path).join(', ')}`,
  ).toBeLessThanOrEqual(870)
})
