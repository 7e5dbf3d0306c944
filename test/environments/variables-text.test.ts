import { expect, test } from 'bun:test'
import { parseDotenv } from '../../src/environments/dotenv.ts'
import { asItStands } from '../../src/environments/variables-page.tsx'
import { kept, textOf } from '../../src/environments/variables-text.ts'
import { openVariables } from '../../src/environments/variable-store.ts'
import { formsOf } from '../forms/page-forms.ts'
import { testApp, withAda } from '../support/app.ts'

async function start() {
  const { t, ada } = withAda(testApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { json: list } = await ada.get(`/projects/${project.id}/envs`)
  const id: string = list.items[0].id
  const path = `/envs/${id}/variables`
  await ada.post(path, { key: 'GREETING', value: 'hello', buildTime: true })
  await ada.post(path, { key: 'OLD', value: 'gone' })
  await ada.post(path, { key: 'API_TOKEN', value: 'a-secret-value', secret: true })
  const stored = () =>
    openVariables(t.db, t.secrets, id).map(({ key, value, secret }) => [key, value, secret])
  return { t, ada, path, stored }
}

/** What its form sends after it was answered with that page. */
async function sent(html: string, path: string) {
  const form = (await formsOf(html, path)).find(({ action }) => action === path)!
  return Object.fromEntries(form.fields.map(({ name, value }) => [name, value]))
}

test('the text has all variables, but for the values of secrets', async () => {
  const { ada, path } = await start()
  const { text } = (await ada.get(`${path}/text`)).json
  expect(text).toBe(`API_TOKEN=${kept}\nGREETING=hello\nOLD=gone\n`)
  expect((await ada.page(`${path}/text`)).text).not.toContain('a-secret-value')
})

test('a person sees what changes, and then saves it; a secret keeps its value', async () => {
  const { ada, path, stored } = await start()
  const before = stored()
  const text = `GREETING=hi\nAPI_TOKEN=${kept}\nDB_PASSWORD=hunter2\n`
  const odd = await ada.form(path, { _method: 'PUT', text: 'API_TOKEN=x-${A}\nGREETING=$A' })
  expect(odd.text.split(asItStands)).toHaveLength(2)
  const preview = await ada.form(path, { _method: 'PUT', text })
  expect([preview.status, stored()]).toEqual([200, before])
  for (const part of ['3 variables change', '<del>hello</del>', '<ins>hi</ins>', '<del>gone</del>'])
    expect(preview.text).toContain(part)

  const saved = await ada.form(path, await sent(preview.text, path))
  expect([saved.status, saved.headers.get('Location')]).toEqual([303, path])
  expect(stored()).toEqual([
    ['API_TOKEN', 'a-secret-value', true],
    ['DB_PASSWORD', 'hunter2', true],
    ['GREETING', 'hi', false],
  ])
  const { json } = await ada.get(path)
  const greeting = json.items.find(({ key }: { key: string }) => key === 'GREETING')
  expect(greeting.buildTime).toBe(true)
})

test('what was shown is what is saved: neither another text, nor over what changed meanwhile', async () => {
  const { ada, path, stored } = await start()
  const preview = await ada.form(path, { _method: 'PUT', text: 'A=1' })
  const fields = await sent(preview.text, path)
  const other = await ada.form(path, { ...fields, text: 'B=2' })
  expect([other.status, other.text.includes('Check the changes again')]).toEqual([200, true])
  await ada.post(path, { key: 'NEW', value: '1' })
  const before = stored()
  expect((await ada.form(path, fields)).status).toBe(200)
  expect(stored()).toEqual(before)
})

test('a line that can’t be read is named, and the text is kept', async () => {
  const { ada, path, stored } = await start()
  const before = stored()
  const text = 'A=1\n# a comment\nB=2\n\nno pair'
  const { status, text: html } = await ada.form(path, { _method: 'PUT', text })
  expect(status).toBe(422)
  expect(html).toContain('Line 5 isn’t KEY=value.')
  expect(html).not.toContain('Variables Line 5')
  expect(html).toContain('no pair')
  const nothing = await ada.form(path, { _method: 'PUT', text: `NEW=${kept}` })
  expect([nothing.status, nothing.text.includes('NEW has none yet')]).toEqual([422, true])
  const port = { _method: 'PUT', text: 'PORT=http' }
  const preview = await ada.form(path, port)
  const refused = await ada.form(path, { ...(await sent(preview.text, path)), ...port })
  expect([refused.status, refused.text.includes('PORT must be')]).toEqual([422, true])
  expect(stored()).toEqual(before)
})

test('a program sets them at once, all or none, and never by leaving the text out', async () => {
  const { ada, path, stored } = await start()
  const before = stored()
  expect((await ada.put(path, {})).status).toBe(422)
  expect((await ada.put(path, { text: 'A=1\nB' })).status).toBe(422)
  expect(stored()).toEqual(before)
  const { status, json } = await ada.put(path, { text: `API_TOKEN=${kept}\nA="x y"` })
  expect([status, json.items.map(({ key }: { key: string }) => key)]).toEqual([
    200,
    ['A', 'API_TOKEN'],
  ])
  expect((await ada.put(path, { text: '' })).json.items).toEqual([])
})

test('a form that doesn’t say whether a value is secret leaves it to the name, a program says no', async () => {
  const { ada, path, stored } = await start()
  await ada.form(path, { key: 'SMTP_PASSWORD', value: '1' })
  await ada.form(path, { key: 'MAIL_TOKEN', value: '1', secret: '0' })
  await ada.post(path, { key: 'OTHER_SECRET', value: '1' })
  const marks = Object.fromEntries(stored().map(([key, , secret]) => [key, secret]))
  expect(marks).toMatchObject({ SMTP_PASSWORD: true, MAIL_TOKEN: false, OTHER_SECRET: false })
})

test('it is no one else’s', async () => {
  const { t, path } = await start()
  const bob = t.logIn('bob@example.com')
  expect((await bob.get(`${path}/text`)).status).toBe(404)
  expect((await bob.put(path, { text: 'A=1' })).status).toBe(404)
})

test('every value is read as it was written', () => {
  const odd = [
    '',
    ' x ',
    "it's",
    '"q"',
    'a #b',
    '#x',
    'a\nb',
    'a\'\n"b\\',
    'x\\n',
    'a\r\nb',
    '`t`',
    '$A\\$B',
    '\\',
    'a \nb',
    'a\t\r\nb',
    ' \n ',
    'a\u2028b',
    "'\u2029 #\n",
  ]
  for (const value of odd) {
    const text = textOf([{ key: 'KEY', value } as never])
    expect([text, parseDotenv(text).get('KEY')]).toEqual([text, value])
  }
})
