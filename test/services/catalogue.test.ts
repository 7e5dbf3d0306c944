import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { Catalogue } from '../../src/services/catalogue.ts'
import { journal } from '../../src/platform/journal.ts'
import { testApp, withAda } from '../support/app.ts'

const own = (name: string) => `
x-davit: { name: ${name}, description: Of the operator, category: other, tags: [own], version: latest }
services:
  a: { image: 'busybox:latest', healthcheck: { test: [CMD, 'true'] } }
`

test('every template is listed as its reader reads it', async () => {
  const catalogue = new Catalogue({ templatesDir: null })
  const { entries, refused } = await catalogue.list()
  const files = [...new Glob('*.yaml').scanSync('src/services/templates')]
  expect(entries.map(({ template }) => `${template}.yaml`).sort()).toEqual(files.sort())
  expect(entries.length).toBeGreaterThanOrEqual(24)
  expect(refused).toEqual([])
  for (const { template, about } of entries)
    expect((await catalogue.open(template)).file.about).toEqual(about)
})

test('the operator’s templates stand beside Davit’s, and a bad one is told', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'davit-templates-'))
  using told = collectWarnings()
  try {
    writeFileSync(join(dir, 'mine.yaml'), own('Mine'))
    writeFileSync(join(dir, 'redis.yaml'), own('Our Redis'))
    writeFileSync(join(dir, 'broken.yaml'), 'x-davit: {name: Broken}\nservices: {a: {build: .}}')
    writeFileSync(join(dir, 'ghost.yaml'), 'services: [')
    writeFileSync(join(dir, 'compose.yaml'), own('Compose'))
    writeFileSync(join(dir, `${crypto.randomUUID()}.yaml`), own('Id'))
    writeFileSync(join(dir, 'Upper Case.yaml'), own('Upper'))
    writeFileSync(join(dir, 'notes.txt'), 'not a template')
    const { t, ada } = withAda(testApp({ DAVIT_TEMPLATES_DIR: dir }))
    const names = async () =>
      (await ada.get('/services')).json.templates.map((e: { name: string }) => e.name) as string[]
    expect(await names()).toContain('Mine')
    expect(await names()).toContain('Our Redis')
    expect(await names()).not.toContain('Redis')
    expect(await names()).toContain('Ghost')
    expect((await ada.get('/services/mine/configure')).json.name).toBe('Mine')
    expect((await ada.get('/services/redis/configure')).json.name).toBe('Our Redis')
    expect((await ada.get('/services/ghost/configure')).json.name).toBe('Ghost')
    expect((await ada.get('/services/broken/configure')).status).toBe(404)
    expect((await ada.get('/services/compose/configure')).json).toEqual({})
    expect((await ada.page('/services')).text).not.toContain('broken.yaml')
    const page = (await t.logInAsAdmin().page('/services')).text
    for (const file of ['broken.yaml', 'ghost.yaml', 'compose.yaml', 'Upper Case.yaml'])
      expect(page).toContain(file)
    expect(told.files.filter((file) => file.endsWith('broken.yaml'))).toHaveLength(1)

    writeFileSync(join(dir, 'broken.yaml'), own('Mended by now'))
    expect(await names()).toContain('Mended by now')
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('a directory that is not there is told, and the rest is', async () => {
  using _ = collectWarnings()
  const catalogue = new Catalogue({ templatesDir: '/nowhere/at/all' })
  const { entries, refused } = await catalogue.list()
  expect(entries.length).toBeGreaterThan(20)
  expect(refused[0]!.message).toContain('DAVIT_TEMPLATES_DIR')
})

test('words find templates by name, tag and category', async () => {
  const ada = testApp().logIn('ada@example.com')
  const found = async (query: string) =>
    (await ada.get(`/services?${query}`)).json.templates.map(
      (e: { template: string }) => e.template,
    ) as string[]
  expect(await found('q=postgr')).toEqual(['postgresql'])
  expect(await found('q=SQL+relational')).toContain('postgresql')
  expect(await found('category=database')).toContain('redis')
  expect(await found('category=database')).not.toContain('ghost')
  expect(await found('q=nothing-of-the-kind')).toEqual([])
  const fragment = await ada.htmx('GET', '/services?q=nothing-of-the-kind')
  expect(fragment.text).toContain('Nothing found')
})

function collectWarnings() {
  const { warn } = journal
  const files: string[] = []
  journal.warn = (_, { file } = {}) => void files.push(String(file))
  return {
    files,
    [Symbol.dispose]: () => {
      journal.warn = warn
    },
  }
}
