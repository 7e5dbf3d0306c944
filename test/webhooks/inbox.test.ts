import { describe, expect, test } from 'bun:test'
import { notFollowed } from '../../src/webhooks/deploy-push.ts'
import { inboxRoutes } from '../../src/webhooks/inbox-routes.tsx'
import { aProject, aPush, aReceiver, countDeployments, inbox, post, sent } from './senders.ts'

/** With the inbox beside the receivers, for whoever the test says is logged in. */
function anInbox(env: Record<string, string> = {}) {
  const t = aReceiver(env)
  t.app.use(async (c, next) => {
    c.set('user', { ...t.owner.user, name: null, role: 'member' })
    c.set('csrfToken', 'token')
    await next()
  })
  t.app.route('/', inboxRoutes(t.deps))
  const ask = (method: string, path: string, accept = 'application/json', headers = {}) =>
    t.app.request(path, { method, headers: { Accept: accept, ...headers } })
  const json = async (method: string, path: string) => {
    const response = await ask(method, path)
    return {
      status: response.status,
      json: (await response.json()) as any,
      headers: response.headers,
    }
  }
  return { ...t, ask, json }
}

test('what the inbox keeps of a push is short, whatever it was sent', async () => {
  const t = aReceiver()
  const { id } = await aProject(t.owner, { branch: null })
  const long = 'x'.repeat(50_000)
  const commits = [{ id: 'a', message: long, added: [long], modified: [], removed: [] }]
  const push = aPush({
    repository: { ...aPush().repository, default_branch: long },
    pusher: { name: long },
    ...{ commits, head_commit: commits[0] },
  })
  expect((await post(t, sent.github(push))).status).toBe(200)
  const [kept] = inbox(t, id)
  expect(kept!.push.length).toBeLessThan(5000)
})

test('the inbox lists deliveries with what was decided, newest first, in pages', async () => {
  const t = anInbox()
  const { id } = await aProject(t.owner)
  await post(t, sent.github(aPush()))
  await post(t, sent.gitea(aPush({ ref: 'refs/heads/dev' })))
  await post(t, sent.github(aPush(), { key: 'a-wrong-secret-0123' }))
  const { json } = await t.json('GET', `/projects/${id}/deliveries?limit=2`)
  expect(json.items).toMatchObject([
    { signatureOk: false, decision: 'refused', commit: { hash: null }, canReplay: false },
    { signatureOk: true, decision: 'ignored', provider: 'gitea', branch: 'dev', canReplay: true },
  ])
  const rest = await t.json('GET', `/projects/${id}/deliveries?cursor=${json.nextCursor}`)
  expect(rest.json.items).toMatchObject([
    { decision: 'deployed', event: 'push', commit: { hash: aPush().after } },
  ])
  expect(rest.json.items[0].deploymentIds).toHaveLength(1)
  expect(rest.json.nextCursor).toBeNull()
  const text = JSON.stringify(json) + JSON.stringify(rest.json)
  expect(text).not.toContain('test-secret')
})

test('its page shows them, escaped, with links to what they deployed', async () => {
  const t = anInbox({ DAVIT_URL: 'https://davit.example.com' })
  const { id } = await aProject(t.owner)
  const message = '<script>alert(1)</script>'
  const { json } = await post(t, sent.github(aPush({ head_commit: { id: 'x', message } })))
  const page = await (await t.ask('GET', `/projects/${id}/deliveries`, 'text/html')).text()
  expect(page).toContain('aria-current="page">Webhooks')
  expect(page).toContain('&lt;script&gt;alert(1)')
  expect(page).not.toContain(message)
  const link = `<a href="/projects/${id}/deployments/${json.deployments[0].id}">`
  expect(page).toContain(`<span>Deployed to ${link}`) // one fact, without a dot in it
  for (const provider of ['github', 'gitlab', 'gitea'])
    expect(page).toContain(`https://davit.example.com/webhooks/${provider}`)
})

test('a provider that is known by its host is the only one whose address is shown', async () => {
  const t = anInbox()
  const { id } = await aProject(t.owner, { repositoryUrl: 'git@github.com:team/app.git' })
  const { json } = await t.json('GET', `/projects/${id}/deliveries`)
  expect(json.receivers).toEqual([
    { provider: 'github', url: expect.stringMatching(/\/webhooks\/github$/) },
  ])
})

describe('a replay', () => {
  test('deploys the stored commit again, as its owner', async () => {
    const t = anInbox()
    const { id } = await aProject(t.owner)
    await post(t, sent.github(aPush()))
    const [delivery] = inbox(t, id)
    const path = `/projects/${id}/deliveries/${delivery!.id}/replay`
    const { status, json, headers } = await t.json('POST', path)
    expect(status).toBe(201)
    expect(json.deployments).toMatchObject([
      { trigger: 'webhook', triggeredBy: 'ada@example.com', commit: { hash: aPush().after } },
    ])
    expect(headers.get('Location')).toBe(`/projects/${id}/deployments/${json.deployments[0].id}`)
    expect(JSON.parse(inbox(t, id)[0]!.deployment_ids)).toHaveLength(2)
    expect(inbox(t, id)).toHaveLength(1)
    const audited = t.db.$client.query('SELECT action, object_id FROM audit_events').all()
    expect(audited).toContainEqual({ action: 'delivery.replayed', object_id: delivery!.id })
    expect((await t.ask('POST', path, 'text/html')).status).toBe(303)
  })

  test('decides by what is set now', async () => {
    const t = anInbox()
    const { id } = await aProject(t.owner)
    await post(t, sent.github(aPush({ ref: 'refs/heads/dev' })))
    const path = `/projects/${id}/deliveries/${inbox(t, id)[0]!.id}/replay`
    const refused = await t.json('POST', path)
    expect(refused.status).toBe(409)
    expect(refused.json.detail).toContain(notFollowed('branch dev'))
    expect(countDeployments(t)).toBe(0)
    await t.owner.put(`/projects/${id}`, { branch: 'dev' })
    expect((await t.json('POST', path)).status).toBe(201)
    expect(inbox(t, id)).toMatchObject([{ decision: 'deployed' }])
  })
})

test.each([
  ['was not signed', sent.github(aPush(), { key: 'a-wrong-secret-0123' })],
  ['held no push', sent.github(aPush(), { headers: { 'X-GitHub-Event': 'issues' } })],
])('a delivery that %s has nothing to replay', async (_, delivery) => {
  const t = anInbox()
  const { id } = await aProject(t.owner)
  await post(t, delivery)
  const path = `/projects/${id}/deliveries/${inbox(t, id)[0]!.id}/replay`
  expect((await t.json('POST', path)).status).toBe(409)
  expect(countDeployments(t)).toBe(0)
})

test('a delivery to another project does not exist', async () => {
  const t = anInbox()
  const { id } = await aProject(t.owner)
  const other = await aProject(t.logIn('bob@example.com'), { webhookSecret: 'the-secret-of-bob-1' })
  await post(t, sent.github(aPush(), { key: 'the-secret-of-bob-1' }))
  const [delivery] = inbox(t, other.id)
  for (const project of [id, other.id])
    expect(
      (await t.json('POST', `/projects/${project}/deliveries/${delivery!.id}/replay`)).status,
    ).toBe(404)
  expect((await t.json('GET', `/projects/${other.id}/deliveries`)).status).toBe(404)
  expect((await t.json('POST', `/projects/${other.id}/webhook-secret`)).status).toBe(404)
})

test('a new secret is shown once, and the old one signs no more', async () => {
  const t = anInbox()
  const { id } = await aProject(t.owner)
  const fragment = await t.ask('POST', `/projects/${id}/webhook-secret`, 'text/html', {
    'HX-Request': 'true',
  })
  const text = await fragment.text()
  const [, key] = /value="([A-Za-z0-9_-]{43})"/.exec(text)!
  expect(text).toStartWith('<section id="webhook-setup"')
  expect(fragment.headers.get('Cache-Control')).toBe('no-store')
  const page = await (await t.ask('GET', `/projects/${id}/deliveries`, 'text/html')).text()
  expect(page).not.toContain(key)
  expect((await post(t, sent.github(aPush()))).status).toBe(401)
  expect((await post(t, sent.github(aPush(), { key: key! }))).status).toBe(202)
  expect((await t.json('POST', `/projects/${id}/webhook-secret`)).json.webhookSecret).toHaveLength(
    43,
  )
  expect(countDeployments(t)).toBe(1)
})
