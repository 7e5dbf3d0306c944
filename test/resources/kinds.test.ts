import { expect, test } from 'bun:test'
import { z } from 'zod'
import { jsonSchemaOf } from '../../src/api/document.ts'
import { changedFields, completed, partial, refuseUnoffered } from '../../src/resources/change.ts'
import { sealedAs } from '../../src/resources/store.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { rowJson } from '../../src/resources/json.ts'
import { apiTokens } from '../../src/db/schema.ts'
import { apiToken } from '../../src/accounts/api-token.tsx'
import { invite } from '../../src/accounts/invite.tsx'
import { drain } from '../../src/drains/drain.tsx'
import { line } from '../../src/web/fields.ts'
import { check } from '../../src/web/input.ts'
import { kindForm } from '../../src/web/kind-form.ts'
import { field } from '../../src/web/schema-fields.tsx'

const text = (label: string) => field(line('some text', { max: 9 }), { label })
const form = kindForm(
  { allowHosts: [] },
  { name: text('Name') },
  {
    bucket: {
      label: 'A bucket',
      fields: () => ({ region: text('Region').nullish(), key: text('Key') }),
    },
    folder: { label: 'A folder', adminOnly: true, fields: () => ({ path: text('Path') }) },
  },
  { note: text('Note').nullish() },
)

const refusedBy = (schema: z.ZodType, data: Record<string, unknown>) =>
  refusedIn(() => check(schema, { kind: 'json', data }))

const refusedIn = (work: () => unknown) => {
  try {
    work()
    return []
  } catch (error) {
    return (error as { fields: { field: string }[] }).fields.map((one) => one.field)
  }
}

/** A row whose token is sent to its host, and whose key is sent nowhere. */
function aSealed() {
  const secrets = new Secrets('a secret of the tests, 32 bytes long')
  const fields = { host: text('Host'), token: text('Token').nullish(), key: text('Key') }
  const seal = (value: string) => secrets.seal(value, sealedAs('thing', '1'))
  const row = { id: '1', host: 'a', token: seal('the token'), key: seal('the key') }
  const sealed = ['token', 'key']
  const described = { kind: 'thing', sealed, sentTo: ['host'], neverSent: ['key'] }
  return { secrets, row, described, form: z.object(fields) }
}

test.each([
  ['its own fields', { kind: 'folder', name: 'a', path: '/a' }, []],
  ['nothing for those of others', { kind: 'folder', name: 'a', path: '/a', key: null }, []],
  ['no kind', { name: 'a', path: '/a' }, ['kind']],
  ['a kind that is none', { kind: 'tape', name: 'a' }, ['kind']],
  ['a name that every object has', { kind: 'constructor', name: 'a' }, ['kind']],
  ['none of its own', { kind: 'bucket', name: 'a' }, ['key']],
  ['one of another', { kind: 'folder', name: 'a', path: '/a', key: 'k' }, ['key']],
])('a form with kinds that is sent %s', (_, data, fields) => {
  expect(refusedBy(form, data)).toEqual(fields)
})

test('the API document has one of several bodies, and each kind’s fields', () => {
  const { oneOf } = jsonSchemaOf(form) as { oneOf: { properties: object; required: string[] }[] }
  expect(oneOf.map(({ properties }) => Object.keys(properties))).toEqual([
    ['kind', 'name', 'region', 'key', 'note'],
    ['kind', 'name', 'path', 'note'],
  ])
  expect(oneOf.map(({ required }) => required)).toEqual([
    ['kind', 'name', 'key'],
    ['kind', 'name', 'path'],
  ])
  expect(partial(form).safeParse({ key: 'k' }).success).toBe(true)
})

test('a change keeps the kind, and completes only its fields', () => {
  const row = { id: '1', kind: 'folder', name: 'a', path: '/a', key: null }
  const change = (data: Record<string, unknown>) =>
    completed({ kind: 'thing', sealed: ['key'] }, { form, row }, data)
  expect(change({ name: 'b' })).toEqual({ kind: 'folder', name: 'b', path: '/a' })
  expect(() => change({ kind: 'bucket' })).toThrow('kind')
})

test('a sealed field stays when it is left out, and null takes an optional one away', () => {
  const { secrets, row, described, form } = aSealed()
  const change = (data: Record<string, unknown>, more: object = {}) =>
    completed(described, { secrets, form, row, ...more }, data)
  const both = { host: 'a', token: 'the token', key: 'the key' }
  expect(change({})).toEqual(both)
  expect(change({ host: ' a ' })).toMatchObject({ token: 'the token', key: 'the key' })
  expect(change({ token: null, key: '' })).toEqual({ ...both, token: null })
  expect(change({ token: null, key: null })).toEqual({ ...both, token: null }) // Davit needs the key
  expect(change({ token: null, key: null }, { isForm: true })).toEqual(both)
  expect(() => change({ host: 'b' })).toThrow('token')
  expect(change({ host: 'b', token: 'x' })).toEqual({ host: 'b', token: 'x', key: 'the key' })
  expect(() => change({}, { row: { ...row, key: 'of another key' } })).toThrow('key')
})

test('of what is offered others are refused, and what a row has already stays', () => {
  const options = { of: [{ value: '', label: 'all' }], events: [{ value: 'a', label: 'A' }] }
  const refused = (input: object, row?: object) =>
    refusedIn(() => refuseUnoffered(options, input, row))
  expect(refused({ of: null, events: ['a'], name: 'any' })).toEqual([])
  expect(refused({ of: 'x' })).toEqual(['of'])
  expect(refused({ events: ['a', 'b'] })).toEqual(['events'])
  expect(refused({ of: 'x', events: ['b', 'a'] }, { of: 'x', events: ['b'] })).toEqual([])
  expect(refused({ of: 'y' }, { of: 'x' })).toEqual(['of'])
})

test('a change names the fields that get another value, and secrets that are sent or removed', () => {
  const before = { host: 'a', port: 1, note: null, token: 'sealed', key: 'sealed' }
  const changes = (sent: Record<string, unknown>, after: object) =>
    changedFields({ sealed: ['token', 'key'] }, { before, after: { ...before, ...after }, sent })
  expect(changes({ host: 'a', port: '1', note: '', token: '', key: null }, {})).toEqual([])
  expect(changes({ host: 'b', port: 1 }, { host: 'b' })).toEqual(['host'])
  expect(changes({ token: 'the same' }, {})).toEqual(['token'])
  expect(changes({ token: null, key: null }, { token: null })).toEqual(['token']) // Davit keeps the key
})

test('a place that the form refuses is refused by its own field, whatever was sent for it', () => {
  const { secrets, row, described, form } = aSealed()
  const shown = { toString: 1 }
  for (const host of ['b'.repeat(10), '', null, [], {}, shown, [shown]]) {
    const data = completed(described, { secrets, form, row }, { host })
    expect(refusedBy(form, data)).toEqual(['host'])
  }
})

test('the JSON of a row has the types of its columns, and none that was not named', () => {
  const json = rowJson('RowOfTheTest', apiTokens, ['name', 'expiresAt', 'projectId'], () => ({
    scopes: z.array(z.string()),
  }))
  expect(Object.keys(json().shape)).toEqual([
    ...['id', 'name', 'expiresAt', 'projectId', 'scopes', 'createdAt'],
  ])
  const row = { id: crypto.randomUUID(), name: 'a', expiresAt: null, projectId: null, scopes: [] }
  expect(json().safeParse({ ...row, createdAt: new Date().toISOString() }).success).toBe(true)
  expect(json().safeParse({ ...row, name: null }).success).toBe(false)
})

test('an empty list is named by its title, unless it has a name of its own', () => {
  const names = [drain, apiToken, invite].map(({ none }) => none)
  expect(names).toEqual(['No log drains', 'No API tokens', 'No open invitations'])
})
