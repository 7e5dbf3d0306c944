import { expect, test } from 'bun:test'
import { z } from 'zod'
import { environments, registries } from '../../src/db/schema.ts'
import { insertOwned } from '../../src/resources/store.ts'
import { flag, line } from '../../src/web/fields.ts'
import { field, lookOf, looksOf, SchemaFields } from '../../src/web/schema-fields.tsx'
import { simulatedApp, testApp, withAda } from '../support/app.ts'

const named = () => field(line('a name', { max: 9 }), { label: 'Name' })

test.each([
  ['optional', named().optional()],
  ['nullish', named().nullish()],
  ['a default', named().default('x')],
  ['refined', named().refine(() => true)],
  ['shortened', named().min(3)],
  ['transformed', named().transform((text) => text.length)],
  ['read before', z.preprocess((value) => value, named())],
  ['all of that', named().min(2).optional().default('x').pipe(z.string())],
])('a field that is %s afterwards keeps its label', (_, schema) => {
  expect(lookOf(schema)?.label).toBe('Name')
  expect(looksOf(z.object({ schema })).map(([name]) => name)).toEqual(['schema'])
})

test('a sealed field without a value is stored without one, not as a sealed word', () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const rows = { kind: 'registry', table: registries, owner: registries.ownerId } as const
  const insert = (password: string | undefined) =>
    insertOwned(
      t,
      { ...rows, sealed: ['password'] },
      {
        ownerId: ada.user.id,
        values: { host: 'a.example.com', username: 'ada', password },
      },
    )
  expect(() => insert(undefined)).toThrow() // the column must have one
  expect(insert('secret')).toBeString()
})

test('a checkbox of a new one has its initial value, and that of a stored one what is stored', () => {
  const schema = z.object({
    tls: field(flag().nullish(), { label: 'TLS', isFlag: true, initial: '1' }),
  })
  const isChecked = (values: Record<string, unknown>) =>
    /<input[^>]*type="checkbox"[^>]*\bchecked\b/.test(
      String(<SchemaFields {...{ schema, values }} />),
    )
  expect(isChecked({})).toBe(true)
  expect(isChecked({ tls: false })).toBe(false)
  expect(isChecked({ tls: true })).toBe(true)
})

test('half of a character, which would be stored as another one, is refused by its field', async () => {
  const { t, ada } = withAda(simulatedApp())
  const half = 'half \ud83d of a character'
  const { json: project } = await ada.post('/projects', { name: 'site', image: 'busybox' })
  const variables = `/envs/${t.db.select().from(environments).get()!.id}/variables`
  const rest = { kind: 'rest', name: 'offsite', url: 'https://backup.example.com' }
  const login = { host: 'registry.example.com', username: 'ada' }
  const compose = 'services: { a: { image: busybox, environment: { A: "${A}" } } }'
  const sent: [string, string, string, object][] = [
    ['post', '/settings/targets', 'user', { ...rest, userPassword: 'a' }],
    ['post', '/settings/registries', 'password', login],
    ['put', `/projects/${project.id}`, 'name', {}],
    ['post', variables, 'value', { key: 'A' }],
    ['put', variables, 'text', {}],
    ['put', '/settings/password', 'password', {}],
    ['post', '/services/compose', 'A', { name: 'a', compose }],
  ]
  for (const [method, path, field, body] of sent) {
    const { status, json } = await ada[method as 'post'](path, { ...body, [field]: half })
    const fields = json.errors?.map((one: { field: string }) => one.field)
    expect([status, fields], path).toEqual([422, [field]])
  }
  const whole = { key: 'A', value: '😀' }
  expect((await ada.post(variables, whole)).json).toMatchObject(whole)
})
