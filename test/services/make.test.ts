import { describe, expect, test } from 'bun:test'
import { simulatedApp, withAda } from '../support/app.ts'
import { contentsOf } from '../support/refusals.ts'
import { idle, made, settled, site } from './instances.ts'

const one = `services: {a: {${idle}}}`

describe('before anything is stored, it is refused', () => {
  const compose = '/services/compose'
  const file = (a: string) => ({ compose: `services: {a: {${a}}}` })
  test.each([
    ['an unknown template', '/services/nothing', {}, 404, null],
    ['an unknown template by field', '/services', { template: 'nothing' }, 404, null],
    ['no template at all', '/services/deploy', {}, 422, 'template'],
    ['a name that looks like an id', `/services/${crypto.randomUUID()}`, {}, 404, null],
    ['no name', '/services/redis', { name: '' }, 422, 'name'],
    [
      'a value against its pattern',
      '/services/postgresql',
      { POSTGRES_USER: 'A-B' },
      422,
      'POSTGRES_USER',
    ],
    ['an unknown variable', '/services/redis', { REDIS_PASSWROD: 'x' }, 422, 'REDIS_PASSWROD'],
    [
      'a value that is no text',
      '/services/redis',
      { REDIS_PASSWORD: ['x'] },
      422,
      'REDIS_PASSWORD',
    ],
    ['a version that is no tag', '/services/redis', { version: 'a b' }, 422, 'version'],
    ['a port of the system', '/services/redis', { hostPort: 80 }, 422, 'hostPort'],
    [
      'a port where none is published',
      compose,
      { compose: one, hostPort: 20_123 },
      422,
      'hostPort',
    ],
    ['no file', compose, {}, 422, 'compose'],
    ['a file that is no YAML', compose, { compose: 'services: [' }, 422, 'compose'],
    ['a key that isn’t supported', compose, file('image: b, runtime: own'), 422, 'compose'],
    ['a .env that is none', compose, { compose: one, env: 'no pair' }, 422, 'env'],
    ['a required variable', compose, file('image: "${TAG:?}"'), 422, 'TAG'],
    ['an image of this host’s network', compose, file('image: 10.0.0.5:5000/x'), 422, 'compose'],
    ['an image of localhost', compose, file('image: localhost/x'), 422, 'compose'],
    ['a version of a file without one', compose, { compose: one, version: '1' }, 422, 'version'],
    ['a variable named as a field', compose, file('image: "b:${version}"'), 422, 'compose'],
    ['privileges', compose, file('image: b, privileged: true'), 403, null],
    ['a host path', compose, file('image: b, volumes: ["/etc:/etc"]'), 403, null],
    [
      'the engine’s socket',
      compose,
      file('image: b, volumes: ["/var/run/docker.sock:/s"]'),
      403,
      null,
    ],
    [
      'services that wait for each other',
      compose,
      file('image: x, depends_on: [b]}, b: {image: x, depends_on: [a]'),
      422,
      null,
    ],
  ] as const)('%s', async (_, path, fields, status, field) => {
    const { t, ada } = withAda(simulatedApp())
    const before = contentsOf(t)
    const { json, text } = await ada.post(path, { name: 'thing', ...fields })
    expect(json.status, text).toBe(status)
    expect(json.detail).toMatch(/\.$/)
    if (field) expect(json.errors.map((e: { field: string }) => e.field)).toEqual([field])
    expect(contentsOf(t)).toEqual(before)
  })
})

test('a name and a port that are taken are refused', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, site, { name: 'site' })
  const sameName = await ada.post('/services/compose', { name: 'site', compose: one })
  expect(sameName.status).toBe(409)
  expect(sameName.json.errors[0].field).toBe('name')
  const hostPort = service.ports[0].host
  const bob = t.logIn('bob@example.com')
  const samePort = await bob.post('/services/compose', { name: 'site', compose: site, hostPort })
  expect(samePort.status).toBe(409)
  expect(samePort.json.errors[0].field).toBe('hostPort')
  const inFile = await bob.post('/services/compose', {
    name: 'site',
    compose: site.replace('"80"', `"${hostPort}:80"`),
  })
  expect(inFile.status).toBe(409)
})

test('an admin allows each danger by itself, and no one else can', async () => {
  const t = simulatedApp()
  const compose = `services: {a: {${idle}, volumes: ["/etc/hostname:/host:ro"], cap_add: [SYS_ADMIN]}}`
  const ada = t.logIn('ada@example.com')
  const { dangers } = (await ada.post('/services/compose/configure', { compose })).json
  const allowed = dangers.map(({ key }: { key: string }) => key)
  expect(allowed).toHaveLength(2)
  const body = { name: 'strong', compose, allowed }
  expect((await ada.post('/services/compose', body)).status).toBe(403)
  const root = t.logInAsAdmin()
  const one = { ...body, allowed: [allowed[0]] }
  expect((await root.post('/services/compose', one)).status).toBe(403)
  const service = await root.post('/services/compose', body)
  expect(service.status).toBe(201)
  expect(await settled(t, root, service.json)).toMatchObject({ status: 'running' })
})

test('values come from the form, from the .env, and from the file, in this order', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `
services:
  web:
    image: busybox
    init: true
    stop_grace_period: 1s
    command: [sleep, '999']
    env_file: .env
    environment: { A: '\${A:-file}', B: '\${B:-file}', C: '\${C:-file}', P: '\${P}', COPY: '\${URL}' }
    `
  const env = "A=env\nB=env\nONLY_IN_ENV=yes\nURL=pg://${A}:${P}@${HOST_}\nHOST_=db\nQ='${A}'"
  const service = await made(t, ada, compose, { env, A: 'form', P: 'a$b' })
  expect(service).toMatchObject({ status: 'running', error: null })
  const container = await t.docker.inspectContainer(service.containers[0].id)
  for (const pair of ['A=form', 'B=env', 'C=file', 'ONLY_IN_ENV=yes', 'Q=${A}'])
    expect(container!.env).toContain(pair)
  // HOST_ stands below, so it is empty, as Compose has it
  for (const pair of ['URL=pg://form:a$b@', 'COPY=pg://form:a$b@'])
    expect(container!.env).toContain(pair)
  const note = '.env: URL takes the value of HOST_, which has none'
  const shown = await ada.post('/services/compose/configure', { compose, env })
  expect(shown.json.notes.join()).toContain(note)
  const form = await ada.htmx('POST', '/services/compose/configure', { compose, env })
  expect(form.text).toContain(note)
})

test('a line that its .env has no more gives no value any more, unless the form shows that', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `services: {web: {${idle}, environment: {A: "\${A:-file}", B: "\${B:-file}", P_KEY: "\${P_KEY:-file}", F: "\${F:-file}"}}}`
  const env = 'A=env\nB=${A}\nP_KEY=env\nF'
  const service = await made(t, ada, compose, { env, F: 'field' })
  const valuesOf = async () => {
    const { containers } = await settled(t, ada, service)
    const { env } = (await t.docker.inspectContainer(containers[0].id))!
    return env.filter((pair) => /^(A|B|P_KEY|F)=/.test(pair)).sort()
  }
  expect(await valuesOf()).toEqual(['A=env', 'B=env', 'F=field', 'P_KEY=env'])
  const form = { name: 'thing', env: 'B=line\nF', A: 'env', P_KEY: '', F: 'field' }
  await ada.form(`/services/${service.id}`, { _method: 'PUT', ...form })
  expect(await valuesOf()).toEqual(['A=env', 'B=line', 'F=field', 'P_KEY=env'])
  await ada.put(`/services/${service.id}`, { env: 'A=line\nB=line' })
  await ada.put(`/services/${service.id}`, { env: 'B=line' })
  expect(await valuesOf()).toContain('A=file')
  await ada.put(`/services/${service.id}`, { env: null })
  expect(await valuesOf()).toContain('B=file')
})

test('an instance of a template keeps its file: the catalogue may change', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { status, json, headers } = await ada.post('/services/redis', { name: 'cache' })
  expect(status).toBe(201)
  expect(headers.get('Location')).toBe(`/services/${json.id}`)
  expect(json).toMatchObject({ template: 'redis', name: 'cache', status: 'pulling' })
  const stored = t.db.$client.query('SELECT compose, "values" FROM services').get() as {
    compose: string
    values: string
  }
  expect(stored.compose).toContain('name: Redis')
  expect(stored.values).not.toContain('REDIS')
  await ada.delete(`/services/${json.id}`)
})
