import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { joinScripts } from '../../src/web/script.ts'
import { testApp } from '../support/app.ts'

const assets = join(import.meta.dir, '../../assets')
const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'))
const textOf = (name: string) => readFileSync(join(assets, name), 'utf8')

/** What a script that is made of these files gives, and what it says to `tell`. */
async function run(files: Record<string, string>) {
  const script = joinScripts('main.js', {
    read: (name) => files[name]!,
    address: (name) => `/static/${name}?v=1`,
  })
  const told: unknown[] = []
  Object.assign(globalThis, { tell: (value: unknown) => void told.push(value) })
  const file = join(mkdtempSync(join(tmpdir(), 'davit-script-')), 'main.js')
  writeFileSync(file, script)
  onTestFinished(() => rmSync(dirname(file), { recursive: true }))
  return { told, given: await import(file) }
}

test('joined modules see what they import, and keep the rest to themselves', async () => {
  const { told, given } = await run({
    'main.js': `import { add, Sum as Total, start } from './sum.js'\nimport {\n  twice,\n} from './twice.js'\nconst own = 1\ntell([add(own, start), new Total().of])\ntell(twice(add(2, 3)))\nexport const given = () => own\n`,
    'sum.js': `import { twice } from './twice.js'\nconst own = 40\nexport const start = own + 1\nexport function add(a, b) {\n  return a + b\n}\nexport class Sum {\n  of = twice(own)\n}\n`,
    'twice.js': `tell('once')\nconst own = 2\nexport const twice = (n) => n * own\n`,
  })
  expect(told).toEqual(['once', [42, 80], 10])
  expect(Object.keys(given)).toEqual(['given'])
  expect(given.given()).toBe(1)
})

test('what is imported when it is needed is asked for by its lasting address', () => {
  const read = () => `button.onclick = () => import('./later.js')\n`
  expect(joinScripts('main.js', { read, address: (name) => `/x/${name}?v=7` })).toContain(
    'import("/x/later.js?v=7")',
  )
})

test('modules that import each other, or export in another way, are refused', () => {
  const files: Record<string, string> = {
    'a.js': `import { b } from './b.js'\nexport const a = 1\n`,
    'b.js': `import { a } from './a.js'\nexport const b = 1\n`,
    'c.js': `export default 1\n`,
  }
  const joined = (name: string) =>
    joinScripts(name, { read: (name) => files[name]!, address: (name) => name })
  expect(() => joined('a.js')).toThrow('imports itself')
  expect(() => joined('c.js')).toThrow('c.js imports or exports in a way')
})

test('every script of the assets is served whole: it imports no other of ours', async () => {
  const { app } = testApp()
  for (const name of scripts) {
    const answer = await app.request(`/static/${name}`)
    expect(answer.status, name).toBe(200)
    const imported = new Bun.Transpiler({ loader: 'js' }).scanImports(await answer.text())
    const found = imported.map(({ kind, path }) => `${kind} ${path.replace(/\?v=.*/, '')}`)
    expect(
      found.filter((one) => !/^import-statement \/static\/vendor|^dynamic-import/.test(one)),
      name,
    ).toEqual([])
    for (const { path } of imported) expect(path).toMatch(/^\/static\/[\w./-]+\?v=[0-9a-f]{12}$/)
  }
})

test('a module that several scripts carry has nothing that must be there once', () => {
  const importedBy = (name: string): string[] =>
    Array.from(
      textOf(name).matchAll(/^import [^']*'\.\/([\w-]+\.js)'/gm),
      ([, from]) => from!,
    ).flatMap((from) => [from, ...importedBy(from)])
  const isImported = new Set(scripts.flatMap(importedBy))
  const needed = scripts.flatMap((name) =>
    Array.from(textOf(name).matchAll(/\bimport\('\.\/([\w-]+\.js)'\)/g), ([, from]) => from!),
  )
  const entries = scripts.filter((name) => !isImported.has(name) || needed.includes(name))
  const carried = entries.flatMap((name) => [...new Set([name, ...importedBy(name)])])
  const shared = carried.filter((name, at) => carried.indexOf(name) !== at)
  for (const name of new Set(shared))
    expect(textOf(name), name).not.toMatch(
      /^(let |document\.|addEventListener|(export )?const \w+ = new )/m,
    )
})
