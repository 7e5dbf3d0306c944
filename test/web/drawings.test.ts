import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aliases, logoOf } from '../../src/web/logo.tsx'
import { drawings, iconNames } from '../support/drawings.ts'
import { rounded } from '../support/svg-path.ts'

const root = join(import.meta.dir, '../..')

test('icons, logos and charts are those of the packages that are installed', () => {
  for (const [path, text] of Object.entries(drawings()))
    expect(readFileSync(join(root, path), 'utf8'), `${path}: bun run drawings`).toBe(text)
})

test('no icon is there that no page has', () => {
  const sources = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync(root)]
  const texts = sources
    .filter((path) => !path.endsWith('icon-shapes.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
  const isUsed = (name: string) => texts.some((text) => new RegExp(`['"]${name}['"]`).test(text))
  expect(iconNames.filter((name) => !isUsed(name))).toEqual([])
})

test('a path is rounded where it is, whatever commands it is written with', () => {
  expect(rounded('M1.04 1.04l1.04 0 1.04 0')).toBe('m1 1 1.1 0 1 0')
  expect(rounded('M1 2H4.26V8.04z')).toBe('m1 2h3.3v6z')
  expect(rounded('m3 3a1.5 1.5 0 011.24 2.96zm.56-.5h1')).toBe('m3 3a1.5 1.5 0 0 1 1.2 3zm.6-.5h1')
  expect(rounded('M0 0C.1.2.3.4.5.6L.51.61')).toBe('m0 0c.1.2.3.4.5.6')
})

test('a template of the catalogue has its logo, but for those that no one draws', () => {
  const templates = readdirSync(join(root, 'src/services/templates')).map((f) => f.slice(0, -5))
  const without = templates.filter((name) => logoOf(name) === null)
  expect(without.toSorted()).toEqual(['docmost', 'gotify', 'memos', 'nocodb', 'valkey'])
})

test('an image is known by its name, whatever registry, tag or digest it has', () => {
  expect(logoOf('postgres:17.11')).toBe('postgresql')
  expect(logoOf('ghcr.io/immich-app/postgres:14-vectorchord0.4.3')).toBe('postgresql')
  expect(logoOf('registry.example.net:5000/library/mongo@sha256:abc')).toBe('mongodb')
  expect(logoOf('clickhouse/clickhouse-server:24.12-alpine')).toBe('clickhouse')
  expect(logoOf('example/constructor')).toBeNull()
  expect([...aliases.keys()].filter((name) => logoOf(name) === null)).toEqual([])
})
