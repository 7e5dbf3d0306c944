import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import type { Ids } from '../support/everything.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { testApp } from '../support/app.ts'
import { sent } from '../webhooks/senders.ts'
import { contentsOfContainer, contentsOfImage, filesIn, watchChildren } from './traces.ts'
import { addressOf, routesOf } from './walk.ts'

const aSecret = (name: string) => `${name}-${crypto.randomUUID()}`
const email = 'ada@example.com'

/** Everything that is to stay secret, and that this test types, sends or is given. */
const secrets: Record<string, string> = {
  password: aSecret('password'),
  'a password mistyped': aSecret('mistyped'),
  'the token of a source': aSecret('source'),
  'a secret variable': aSecret('variable'),
  'the value it had before': aSecret('before'),
  'the secret of a webhook': aSecret('webhook'),
  'the password of a service': aSecret('service'),
  'the key of the installation': aSecret('key'),
  'the secret of the login with a provider': aSecret('oauth'),
}

/** Tells its secret in all the ways that a careless program may, in the build and as the app. */
const tells = [
  'echo "plain $TOKEN"',
  'echo "$TOKEN" | base64 -w 0; echo',
  'printf "%s" "$TOKEN" | base64 -w 0; echo',
  'printf "%.12s" "$TOKEN"; sleep 0.3; echo "$TOKEN" | cut -c 13-',
  'echo all is told',
]

async function aWholeRun() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-whole-'))
  const temporary = join(directory, 'tmp')
  mkdirSync(temporary)
  const host = startProviderServer('gitea', { repositories: join(directory, 'host') })
  const token = secrets['the token of a source']!
  host.tokens.set(token, { login: 'ada', id: 42, scopes: ['read:user', 'write:repository'] })
  const repository = makeRepository(join(directory, 'host', 'ada'), 'app.git')
  const head = commitFiles(repository, {
    Dockerfile: `FROM busybox\nARG TOKEN\nRUN ${tells.join('; ')}\nCMD ${JSON.stringify(['sh', '-c', `${tells.join('; ')}; sleep 999`])}\n`,
  })
  host.add({ fullName: 'ada/app', private: true })
  const davit = await startDavit({
    directory,
    env: {
      DAVIT_DATA_DIR: join(directory, 'data'),
      DAVIT_ALLOW_HOSTS: '127.0.0.1',
      DAVIT_SETTLE_TIME: '1',
      DAVIT_REGISTRATION: 'invite',
      DAVIT_SECRET_KEY: secrets['the key of the installation']!,
      DAVIT_OAUTH_PROVIDER: 'gitea',
      DAVIT_OAUTH_CLIENT_ID: 'davit',
      DAVIT_OAUTH_CLIENT_SECRET: secrets['the secret of the login with a provider']!,
      DAVIT_OAUTH_BASE_URL: host.baseUrl,
      TMPDIR: temporary,
    },
  })
  const ada = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(170_000) })
  const children = watchChildren(davit.pid)
  onTestFinished(async () => {
    children.stop()
    await ada.removeAll().catch(() => {}) // it may have been stopped
    await davit.stop()
    host.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  return { directory, davit, ada, host, head, children }
}

test('nothing that is secret is found where it does not belong, after a whole run', async () => {
  const { directory, davit, ada, host, head, children } = await aWholeRun()
  await ada.enter('/auth/register', { email, password: secrets['password']! })
  const mistyped = { email, password: secrets['a password mistyped'] }
  await ada.ask('POST', '/auth/login', { body: mistyped })
  secrets['a session'] = ada.cookie('svc_session')!

  const wanted = { name: 'ci', scopes: ['read'], currentPassword: secrets['password'] }
  const made = await ada.post<any>('/settings/tokens', wanted)
  secrets['an API token'] = made.token
  await ada.ask('GET', '/projects', { headers: { Authorization: `Bearer ${made.token}` } })
  await ada.ask('GET', `/projects?access_token=${made.token}`)
  const { url } = await ada.post<any>('/settings/invites')
  secrets['an invitation'] = new URL(url).searchParams.get('invite')!
  await ada.ask('GET', new URL(url).pathname + new URL(url).search)

  const { id: sourceId } = await ada.post<any>('/settings/git', {
    provider: 'gitea',
    name: 'work',
    baseUrl: host.baseUrl,
    accessToken: secrets['the token of a source'],
  })
  const project = await ada.post<any>('/projects', {
    name: 'site',
    sourceId,
    repository: 'ada/app',
    branch: 'main',
  })
  const webhookSecret = secrets['the secret of a webhook']!
  await ada.put(`/projects/${project.id}/settings`, { webhookSecret })
  const { items } = await ada.get<any>(`/projects/${project.id}/envs`)
  const environment = items[0].id
  await ada.put(`/projects/${project.id}/envs/${environment}`, { port: 0 })
  const variables = `/envs/${environment}/variables`
  const value = secrets['the value it had before']
  const variable = await ada.post<any>(variables, { key: 'TOKEN', value, secret: true })
  await ada.put(`${variables}/${variable.id}`, { value: secrets['a secret variable'] })

  const { path, headers, body } = sent.gitea(
    {
      ref: 'refs/heads/main',
      before: '0'.repeat(40),
      after: head,
      repository: { full_name: 'ada/app', clone_url: `${host.baseUrl}/ada/app.git` },
    },
    { key: webhookSecret },
  )
  const pushed = await fetch(davit.url + path, { method: 'POST', headers, body })
  const { deployments } = (await pushed.json()) as { deployments: { id: string }[] }
  const deployment = deployments[0]!.id
  const log = `/projects/${project.id}/deployments/${deployment}/logs`
  const told = await (
    await ada.ask('GET', log, { headers: { Accept: 'text/event-stream' } })
  ).text()
  children.stop()
  expect(told).toContain('event: done')

  const service = await ada.post<any>('/services/compose', {
    name: 'box',
    compose: aBox,
    env: `PASSWORD=${secrets['the password of a service']}`,
  })
  secrets['the secret that Davit chose'] = (
    await ada.post<any>(`/projects/${project.id}/webhook-secret`)
  ).webhookSecret

  const output = `/projects/${project.id}/envs/${environment}/output`
  await written(ada, output, /all is told/)
  await written(ada, `/services/${service.id}/output`, /the password is/)
  const { containerId, image, status } = await ada.get<any>(
    `/projects/${project.id}/deployments/${deployment}`,
  )
  expect(status).toBe('running')
  expect(Object.keys(secrets)).toHaveLength(13)

  const ids = {
    project: project.id,
    environment,
    deployment,
    variable: variable.id,
    source: sourceId,
    token: made.id,
    service: service.id,
    container: containerId,
    delivery: (await ada.get<any>(`/projects/${project.id}/deliveries`)).items[0].id,
    user: (await ada.get<any>('/settings/users')).items[0].id,
    session: (await ada.get<any>('/settings/sessions')).items[0].id,
  } as Ids
  expectNoneIn('what is read in a browser or by a program', await everythingReadable(ada, ids))
  expectNoneIn('the command lines of what Davit started', [...children.seen].join('\n'))
  expect(children.seen.size).toBeGreaterThan(0)
  expectNoneIn('the image', await contentsOfImage(image))
  const container = await contentsOfContainer(containerId)
  expect(container.environment).toContain(secrets['a secret variable']!)
  expectNoneIn('the container', container.rest)
  for (const file of filesIn(join(directory, 'data'))) expectNoneIn(file, readFileSync(file))
  await ada.removeAll()
  await davit.stop()
  for (const name of ['data', 'tmp', 'davit.log', 'davit.out'])
    for (const file of filesIn(join(directory, name))) expectNoneIn(file, readFileSync(file))
}, 180_000)

const aBox = `services:
  box:
    image: busybox
    environment: { PASSWORD: "\${PASSWORD}" }
    command: [sh, -c, "echo the password is $$PASSWORD; sleep 999"]
`

/** No secret, as it is or in another form of writing, is among the bytes. */
function expectNoneIn(place: string, content: string | Buffer) {
  for (const [name, secret] of Object.entries(secrets))
    for (const form of [secret, btoa(secret).replace(/=+$/, ''), encodeURIComponent(secret)])
      expect(content.includes(form), `${name} in ${place}`).toBe(false)
}

/** Waits until a line is kept that matches. */
async function written(ada: DavitClient, output: string, wanted: RegExp) {
  const answer = await ada.ask('GET', `${output}/stream?format=json`)
  let text = ''
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (wanted.test(text)) return
  }
  throw new Error(`The stream ended after ${text}`)
}

/** All answers to all kinds of clients, but the one that is there to show a service's secrets. */
async function everythingReadable(ada: DavitClient, ids: Ids) {
  const texts: string[] = []
  for (const route of routesOf(testApp()).filter(({ method }) => method === 'GET')) {
    if (route.path.endsWith('/secrets')) continue
    for (const headers of [{ Accept: 'text/html' }, { Accept: 'application/json' }]) {
      const answer = await ada.ask('GET', addressOf(route, ids), { headers })
      texts.push(route.route, [...answer.headers].join('\n').replaceAll(/svc_session=[^;]+/g, ''))
      const isEndless = answer.headers.get('Content-Type')?.includes('event-stream')
      if (isEndless && !route.path.includes(':deploymentId')) await answer.body?.cancel()
      else texts.push(await answer.text())
    }
  }
  return texts.join('\n')
}
