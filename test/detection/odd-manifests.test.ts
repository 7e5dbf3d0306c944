import { expect, test } from 'bun:test'
import { survey } from '../../src/detection/detect.ts'
import { kinds } from './kinds.ts'
import { question } from './plan.ts'
import { others } from './workspaces.ts'

const odd = [5, true, '', '-x "', 'a\nUSER root', '../..', [], [7], {}, { constructor: {} }]

/** The value with another one in place of each of its parts, one at a time. */
function* changed(value: unknown): Generator<unknown> {
  yield* odd
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value))
    for (const other of changed(part))
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }
}

function toml(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(toml).join()}]`
  return `{${pairs(value).join()}}`
}

const pairs = (value: object) =>
  Object.entries(value).map(([key, part]) => `${JSON.stringify(key)} = ${toml(part)}`)

const languages = [
  { name: /\.jsonc?$/, parse: Bun.JSONC.parse, write: JSON.stringify },
  {
    name: /\.toml$/,
    parse: Bun.TOML.parse,
    write: (value: unknown) => pairs(Object(value)).join('\n'),
  },
]

test('a manifest with an odd value is planned for as data, or refused with a reason', () => {
  const seen = new Set<string>()
  for (const [, texts] of [...kinds, ...others])
    for (const [path, text] of Object.entries(texts)) {
      const language = languages.find(({ name }) => name.test(path))
      if (!language || text === '') continue
      for (const manifest of changed(language.parse(text))) {
        const { plan, problem } = survey(
          question({ ...texts, [path]: language.write(manifest) }, { all: true }),
        )
        const outcome = plan ? 'plan' : problem!.code
        expect(outcome).toMatch(/^(plan|not_recognized|manifest_invalid)$/)
        expect(plan?.dockerfile ?? '').not.toMatch(/^USER root/m)
        seen.add(`${language.name} ${outcome}`)
      }
    }
  expect(seen.size).toBe(4)
})
