import { expect, test } from 'bun:test'
import type { Process } from '../../src/db/schema.ts'
import { environmentUpdateForm } from '../../src/environments/forms.ts'
import { wordsOf } from '../../src/platform/shell-words.ts'
import { testApp, withAda } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import { endless } from '../support/hostile.ts'
import { expectRefusals } from '../support/refusals.ts'

async function aProject() {
  const { t, ada } = withAda(testApp())
  const values = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }
  const project = (await ada.post('/projects', values)).json
  const path = `/projects/${project.id}/envs`
  const environment = (await ada.get(path)).json.items[0]
  return { t, ada, path, environment }
}

const wrong = {
  processes: [
    'web',
    'npm start',
    ': npm start',
    'Web: npm start',
    'a b: npm start',
    `${'w'.repeat(41)}: x`,
    'worker x0: x',
    'worker x1000: x',
    'worker x-1: x',
    'worker 8MiB: x',
    'worker 0CPU: x',
    'worker 5GB: x',
    'worker 301s: x',
    'worker 1.5s: x',
    'worker 30m: x',
    'worker 30s 30s: x',
    'worker init=no: x',
    "worker: echo 'never closed",
    'worker: echo "never closed',
    'worker: ends in \\',
    'worker: a\nworker: b',
    'release: npm run migrate',
    'run: x',
    'access: x',
    '$(id): x',
    'web: a\u0000b',
    endless,
    7,
    {},
    [],
    [7],
    [null],
    [[]],
    [{}],
    [{ command: 'npm start' }],
    [{ name: '' }],
    [{ name: null }],
    [{ name: '__proto__' }],
    [{ name: 'web' }, { name: 'web' }],
    [{ name: 'web', command: '' }],
    [{ name: 'web', command: [] }],
    [{ name: 'web', command: "it's" }],
    [{ name: 'web', command: 7 }],
    [{ name: 'web', command: [7] }],
    [{ name: 'web', command: endless }],
    [{ name: 'web', replicas: 0 }],
    [{ name: 'web', replicas: 1000 }],
    [{ name: 'web', replicas: 1.5 }],
    [{ name: 'web', replicas: '1' }],
    [{ name: 'web', memoryMb: 8 }],
    [{ name: 'web', cpus: 0 }],
    [{ name: 'web', stopSeconds: 301 }],
    [{ name: 'web', stopSeconds: -1 }],
    [{ name: 'web', stopSeconds: '30' }],
    [{ name: 'web', init: 'no' }],
    [{ name: 'web' }, { name: 'a', replicas: 20 }, { name: 'b', replicas: 10 }],
    Array.from({ length: 21 }, (_, i) => ({ name: `p${i}` })),
  ],
  releaseCommand: ["echo 'never closed", 'a \\', '   ', 'a\u0000b', endless, 7, {}, [], [7], ['']],
  releaseTimeout: ['0', '3601', '-1', 'soon', 0, 3601, 1.5, []],
}

test('processes that can’t run are refused, and shown again as they were typed', async () => {
  const { t, ada, path, environment } = await aProject()
  const one = `${path}/${environment.id}`
  await expectRefusals(t, ada, {
    method: 'PUT',
    path: one,
    valid: {},
    wrong,
    schema: environmentUpdateForm,
  })
  const answer = await ada.put(one, {
    processes: [{ name: 'mail', command: "echo 'never closed" }],
  })
  expect(answer.json.detail).toBe(
    "processes have an entry mail whose command opens a ' that is never closed. Close it.",
  )
  for (const line of [
    'npm start',
    'a x2 x3: b',
    'a 5s init no-init: b',
    'a x2init: b',
    'a 1 x2: b',
  ]) {
    const unread = await ada.htmx('PUT', one, { processes: `web:\n\n${line}` })
    expect(unread.text).toContain('line 3 must be like “worker x2 256MiB 0.5CPU 30s no-init: ')
  }
})

test('processes are lines in a form, which lose nothing of them', async () => {
  const { ada, path, environment } = await aProject()
  const one = `${path}/${environment.id}`
  const asForm = async (processes: string) => {
    const body = new URLSearchParams({ processes })
    const headers = { Accept: 'application/json' }
    const answer = await ada.send(one, { method: 'PUT', body, headers })
    return ((await answer.json()) as { processes: Process[] }).processes
  }
  const web = { name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null }
  const lines =
    'web:\r\n\r\nworker x2 256MiB 0.5CPU: npm run "a\r\nb"\nclock No-Init 30s 64 mb: node -e "a: b"'
  expect(await asForm(lines)).toEqual([
    web,
    { name: 'worker', command: 'npm run "a\nb"', replicas: 2, memoryMb: 256, cpus: 0.5 },
    {
      ...web,
      name: 'clock',
      command: 'node -e "a: b"',
      memoryMb: 64,
      stopSeconds: 30,
      init: false,
    },
  ])

  const kept: Process[] = [
    { ...web, command: 'node server.js --name="a b"' },
    { ...web, name: 'words', command: ['sh', '-c', 'echo \'a\'\necho "$B"', ''], cpus: 2 },
    {
      ...web,
      name: 'blanks',
      command: 'a\n\tb',
      replicas: 3,
      memoryMb: 16,
      stopSeconds: 0,
      init: true,
    },
  ]
  expect((await ada.put(one, { processes: kept })).json.processes).toEqual(kept)
  const underFormNames = kept.map(({ stopSeconds: stop_seconds, ...rest }) => ({
    ...rest,
    ...(stop_seconds !== undefined && { stop_seconds }),
  }))
  expect((await ada.put(one, { processes: underFormNames })).json.processes).toEqual(kept)
  const form = await ada.send(`${one}/edit`, { headers: { Accept: 'text/html' } })
  const shown: string[] = []
  await new HTMLRewriter()
    .on('textarea[name=processes]', { text: ({ text }) => void shown.push(text) })
    .transform(form)
    .text()
  const again = await asForm(decoded(shown.join('')))
  const asWords = (all: Process[]) =>
    all.map(({ command, ...rest }) => ({ ...rest, command: command && wordsOf(command) }))
  expect(asWords(again)).toEqual(asWords(kept))
})

const decoded = (html: string) =>
  html.replace(/&(?:quot|amp|lt|gt|#39);/g, (entity) => entities[entity as keyof typeof entities])
const entities = { '&quot;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#39;': "'" }

test('an unknown setting of a process is ignored in JSON', async () => {
  const { ada, path, environment } = await aProject()
  const sent = [{ name: 'web', stopTimeout: 30, more: { replicas: 5 } }]
  const web = { name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null }
  const { status, json } = await ada.put(`${path}/${environment.id}`, { processes: sent })
  expect({ status, processes: json.processes }).toEqual({ status: 200, processes: [web] })
})

test('web has the port, and several of it need a port of the host each', async () => {
  const { ada, path, environment } = await aProject()
  const one = `${path}/${environment.id}`
  const put = (body: Record<string, unknown>) => ada.put(one, body)
  const worker = { name: 'worker', command: 'sleep 99', replicas: 5 }
  const refused = await put({ port: 8080, processes: [worker] })
  expect(refused.status).toBe(422)
  expect(refused.json.detail).toContain('must include web, which has port 8080')
  expect((await put({ processes: [worker] })).json).toMatchObject({ url: null, hostPort: null })
  expect((await put({ port: 8080 })).status).toBe(422)

  const two = [{ name: 'web', replicas: 2 }]
  for (const port of [8080, null]) {
    const answer = await put({ port, processes: two })
    expect(answer.status).toBe(422)
    expect(answer.json.errors[0].field).toBe('processes')
    expect(answer.json.detail).toContain('a port of this server can only lead to one container')
  }
  expect((await put({ port: 0, processes: two })).json).toMatchObject({ port: 0 })
  expect((await put({ port: null })).status).toBe(422)
  expect((await ada.post(path, { name: 'staging', processes: two })).status).toBe(422)
  expect((await ada.get(path)).json.items).toHaveLength(1)
})

test('an environment without a port has none of this server that was chosen', async () => {
  const { ada, path } = await aProject()
  const hostPort = freePort()
  const worker = [{ name: 'worker' }]
  const refused = { status: 422, json: { errors: [{ field: 'hostPort' }] } }
  expect(await ada.post(path, { name: 'one', port: 0, hostPort })).toMatchObject(refused)
  const { json } = await ada.post(path, { name: 'one', port: 0 })
  const one = `${path}/${json.id}`
  expect(await ada.put(one, { hostPort })).toMatchObject(refused)
  expect((await ada.put(one, { port: null, hostPort })).json).toMatchObject({ hostPort })
  for (const change of [{ port: 0 }, { port: null, processes: worker }]) {
    expect(await ada.put(one, change)).toMatchObject(refused)
    expect((await ada.get(one)).json).toMatchObject({ port: null, hostPort })
  }
  const without = (await ada.put(one, { port: 0, hostPort: null })).json
  expect(without).toMatchObject({ port: 0, hostPort: null })
})
