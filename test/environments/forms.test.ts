import { expect, test } from 'bun:test'
import { environmentForm, environmentUpdateForm } from '../../src/environments/forms.ts'
import { testApp, withAda } from '../support/app.ts'
import { endless, hostileBranches } from '../support/hostile.ts'
import { contentsOf, expectRefusals } from '../support/refusals.ts'

async function aProject(env: Record<string, string> = {}) {
  const { t, ada } = withAda(testApp(env, { config: { watchSeconds: 90 } }))
  const values = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }
  const project = (await ada.post('/projects', values)).json
  const path = `/projects/${project.id}/envs`
  const environment = (await ada.get(path)).json.items[0]
  return { t, ada, path, environment }
}

const wrong = {
  name: [
    '',
    ' ',
    'Production',
    'a b',
    '-a',
    'a-',
    'a_b',
    'ä',
    '../x',
    '$(id)',
    'n'.repeat(41),
    endless,
    7,
    [],
    null,
  ],
  // signs of a pattern
  branch: [7, [], endless, ...hostileBranches.filter((name) => !/^a[?*]$/.test(name))],
  port: ['-1', '65536', '80/tcp', '1.5', 'http', '8080-8090', -1, 65536, 1.5, [], true],
  hostPort: [
    '0',
    '22',
    '80',
    '443',
    '1023',
    '2375',
    '2376',
    '65536',
    '-1',
    '1e4',
    '3000-3010',
    0,
    65536,
    [],
    true,
  ],
  domains: [
    'http://a.example.com',
    'a',
    'a b.example.com',
    'a.example.com/x',
    '-a.example.com',
    'a..example.com',
    '$(id).example.com',
    '127.0.0.1',
    'a.example.com:80',
    endless,
    7,
    [7],
    ['a.example.com', ''],
    {},
    Array.from({ length: 51 }, (_, i) => `a${i}.example.com`),
  ],
  healthHost: [
    'a b',
    'http://a',
    'a/b',
    'a:80',
    '[::1]',
    'a\nb',
    'ü.example',
    '-a',
    endless,
    7,
    [],
  ],
  healthPath: [
    'health',
    'http://x/',
    '//x y',
    '/a b',
    '/a#b',
    '/a\u0000',
    `/${'h'.repeat(500)}`,
    endless,
    7,
    [],
  ],
  tags: [
    'v\\*',
    'v[',
    '-v*',
    'v *',
    'v\n*',
    'v***',
    'a*'.repeat(11),
    '?'.repeat(101),
    endless,
    7,
    [],
  ],
  waitForChecks: ['maybe', 'constructor', 7, []],
  promoteFrom: ['x', endless, 7, []],
  promoteAutomatically: ['maybe', 'constructor', 7, [], true],
  healthTimeout: ['0', '3601', '-1', 'soon', 0, 3601, 1.5, []],
  drainSeconds: ['-1', '3601', 'soon', -1, 3601, 1.5, []],
  watchSeconds: ['-1', '3601', 'soon', -1, 3601, 1.5, []],
  rollbackOn: ['crash\nsmoke', 'crash\ncrash', 7, [], [7], ['smoke'], {}],
  memoryMb: ['0', '15', '-512', '512m', 'lots', 15, 1e9, 512.5, [], {}],
  cpus: ['0', '-1', '1,5', 'half', '1e1', 0, 513, [], 'Infinity', 'NaN'],
  autoDeploy: ['maybe', 'constructor', 7, []],
  volumes: [
    '/:/host',
    '/var/run/docker.sock:/s',
    './x:/y',
    '~:/y',
    '..:/y',
    'data',
    'data:relative',
    'data:/',
    'data://x',
    'data:/a:ro',
    'data:/a/../b',
    'Data:/a',
    'data:/a\ncache:/a',
    'data:/a/b\ncache:/a//b/',
    `${'v'.repeat(64)}:/a`,
    'data:/a\u0000b',
    endless,
    7,
    [7],
    {},
    Array.from({ length: 21 }, (_, i) => `v${i}:/v${i}`),
  ],
}

const shown = {
  notShown: ['rollbackOn', 'autoDeploy', 'waitForChecks', 'promoteFrom', 'promoteAutomatically'],
}

test('a new environment with a wrong field is refused by its name', async () => {
  const { t, ada, path } = await aProject()
  await expectRefusals(t, ada, {
    method: 'POST',
    path,
    valid: { name: 'staging' },
    wrong,
    schema: environmentForm,
    ...shown,
  })
})

test('an environment is not changed by a wrong field', async () => {
  const { t, ada, path, environment } = await aProject()
  await expectRefusals(t, ada, {
    method: 'PUT',
    path: `${path}/${environment.id}`,
    valid: {},
    wrong,
    schema: environmentUpdateForm,
    ...shown,
  })
})

test('a change touches only the fields that were sent, and null goes back to the default', async () => {
  const { ada, path } = await aProject()
  const set = {
    name: 'staging',
    branch: 'release/*',
    tags: 'v[0-9]*',
    port: 8080,
    hostPort: 28_123,
    domains: ['a.example.com', 'b.example.com'],
    healthPath: '/health?deep=1',
    healthHost: 'my_app.internal',
    healthTimeout: 5,
    drainSeconds: 0,
    watchSeconds: 0,
    rollbackOn: ['errors'],
    memoryMb: 64,
    cpus: 0.5,
    autoDeploy: false,
    volumes: ['data:/var/lib/app', 'cache:/cache'],
    processes: [
      { name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null },
      { name: 'worker', command: ['node', 'a b'], replicas: 3, memoryMb: 128, cpus: 0.25 },
    ],
    releaseCommand: 'npm run migrate',
    releaseTimeout: 60,
  }
  const made = await ada.post(path, set)
  expect(made.json).toMatchObject(set)
  const one = `${path}/${made.json.id}`
  expect((await ada.put(one, { memoryMb: 128 })).json).toMatchObject({ ...set, memoryMb: 128 })
  expect((await ada.put(one, {})).json).toMatchObject({ ...set, memoryMb: 128 })
  const asForm = (fields: Record<string, string>) =>
    ada
      .send(one, {
        method: 'PUT',
        body: new URLSearchParams(fields),
        headers: { Accept: 'application/json' },
      })
      .then((answer) => answer.json())
  expect(await asForm({ cpus: '2', volumes: 'data:/srv\r\n\r\n  cache:/cache  ' })).toMatchObject({
    ...set,
    memoryMb: 128,
    cpus: 2,
    volumes: ['data:/srv', 'cache:/cache'],
  })

  const { name, hostPort, ...rest } = set
  const defaults = {
    branch: null,
    tags: null,
    waitForChecks: false,
    promoteFrom: null,
    promoteAutomatically: false,
    port: null,
    domains: [],
    healthPath: null,
    healthHost: null,
    healthTimeout: 60,
    drainSeconds: 30,
    watchSeconds: 90, // the server’s
    rollbackOn: ['crash', 'health'],
    memoryMb: 512,
    cpus: 1,
    autoDeploy: null,
    volumes: [],
    processes: [{ name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null }],
    releaseCommand: null,
    releaseTimeout: 600,
  }
  const nulls = Object.fromEntries(Object.keys(rest).map((field) => [field, null]))
  expect((await ada.put(one, nulls)).json).toMatchObject({ name, hostPort, ...defaults })
  await ada.put(one, rest)
  const empty = Object.fromEntries(Object.keys(rest).map((field) => [snakeCase(field), '']))
  expect(await asForm(empty)).toMatchObject({ name, hostPort, ...defaults })
  expect((await ada.put(one, { hostPort: null })).json.hostPort).not.toBe(hostPort)
})

test('a port of Davit, or of its Caddy, is refused although nothing listens there yet', async () => {
  const ports = { DAVIT_EDGE: 'caddy', DAVIT_EDGE_PORTS: '28080,28443' }
  const { t, ada, path } = await aProject(ports)
  for (const hostPort of [t.config.port, 28_080, 28_443]) {
    const answer = await ada.post(path, { name: 'staging', hostPort })
    expect(answer.status).toBe(409)
    expect(answer.json.detail).toContain('Davit itself')
  }
  const without = await aProject({ ...ports, DAVIT_EDGE: 'direct' })
  expect((await without.ada.post(without.path, { name: 'staging', hostPort: 28_080 })).status).toBe(
    201,
  )
})

test('a port that is in use is refused, with whose it is', async () => {
  const { t, ada, path, environment } = await aProject()
  using listener = Bun.listen({ hostname: t.config.publishAddress, port: 0, socket: { data() {} } })
  const before = contentsOf(t)
  const messages = []
  for (const hostPort of [listener.port, t.config.port, environment.hostPort]) {
    const answer = await ada.post(path, { name: 'staging', hostPort })
    expect(answer.status).toBe(409)
    expect(answer.json.errors[0].field).toBe('hostPort')
    messages.push(answer.json.detail)
  }
  expect(messages[0]).toContain('listens on port')
  expect(messages[2]).toContain('belongs to another environment')
  expect(contentsOf(t)).toEqual(before)
  const drawn = await ada.htmx('POST', path, { name: 'staging', host_port: String(listener.port) })
  expect(drawn.status).toBe(409)
  expect(drawn.text).toContain('id="field-host_port-error"')
  const kept = { hostPort: environment.hostPort }
  expect((await ada.put(`${path}/${environment.id}`, kept)).status).toBe(200)
})

test('two environments of a project can’t share a name', async () => {
  const { ada, path, environment } = await aProject()
  const answer = await ada.post(path, { name: environment.name })
  expect(answer.status).toBe(409)
  expect(answer.json.errors[0].field).toBe('name')
})

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
