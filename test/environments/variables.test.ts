import { expect, test } from 'bun:test'
import { variableForm, variableUpdateForm } from '../../src/environments/forms.ts'
import { openVariables } from '../../src/environments/variable-store.ts'
import { asItStands } from '../../src/environments/variables-page.tsx'
import { testApp, withAda } from '../support/app.ts'
import { endless, hostileTexts } from '../support/hostile.ts'
import { contentsOf, escaped, expectRefusals } from '../support/refusals.ts'

async function anEnvironment() {
  const { t, ada } = withAda(testApp())
  const values = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }
  const project = (await ada.post('/projects', values)).json
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const opened = () =>
    Object.fromEntries(
      openVariables(t.db, t.secrets, environment.id).map(({ key, value }) => [key, value]),
    )
  return { t, ada, path: `/envs/${environment.id}/variables`, opened }
}

const secretText = 's3cr3t-value-of-a-variable'

test('a wrong variable is refused by its field', async () => {
  const { t, ada, path } = await anEnvironment()
  const wrong = {
    key: [
      '',
      '1A',
      'A=B',
      'A B',
      '-A',
      '.A',
      'A/B',
      '=x',
      'ä',
      'A\u0000',
      'k'.repeat(201),
      endless,
      7,
      [],
      {},
    ],
    value: ['a\u0000b', 'v'.repeat(100_001), 7, true, [], {}],
    secret: ['maybe', 7, []],
    buildTime: ['maybe', 7, []],
  }
  await expectRefusals(t, ada, {
    method: 'POST',
    path,
    valid: { key: 'A', value: 'x' },
    wrong,
    schema: variableForm,
    notShown: ['secret', 'buildTime'],
  })
  const { id } = (await ada.post(path, { key: 'A', value: 'x' })).json
  await expectRefusals(t, ada, {
    method: 'PUT',
    path: `${path}/${id}`,
    valid: {},
    wrong,
    schema: variableUpdateForm,
    notShown: ['secret', 'buildTime'],
  })
})

test('a new variable needs a key and a value, which may be empty', async () => {
  const { ada, path, opened } = await anEnvironment()
  expect((await ada.post(path, {})).json.errors.map((e: { field: string }) => e.field)).toEqual([
    'key',
    'value',
  ])
  expect((await ada.post(path, { key: 'A' })).json.errors).toEqual([
    { field: 'value', message: 'must be a value, which may be empty.' },
  ])
  expect((await ada.post(path, { key: 'A', value: '' })).status).toBe(201)
  expect((await ada.form(path, { key: 'B', value: '' })).status).toBe(303)
  expect(opened()).toEqual({ A: '', B: '' })
})

test('a name may have dots and hyphens, but not as a build argument', async () => {
  const { ada, path, opened } = await anEnvironment()
  const { json } = await ada.post(path, { key: 'discovery.type', value: 'single-node' })
  expect((await ada.post(path, { dotenv: 'MY-KEY=1\n_x.y-z = 2' })).status).toBe(201)
  expect(opened()).toEqual({ 'discovery.type': 'single-node', 'MY-KEY': '1', '_x.y-z': '2' })
  for (const refused of [
    await ada.post(path, { key: 'other.name', value: '', buildTime: true }),
    await ada.put(`${path}/${json.id}`, { buildTime: true }),
  ]) {
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].field).toBe('buildTime')
  }
  const marked = (await ada.post(path, { key: 'MARKED', value: '', buildTime: true })).json
  expect((await ada.put(`${path}/${marked.id}`, { key: 'a.b' })).status).toBe(422)
})

test('odd but legal values are stored and shown as they are', async () => {
  const { ada, path, opened } = await anEnvironment()
  const values = [
    ...hostileTexts,
    'two\nlines',
    ' blanks ',
    'v'.repeat(100_000),
    '# no comment',
    'ünï',
  ]
  for (const [i, value] of values.entries()) {
    expect((await ada.post(path, { key: `KEY_${i}`, value })).json.value).toBe(value)
    expect(opened()[`KEY_${i}`]).toBe(value)
  }
  await ada.post(path, { key: 'URL', value: 'pg://${USER}@db' })
  expect(opened().URL).toBe('pg://${USER}@db')
  const html = (await ada.page(path)).text
  expect(html).toContain(asItStands)
  for (const text of hostileTexts) expect(html).toContain(escaped(text))
  expect(html).not.toContain('<script>alert')
  for (const key of ['__proto__', 'constructor', 'PATH', '_'])
    expect((await ada.post(path, { key, value: 'x' })).status).toBe(201)
})

test('the value of a secret is in no answer, and sealed in the database', async () => {
  const { t, ada, path, opened } = await anEnvironment()
  const made = await ada.post(path, { key: 'TOKEN', value: secretText, secret: true })
  expect(made.json).toMatchObject({ key: 'TOKEN', value: null, secret: true })
  const one = `${path}/${made.json.id}`
  const answers = [
    made,
    await ada.get(path),
    await ada.get(one),
    await ada.page(path),
    await ada.page(one),
    await ada.htmx('GET', one),
    await ada.put(one, { key: 'TOKEN2' }),
    await ada.put(one, { buildTime: true }),
    await ada.put(one, { key: '1' }),
    await ada.htmx('PUT', one, { key: '1', value: '' }),
    await ada.post(path, { key: 'TOKEN2', value: 'x' }),
    await ada.form(path, { dotenv: `TOKEN2=${secretText}`, secret: '1' }),
  ]
  for (const { text } of answers) expect(text).not.toContain(secretText)
  expect(JSON.stringify(contentsOf(t))).not.toContain(secretText)
  expect(opened()).toEqual({ TOKEN2: secretText })
})

test('a secret keeps its value when the field is left empty', async () => {
  const { ada, path, opened } = await anEnvironment()
  const { id } = (await ada.post(path, { key: 'TOKEN', value: secretText, secret: true })).json
  const one = `${path}/${id}`
  await ada.htmx('PUT', one, { key: 'TOKEN', value: '', secret: '1', build_time: '0' })
  await ada.put(one, { value: null })
  await ada.put(one, { value: '' })
  expect(opened()).toEqual({ TOKEN: secretText })
  await ada.put(one, { value: 'another' })
  expect(opened()).toEqual({ TOKEN: 'another' })
})

test('a secret of a refused form isn’t shown but asked for again, however it says that it is one', async () => {
  const { ada, path } = await anEnvironment()
  const { id } = (await ada.post(path, { key: 'TOKEN', value: secretText, secret: true })).json
  const wrong = { key: '1', value: 'another' }
  for (const { text } of await Promise.all([
    ...['1', 'on', 'true', 'yes'].map((secret) => ada.form(path, { ...wrong, secret })),
    ada.form(path, { ...wrong, key: 'TOKEN' }),
    ada.htmx('PUT', `${path}/${id}`, wrong),
  ])) {
    expect(text).toContain('id="field-value-error"')
    expect(text).not.toContain(wrong.value)
  }
  for (const kept of [
    { ...wrong, value: '', secret: '1' },
    { ...wrong, secret: '0' },
  ])
    expect((await ada.form(path, kept)).text).not.toContain('id="field-value-error"')
})

test('a secret becomes readable only together with a new value', async () => {
  const { t, ada, path, opened } = await anEnvironment()
  const { id } = (await ada.post(path, { key: 'TOKEN', value: secretText, secret: true })).json
  const one = `${path}/${id}`
  const before = contentsOf(t)
  for (const body of [
    { secret: false },
    { secret: false, value: '' },
    { secret: false, value: null },
    { secret: null },
    { secret: null, value: null },
  ]) {
    const answer = await ada.put(one, body)
    expect(answer.status).toBe(422)
    expect(answer.json.errors[0].field).toBe('value')
  }
  const drawn = await ada.htmx('PUT', one, { key: 'TOKEN', value: '', secret: '0' })
  expect(drawn.status).toBe(422)
  expect(drawn.text).toContain('id="field-value-error"')
  expect(contentsOf(t)).toEqual(before)
  expect((await ada.put(one, { secret: false, value: 'plain' })).json.value).toBe('plain')
  expect((await ada.put(one, { secret: true })).json.value).toBeNull()
  expect(opened()).toEqual({ TOKEN: 'plain' })
  expect(JSON.stringify(contentsOf(t))).not.toContain('"plain"')
})

test('null takes a flag of a variable away', async () => {
  const { ada, path, opened } = await anEnvironment()
  const flags = { secret: true, buildTime: true }
  const { id } = (await ada.post(path, { key: 'TOKEN', value: secretText, ...flags })).json
  const one = `${path}/${id}`
  const kept = await ada.put(one, { buildTime: null })
  expect(kept.json).toMatchObject({ secret: true, buildTime: false, value: null })
  const plain = await ada.put(one, { secret: null, value: 'plain' })
  expect(plain.json).toMatchObject({ secret: false, buildTime: false, value: 'plain' })
  expect(opened()).toEqual({ TOKEN: 'plain' })
})

test('a sealed value does not open in the row of another variable', async () => {
  const { t, ada, path, opened } = await anEnvironment()
  await ada.post(path, { key: 'A', value: secretText, secret: true })
  await ada.post(path, { key: 'B', value: 'other', secret: true })
  t.db.$client.run("UPDATE variables SET value = (SELECT value FROM variables WHERE key = 'A')")
  expect(opened).toThrow()
})

test('a name is taken once in an environment', async () => {
  const { ada, path } = await anEnvironment()
  const { id } = (await ada.post(path, { key: 'A', value: '1' })).json
  await ada.post(path, { key: 'B', value: '2' })
  for (const answer of [
    await ada.post(path, { key: 'A', value: '3' }),
    await ada.put(`${path}/${id}`, { key: 'B' }),
  ]) {
    expect(answer.status).toBe(409)
    expect(answer.json.errors[0].field).toBe('key')
  }
})

test('a .env file is stored whole', async () => {
  const { ada, path, opened } = await anEnvironment()
  await ada.post(path, { key: 'B', value: 'old', secret: true })
  const made = await ada.post(path, {
    dotenv: 'A=1\nexport B="2\\n3"\n# no\nC=\'$x\'',
    secret: false,
  })
  expect(made.status).toBe(201)
  expect(made.json.items).toHaveLength(3)
  expect(made.json.nextCursor).toBeNull()
  expect(opened()).toEqual({ A: '1', B: '2\n3', C: '$x' })
  expect((await ada.get(path)).json.items.find((v: { key: string }) => v.key === 'B').secret).toBe(
    true,
  )
})

test('of a .env file with a wrong line nothing is stored, and the line is named', async () => {
  const { t, ada, path } = await anEnvironment()
  const before = contentsOf(t)
  const files: [string, number][] = [
    ['A=1\nnonsense\nC=3', 2],
    ['A=1\n\n1B=2', 3],
    ['A=1\nB="never closed\nC=3', 2],
    ["A='x' y", 1],
    [`A=1\n${'K'.repeat(201)}=2`, 2],
    [`A=1\nB=2\nC=${'v'.repeat(100_001)}`, 3],
    ['-B=1', 1],
    ['A:B=1', 1],
    ['=1', 1],
  ]
  for (const [dotenv, line] of files) {
    const answer = await ada.post(path, { dotenv })
    expect(answer.status, dotenv.slice(0, 40)).toBe(422)
    expect(answer.json.errors[0].field).toBe('dotenv')
    expect(answer.json.errors[0].message).toStartWith(`Line ${line} `)
  }
  for (const dotenv of ['# nothing', 'A=\u0000', 'x'.repeat(500_001), 7, []])
    expect((await ada.post(path, { dotenv })).status).toBe(422)
  for (const more of [{ key: 'B', value: 'x' }, { buildTime: true }])
    expect((await ada.post(path, { dotenv: 'A=1', ...more })).status).toBe(422)
  expect(contentsOf(t)).toEqual(before)
})

test('the values of an environment have a length together that their logs can be searched for', async () => {
  const { ada, path, opened } = await anEnvironment()
  const value = 'v'.repeat(96_000)
  for (let n = 0; n < 5; n++) await ada.post(path, { key: `K${n}`, value, secret: n % 2 === 0 })
  const before = opened()
  for (const [field, more] of [
    ['value', { key: 'MORE', value }],
    ['dotenv', { dotenv: `MORE=${value}\nOTHER=x` }],
  ] as const) {
    const refused = await ada.post(path, more)
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0]).toMatchObject({
      field,
      message: expect.stringContaining('at most 500,000 characters in total'),
    })
  }
  expect(opened()).toEqual(before)
  const { id } = (await ada.get(path)).json.items[0]
  expect((await ada.put(`${path}/${id}`, { value: 'shorter' })).status).toBe(200)
  expect((await ada.post(path, { key: 'MORE', value: value.slice(0, 90_000) })).status).toBe(201)
})
