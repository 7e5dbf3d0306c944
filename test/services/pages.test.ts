import { expect, test } from 'bun:test'
import { getService } from '../../src/services/store.ts'
import { definitionOf } from '../../src/services/stored-definition.ts'
import { formsOf } from '../forms/page-forms.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { idle, made, settled } from './instances.ts'

const vault = `
x-davit:
  name: Vault
  version: latest
  variables:
    PASSWORD: { generate: password, secret: true, label: The password }
    OWN_TOKEN: { secret: true, default: '' }
    USER: { default: ada }
  connection:
    - { label: URL, value: 'vault://\${USER}:\${PASSWORD}@v:1' }
    - { label: User, value: '\${USER}' }
  after: Log in at once.
services:
  v: { ${idle}, environment: { P: '\${PASSWORD}', T: '\${OWN_TOKEN}', U: '\${USER}' } }
`

test('no page, fragment or JSON has a secret but the one that is asked for it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const token = 'an own token of 30 characters.'
  const service = await made(t, ada, vault, { OWN_TOKEN: token })
  const path = `/services/${service.id}`
  const shown = await ada.get(`${path}/secrets`)
  expect(shown.headers.get('Cache-Control')).toBe('no-store, no-transform')
  const [{ value }] = shown.json.connection
  const password = /^vault:\/\/ada:(\w{32})@v:1$/.exec(value)![1]!
  expect(shown.text).toContain(token)

  const events = await ada.send(`${path}/events?format=json`)
  const reader = events.body!.getReader()
  const first = new TextDecoder().decode((await reader.read()).value)
  await reader.cancel()
  const answers = [
    first,
    ...(
      await Promise.all([
        ada.page(path),
        ada.get(path),
        ada.htmx('GET', path),
        ada.page('/services'),
        ada.get('/services'),
        ada.page(`${path}/edit`),
        ada.get(`${path}/edit`),
        ada.get(`${path}/delete`),
        ada.put(path, { preview: true, PASSWORD: 'another-one-that-is-long' }),
        ada.htmx('PUT', path, { preview: '1', PASSWORD: 'another-one-that-is-long' }),
        ada.page(`/containers/${service.containers[0].id}`),
      ])
    ).map(({ text }) => text),
  ]
  for (const text of answers)
    for (const secret of [password, token, 'another-one-that-is-long'])
      expect(text).not.toContain(secret)
  expect((await ada.page(path)).text).toContain('Log in at once.')
})

test('showing secrets is recorded, and needs a token that may change them', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, vault)
  const asToken = async (scope: string) => {
    const { json } = await ada.post('/settings/tokens', { name: scope, scopes: [scope] })
    const headers = { Authorization: `Bearer ${json.token}` }
    return (await t.app.request(`/services/${service.id}/secrets`, { headers })).status
  }
  const events = () =>
    t.db.$client.query("SELECT * FROM audit_events WHERE action = 'service.secrets_shown'").all()
  expect(await asToken('read')).toBe(403)
  expect(await asToken('deploy')).toBe(403)
  expect(events()).toHaveLength(0)
  expect(await asToken('write')).toBe(200)
  expect(events()).toHaveLength(1)
})

test('the form is drawn again with what was typed, but not with a secret', async () => {
  const { ada } = withAda(simulatedApp())
  const again = await ada.form('/services/postgresql', {
    name: 'my database',
    POSTGRES_USER: 'Not Good',
    POSTGRES_PASSWORD: 'a_password_typed_here',
  })
  expect(again.status).toBe(422)
  expect(again.text).toContain('id="field-POSTGRES_USER-error"')
  expect(again.text).toContain('Not Good')
  expect(again.text).toContain('my database')
  expect(again.text).not.toContain('a_password_typed_here')
})

test('a secret of a refused form is asked for again, lest another one is made or the former one stays', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, vault)
  const complained = ({ text }: { text: string }) =>
    [...text.matchAll(/id="field-(\w+)-error"/g)].map(([, name]) => name)
  const secrets = { PASSWORD: 'a_password_typed_here', OWN_TOKEN: '' }
  const path = `/services/${service.id}`
  const asked = { _method: 'PUT', name: '', ...secrets }
  expect(complained(await ada.form(path, asked))).toEqual(['name', 'PASSWORD'])
  const other = { name: '', compose: vault, ...secrets }
  for (const path of ['/services/compose', '/services/compose/configure'])
    expect(complained(await ada.form(path, other))).toContain('PASSWORD')
  const typed = { name: '', POSTGRES_PASSWORD: secrets.PASSWORD }
  expect(complained(await ada.form('/services/postgresql', typed))).toEqual([
    ...['name', 'POSTGRES_PASSWORD'],
  ])
})

test('a secret choice begins with its default, and stays until another one is made', async () => {
  const { t, ada } = withAda(simulatedApp())
  const mode = '{ secret: true, options: [low, mid, high], default: mid }'
  const compose = `
x-davit: { name: Modes, version: latest, variables: { MODE: ${mode} } }
services: { m: { ${idle}, environment: { MODE: '\${MODE}' } } }
`
  const sentBy = async ({ text }: { text: string }, action: string) => {
    const form = (await formsOf(text, '/')).find((one) => one.action === action)!
    return Object.fromEntries(form.fields.map(({ name, value }) => [name, value]))
  }
  const read = await ada.form('/services/compose/configure', { compose })
  expect(await sentBy(read, '/services/compose')).toMatchObject({ MODE: 'mid' })
  const { id } = await made(t, ada, compose, { MODE: 'high' })
  const path = `/services/${id}`
  const fields = await sentBy(await ada.page(`${path}/edit`), path)
  await ada.form(path, { ...fields, name: 'renamed' })
  await t.jobs.idle()
  const { name, values } = await definitionOf(t.deps, getService(t.db, id)!)
  expect([name, values.get('MODE')]).toEqual(['renamed', 'high'])
})

test('a form makes a service as a program does, and leads to its page', async () => {
  const { t, ada } = withAda(simulatedApp())
  const body = new FormData()
  body.set('name', 'uploaded')
  body.set('compose', '')
  body.set('env', '')
  body.set('GREETING', 'from the form')
  const text = `services: {a: {${idle}, environment: {GREETING: "\${GREETING}"}}}`
  body.set('compose_file', new File([text], 'compose.yaml'))
  const made = await ada.send('/services/compose', {
    method: 'POST',
    body,
    headers: { Accept: 'text/html' },
  })
  expect(made.status).toBe(303)
  const path = made.headers.get('Location')!
  expect(path).toMatch(/^\/services\/[0-9a-f-]{36}$/)
  const service = await settled(t, ada, { id: path.split('/')[2]! })
  expect(service).toMatchObject({ name: 'uploaded', status: 'running' })
  expect((await ada.get(`${path}/edit`)).json.values).toEqual({ GREETING: 'from the form' })

  const restarted = await ada.form(`${path}/restart`, {})
  expect(restarted.status).toBe(303)
  await t.jobs.idle()
  const deleted = await ada.htmx('DELETE', path)
  expect(deleted.text).toContain('was deleted')
})

test('a file is read before it is used, and a complaint keeps it', async () => {
  const { ada } = withAda(simulatedApp())
  const compose = 'services: {a: {image: "busybox:${TAG:?}", privileged: true, ports: ["80"]}}'
  const fragment = await ada.htmx('POST', '/services/compose/configure', { compose })
  expect(fragment.text).toContain('name="TAG"')
  expect(fragment.text).toContain('root on this server')
  expect(fragment.text).not.toContain('<textarea name="compose"')
  const again = await ada.form('/services/compose', { name: 'x', compose, TAG: '' })
  expect(again.status).toBe(422)
  expect(again.text).toContain('busybox:${TAG:?}')
  expect(again.text).toContain('id="field-TAG-error"')
})

test('what is no service is missing, also when it looks like an id', async () => {
  const ada = simulatedApp().logIn('ada@example.com')
  expect((await ada.get(`/services/${'-'.repeat(36)}`)).status).toBe(404)
  expect((await ada.get(`/services/${'a'.repeat(36)}`)).status).toBe(404)
  expect((await ada.get('/services/redis')).status).toBe(405)
  expect((await ada.get(`/services/${'z'.repeat(36)}`)).status).toBe(405)
})
