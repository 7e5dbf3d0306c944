import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'

const stranger = () => {
  const { app } = testApp()
  return async (path: string, Accept = 'text/html', method = 'GET') => {
    const response = await app.request(path, { method, headers: { Accept } })
    return { status: response.status, text: await response.text() }
  }
}

test('the documentation can be read without a login, and with one in the frame of all pages', async () => {
  const ask = stranger()
  const { status, text } = await ask('/docs')
  expect(status).toBe(200)
  expect(text).toContain('<title>Documentation · Davit</title>')
  expect(text).toContain('href="/docs/security"')
  const page = await testApp().logIn('ada@example.com').page('/docs/security')
  expect(page.text).toContain('<h1><bdi>Security model</bdi></h1>')
  expect(page.text).toContain('aria-label="Main"')
  expect((await ask('/docs/security', 'text/html', 'HEAD')).text).toBe('')
})

test('links between documents and to files beside them work on the page, too', async () => {
  const { text } = await stranger()('/docs/api')
  expect(text).toContain('<h2 id="environments">Environments')
  const [, file] = /href="(\/static\/docs\/app-with-database\.mjs\?[^"]+)"/.exec(text)!
  expect((await stranger()(file!)).status).toBe(200)
})

test('a program gets the list of documents, and each as Markdown', async () => {
  const ask = async (path: string) => JSON.parse((await stranger()(path, 'application/json')).text)
  const { items } = await ask('/docs')
  expect(items).toContainEqual(
    expect.objectContaining({ name: 'limits', heading: null, url: '/docs/limits' }),
  )
  const { title, text, headings } = await ask('/docs/security')
  expect(title).toBe('Security model')
  expect(text.slice(0, 17)).toBe('# Security model\n')
  expect(headings).toContainEqual({ id: 'builds', level: 2, title: 'Builds' })
})

test('a search finds the sections that have all words, wherever the words stand', async () => {
  const { text } = await stranger()('/docs?q=LAST-event-id+stream')
  expect(text).toContain('href="/docs/api#streams"')
  expect(text).toContain('<mark>Last-Event-ID</mark>')
  expect(text).toContain('value="LAST-event-id stream"')
  expect((await stranger()('/docs?q=zyzzyva')).text).toContain('Nothing found.')
})

test('what is searched for is text, on the page and among the words', async () => {
  const { status, text } = await stranger()(`/docs?q=${encodeURIComponent('<b>.*( [\\')}`)
  expect(status).toBe(200)
  expect(text).not.toContain('<b>.*')
  expect((await stranger()(`/docs?q=${'x'.repeat(201)}`)).status).toBe(422)
})

test('a document that does not exist is not found, and no file beside them is one', async () => {
  for (const name of [
    'nothing',
    'README',
    'app-with-database.mjs',
    '..%2f..%2fREADME',
    '__proto__',
  ])
    expect((await stranger()(`/docs/${name}`)).status, name).toBe(404)
})

test('the schema of davit.yaml has the names of the file, and refuses others', async () => {
  const { status, text } = await stranger()('/docs/davit.schema.json', 'application/json')
  expect(status).toBe(200)
  const { properties, additionalProperties } = JSON.parse(text)
  expect(additionalProperties).toBe(false)
  expect(Object.keys(properties).toSorted()).toEqual([
    '$schema',
    'build',
    'health_path',
    'health_timeout',
    'port',
    'processes',
    'release_command',
    'schedules',
    'watch_paths',
  ])
  const { items } = properties.processes.anyOf[0]
  expect(Object.keys(items.properties)).toContain('memory_mb')
  expect(JSON.stringify(properties)).not.toMatch(/"[a-z]+[A-Z]\w*":\{"(type|anyOf)"/)
})
