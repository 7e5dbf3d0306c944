import { expect, test } from 'bun:test'
import { updateUser } from '../../src/accounts/store.ts'
import { isAutomatic } from '../../src/addresses/host-ports.ts'
import { getService } from '../../src/services/store.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import { answerOf, idle, leftOf, made, settled, site } from './instances.ts'

/** Counts its starts in a volume, and serves what it was given. */
const kept = `
services:
  web:
    image: busybox
    command: [sh, -c, 'test "$$MODE" != broken && mkdir -p /www && echo x >> /data/starts && echo "$$MODE $$(wc -l < /data/starts) $$SECRET_KEY" > /www/index.html && exec httpd -f -p 80 -h /www']
    environment:
      MODE: \${MODE:-first}
      SECRET_KEY: \${SECRET_KEY}
    volumes: [data:/data]
    ports: ["80"]
    stop_grace_period: 1s
volumes: { data: {} }
`

const health = `    healthcheck: { test: [CMD, wget, -q, -O, /dev/null, 'http://127.0.0.1/'], interval: 200ms }`

test('a change of variables recreates the containers and keeps the volumes', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, kept, { SECRET_KEY: 'a-first-secret' })
  expect(await answerOf(service)).toBe('first 1 a-first-secret')

  const preview = await ada.put(`/services/${service.id}`, {
    preview: true,
    MODE: 'second',
    SECRET_KEY: 'a-second-secret',
  })
  expect(preview.status).toBe(200)
  expect(preview.json).toEqual({
    changes: [
      { field: 'MODE', label: 'MODE', from: 'first', to: 'second', secret: false },
      { field: 'SECRET_KEY', label: 'SECRET_KEY', from: null, to: null, secret: true },
    ],
    remakes: true,
    volumes: [`davit-${service.id}-data`],
  })
  expect(await answerOf(service)).toBe('first 1 a-first-secret')

  const changed = await ada.put(`/services/${service.id}`, { MODE: 'second' })
  expect(changed.json).toMatchObject({ status: 'running', url: service.url, error: null })
  expect(changed.json.containers[0].id).not.toBe(service.containers[0].id)
  expect(await answerOf(service)).toBe('second 2 a-first-secret')
})

/** A server that reads A at its first start only, and B as well, which can be set in it. */
const once = `
x-davit:
  name: Once
  version: '1'
  variables: { A: { default: a }, B: { default: b, secret: true }, C: { default: c }, SHELL: { default: sh } }
  first_start:
    A: { how: Make another one. }
    B: { service: one, run: [sh, -c, 'test "$C" != fails && echo "$OLD_VALUE>$NEW_VALUE" >> /data/b'] }
services:
  one:
    image: busybox
    init: true
    command: ['\${SHELL}', -c, 'sleep 999']
    environment: { A: '\${A}', B: '\${B}', C: '\${C}' }
    volumes: [data:/data]
    stop_grace_period: 1s
volumes: { data: {} }
`

test('what counts at the first start only is changed in the server, or refused', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, once)
  const path = `/services/${service.id}`
  const change = async (values: Record<string, string>) => {
    await ada.put(path, values)
    return settled(t, ada, service)
  }
  const written = async () => {
    const { containers } = (await ada.get(path)).json
    const command = ['cat', '/data/b']
    return (await t.docker.runInContainer(containers[0].id, { command })).output.trim().split('\n')
  }

  for (const body of [{ A: 'other' }, { A: 'other', preview: true }]) {
    const refused = await ada.put(path, body)
    expect(refused.status).toBe(422)
    expect(refused.json.errors).toMatchObject([{ field: 'A' }])
    expect(refused.json.detail).toContain('Make another one.')
  }
  expect(await change({ B: 'second', C: 'd' })).toMatchObject({ status: 'running', error: null })
  expect(await written()).toEqual(['b>second'])
  expect(await change({ C: 'c' })).toMatchObject({ error: null })
  expect(await written()).toEqual(['b>second'])

  // what the server refuses is no change, and is undone
  expect((await change({ B: 'third', C: 'fails' })).error).toMatchObject({
    code: 'first_start_value',
    message: expect.stringContaining('The change was undone.'),
  })
  expect(await written()).toEqual(['b>second', 'third>second'])

  // of a value that the file has from now on, the server has none yet
  const compose = once.replace(/\bA\b/g, 'OTHER')
  expect((await ada.put(path, { compose, preview: true })).status).toBe(200)

  // a stopped one could not be put back
  await ada.post(`${path}/stop`)
  await settled(t, ada, service)
  const refused = await ada.put(path, { B: 'third' })
  expect([refused.status, refused.json.errors[0].field]).toEqual([409, 'B'])
  expect((await ada.put(path, { C: 'c', preview: true })).status).toBe(200)
})

test('of a server that never started, every value can be changed', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, once, { SHELL: 'none' })
  expect(service.status).toBe('failed')
  const { status } = await ada.put(`/services/${service.id}`, {
    ...{ A: 'other', B: 'second', SHELL: 'sh' },
  })
  expect(status).toBe(200)
  expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
})

test('a secret that was changed stays masked in what the containers before wrote', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, kept, { SECRET_KEY: 'a-first-secret' })
  const before = Date.now()
  await ada.put(`/services/${service.id}`, { SECRET_KEY: 'a-second-secret' })
  const { mask } = await t.masks.of(service.id)
  const line = 'a-first-secret, then a-second-secret'
  expect(mask(line, { since: before })).toBe('***, then ***')
  expect(mask(line, { since: Date.now() + 60_000 })).toBe('a-first-secret, then ***')
})

test('a change that does not come up is undone, and says why', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, kept.replace('    ports', `${health}\n    ports`))
  const { status, json: after } = await ada.put(`/services/${service.id}`, { MODE: 'broken' })
  expect(status).toBe(200)
  expect(after.status).toBe('running')
  expect(after.error).toMatchObject({
    code: 'exited',
    message: expect.stringMatching(/^The change was undone\. Start failed: web exited/),
  })
  expect(after.containers).toMatchObject([{ id: service.containers[0].id, state: 'running' }])
  expect(await answerOf(service)).toStartWith('first 2')
  const { values } = (await ada.get(`/services/${service.id}/edit`)).json
  expect(values.MODE).toBe('first')
})

test('a restart publishes a service where its owner may publish by now', async () => {
  const t = testApp({ DAVIT_PUBLISH_ADDRESS: '0.0.0.0' })
  const root = t.logInAsAdmin()
  t.logInAsAdmin('other@example.com')
  const service = await made(t, root, site)
  const addresses = async ({ id }: { id: string }) =>
    (await t.docker.inspectContainer(id))!.hostAddresses
  expect(await addresses(service.containers[0])).toEqual(['0.0.0.0'])

  updateUser(t.db, getService(t.db, service.id)!.ownerId, { role: 'member' })
  await root.post(`/services/${service.id}/stop`)
  await t.jobs.idle()
  await root.post(`/services/${service.id}/restart`)
  const restarted = await settled(t, root, service)
  expect(restarted.status).toBe('running')
  expect(await addresses(restarted.containers[0])).toEqual(['127.0.0.2'])
  expect((await fetch(restarted.url)).ok).toBe(true)
})

test('a name changes without a restart, and a taken one is refused', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, site)
  const renamed = await ada.put(`/services/${service.id}`, { name: 'renamed' })
  expect(renamed.json).toMatchObject({ name: 'renamed', status: 'running' })
  expect(renamed.json.containers[0].id).toBe(service.containers[0].id)
  const restarted = await ada.post(`/services/${service.id}/restart`)
  expect(restarted.json.containers[0].id).toBe(service.containers[0].id)

  await made(t, ada, `services: {a: {${idle}}}`, { name: 'other' })
  const refused = await ada.put(`/services/${service.id}`, { name: 'other', GREETING: 'x' })
  expect(refused.status).toBe(409)
  expect(refused.json.errors[0].field).toBe('name')
  expect((await settled(t, ada, service)).containers[0].id).toBe(service.containers[0].id)
})

test('a change is refused where the service was changed while it was read', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  const variables = Array.from({ length: 60 }, (_, n) => `      K${n}: v\n`).join('')
  const long = Array.from(
    { length: 45 },
    (_, n) => `  s${n}:\n    image: busybox\n    environment:\n${variables}`,
  )
  const compose = `services:\n${long.join('')}`
  const slow = ada.put(`/services/${service.id}`, { compose })
  expect((await ada.put(`/services/${service.id}`, { name: 'quick' })).status).toBe(200)
  const { status, json } = await slow
  expect(status).toBe(409)
  expect(json.detail).toContain('was changed meanwhile')
  expect(getService(t.db, service.id)).toMatchObject({ name: 'quick' })
})

test('another port of the host is taken, and one that is in use is refused', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, site)
  using other = Bun.listen({ hostname: t.config.publishAddress, port: 0, socket: { data() {} } })
  const refused = await ada.put(`/services/${service.id}`, { hostPort: other.port })
  expect(refused.status).toBe(409)
  expect(refused.json.errors[0].field).toBe('hostPort')
  const hostPort = service.ports[0].host === 20_001 ? 20_002 : 20_001
  const moved = await ada.put(`/services/${service.id}`, { hostPort })
  expect(moved.json.url).toBe(`http://127.0.0.2:${hostPort}`)
  expect(await answerOf(moved.json)).toBe('hello')
})

test('null takes a port of the host away that was chosen, and only that', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, site)
  const path = `/services/${service.id}`
  const portAfter = async (change: Record<string, unknown>) => {
    expect((await ada.put(path, change)).status).toBe(200)
    return (await settled(t, ada, service)).ports[0].host
  }
  expect(await portAfter({ hostPort: null })).toBe(service.ports[0].host)
  const [own, ofFile] = [freePort(), freePort()]
  expect(await portAfter({ hostPort: own })).toBe(own)
  expect(await portAfter({ name: 'other' })).toBe(own)
  const free = await portAfter({ hostPort: null })
  expect(isAutomatic(free)).toBe(true)
  const inFile = { compose: site.replace('"80"', `"${ofFile}:80"`) }
  expect(await portAfter(inFile)).toBe(free)
  expect(await portAfter({ hostPort: null })).toBe(ofFile)
})

test('what was generated stays through every change, restart and new start', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `
x-davit:
  name: Vault
  version: latest
  variables:
    KEY: { generate: hex, length: 32, secret: true }
    MODE: { default: a }
  connection: [{ label: Key, value: 'key:\${KEY}' }, { label: Mode, value: '\${MODE}' }]
services:
  v: { ${idle}, environment: { KEY: '\${KEY}', MODE: '\${MODE}' } }
`
  const service = await made(t, ada, compose)
  const secretOf = async () =>
    (await ada.get(`/services/${service.id}/secrets`)).json.connection[0].value as string
  const first = await secretOf()
  expect(first).toMatch(/^key:[0-9a-f]{32}$/)
  await ada.put(`/services/${service.id}`, { MODE: 'b', KEY: '' })
  await t.jobs.idle()
  await ada.post(`/services/${service.id}/restart`)
  await t.jobs.idle()
  for (const container of await t.docker.listContainers({
    labels: [`davit.service=${service.id}`],
  }))
    await t.docker.removeContainer(container.id, { force: true })
  await ada.post(`/services/${service.id}/restart`)
  await t.jobs.idle()
  expect(await secretOf()).toBe(first)
})

test('a secret that is left empty in the form stays, however its name is written', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `services: {a: {${idle}, environment: {A: "\${DB_PASSWORD}", B: "\${db_password}"}}}`
  const secrets = { DB_PASSWORD: 'one of my secrets', db_password: 'another of them' }
  const service = await made(t, ada, compose, secrets)
  const form = { name: 'thing', preview: '1', DB_PASSWORD: '', db_password: '' }
  const { text } = await ada.htmx('PUT', `/services/${service.id}`, form)
  expect(text).toContain('Nothing changes')
})

test('a version is chosen for the image that carries the template’s, and no other', async () => {
  const { t, ada } = withAda(testApp())
  const template = `
x-davit: { name: Two, version: latest }
services:
  main: { image: 'busybox:latest', command: [sleep, '999'], init: true, stop_grace_period: 1s, volumes: ['data:/data'] }
volumes: { data: {} }
`
  const service = await made(t, ada, template)
  expect(service).toMatchObject({ version: 'latest', status: 'running' })
  await ada.put(`/services/${service.id}`, { version: 'no-such-tag' })
  const after = await settled(t, ada, service)
  expect(after).toMatchObject({ version: 'latest', status: 'running' })
  expect(after.error.message).toStartWith('The change was undone.')
  expect((await leftOf(t, service)).volumes).toEqual([`davit-${service.id}-data`])
})
