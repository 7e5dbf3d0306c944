import { expect, test } from 'bun:test'
import { containerDetails } from '../../src/containers/json.ts'
import { testApp, withAda, withRoot } from '../support/app.ts'
import { anOwn, aStranger } from './engine.ts'

const secret = 'a value that must not be seen'

test('no value that is or was a secret leaves Davit, whatever it stands in', async () => {
  const { t, ada } = withAda(testApp())
  const root = t.logInAsAdmin()
  const env = {
    GREETING: 'hello',
    TOKEN: secret,
    ALSO: `Bearer ${secret}`,
    GONE: 'it was deleted, and may have been a secret',
    CHANGED: 'the old value',
    PORT: '8080',
  }
  const own = await anOwn(t, ada, `echo ${secret}`, { env })
  const set = (key: string, value: string, isSecret = false) =>
    ada.post(`/envs/${own.environment.id}/variables`, { key, value, secret: isSecret })
  await set('GREETING', 'hello')
  await set('TOKEN', secret, true)
  await set('ALSO', `Bearer ${secret}`)
  await set('CHANGED', 'the new value')
  const path = `/containers/${own.id}`

  const { json } = await ada.get(path)
  expect(json.variables).toMatchObject([
    { key: 'GREETING', value: 'hello' },
    { key: 'TOKEN', value: null },
    { key: 'ALSO', value: 'Bearer ***' },
    { key: 'GONE', value: null },
    { key: 'CHANGED', value: null },
    { key: 'PORT', value: '8080' },
  ])
  expect(json.command).toEqual(['sh', '-c', 'echo ***'])
  for (const client of [ada, root]) {
    const { text } = await client.page(path)
    expect(text).toContain('GREETING')
    expect(text).toContain('hello')
    for (const hidden of [secret, env.GONE, env.CHANGED]) expect(text).not.toContain(hidden)
    expect((await client.get(path)).text).not.toContain(secret)
  }
})

test('of what is not Davit’s no value is shown', async () => {
  const { t, root } = withRoot(testApp())
  const id = await aStranger(t, 'sleep 9', {
    env: { POSTGRES_PASSWORD: secret, MODE: 'a harmless one' },
  })
  const { text } = await root.page(`/containers/${id}`)
  expect(text).toContain('POSTGRES_PASSWORD')
  expect(text).not.toContain(secret)
  expect(text).not.toContain('a harmless one')
  const { variables } = (await root.get(`/containers/${id}`)).json
  expect(variables.every(({ value }: { value: string | null }) => value === null)).toBe(true)
})

test('the details say how a container was made, and where it comes from', async () => {
  const { t, ada } = withAda(testApp())
  const volume = `test-${Bun.randomUUIDv7()}`
  const { id, deployment } = await anOwn(t, ada, 'sleep 9', {
    volumes: [{ name: volume, path: '/data' }],
    ports: [{ container: 8080, host: 0, address: '127.0.0.1' }],
    cpus: 0.5,
  })
  const { json } = await ada.get(`/containers/${id}`)
  containerDetails().strict().parse(json)
  expect(json).toMatchObject({
    command: ['sh', '-c', 'sleep 9'],
    mounts: [{ type: 'volume', source: volume, destination: '/data', readOnly: false }],
    networks: [{ name: 'bridge' }],
    limits: { memoryBytes: 32 * 2 ** 20, cpus: 0.5, pids: 64 },
    restartPolicy: 'no',
  })
  const { text } = await ada.page(`/containers/${id}`)
  const from = `/projects/${deployment.projectId}/deployments/${deployment.id}`
  for (const told of [from, '32.0 MiB, 0.5 CPU, 64 processes', `${volume} → /data`])
    expect(text).toContain(told)
  await t.docker.removeContainer(id, { force: true })
  await t.docker.removeVolume(volume)
})

test('what is hostile in names and labels stays text', async () => {
  const { t, root } = withRoot(testApp())
  const labels = { '<script>alert(1)</script>': '<img src=x onerror=alert(2)>' }
  const id = await aStranger(t, '<b>"bold"</b>', { labels, env: { '<i>': '</dl>' } })
  const { text } = await root.page(`/containers/${id}`)
  for (const markup of ['<script>alert', '<img', '<b>', '<i>']) expect(text).not.toContain(markup)
  expect(text).toContain('&lt;script&gt;alert')
})
