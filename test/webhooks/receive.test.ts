import { describe, expect, test } from 'bun:test'
import {
  aGitlabPush,
  aProject,
  aPush,
  aReceiver,
  countDeployments,
  inbox,
  post,
  sent,
  unreachable,
} from './senders.ts'

describe('what deploys nothing is answered 200', () => {
  const quiet: [string, unknown, Record<string, string>, RegExp][] = [
    [
      'a ping',
      { zen: 'x', hook_id: 1, repository: aPush().repository },
      { 'X-GitHub-Event': 'ping' },
      /set up/,
    ],
    [
      'another event',
      { action: 'opened', repository: aPush().repository },
      { 'X-GitHub-Event': 'issues' },
      /issues/,
    ],
    ['a tag', aPush({ ref: 'refs/tags/v1' }), {}, /tag/],
    ['a deleted branch', aPush({ after: '0'.repeat(40), deleted: true }), {}, /deleted/],
    ['another branch', aPush({ ref: 'refs/heads/dev' }), {}, /dev/],
    [
      '[skip ci]',
      aPush({ head_commit: { id: 'x', message: 'Fix\n\n[skip ci]' } }),
      {},
      /\[skip ci\]/,
    ],
  ]

  test.each(quiet)('%s', async (_, payload, headers, reason) => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    const { status, json } = await post(t, sent.github(payload, { headers }))
    expect(status).toBe(200)
    expect(json).toEqual({ deployments: [], reason: expect.stringMatching(reason) })
    expect(inbox(t, project.id)).toMatchObject([
      { signature_ok: 1, decision: 'ignored', reason: json.reason },
    ])
    expect(countDeployments(t)).toBe(0)
  })

  test('auto-deploy that is off, for the project or for the environment', async () => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    await t.owner.put(`/projects/${project.id}/settings`, { autoDeploy: false })
    expect((await post(t, sent.github(aPush()))).json.reason).toContain('off for production')
    const { json } = await t.owner.get(`/projects/${project.id}/envs`)
    const path = `/projects/${project.id}/envs/${json.items[0].id}`
    await t.owner.put(path, { autoDeploy: true })
    expect((await post(t, sent.github(aPush()))).status).toBe(202)
    await t.owner.put(`/projects/${project.id}/settings`, { autoDeploy: true })
    await t.owner.put(path, { autoDeploy: false })
    expect((await post(t, sent.github(aPush()))).status).toBe(200)
  })

  test('a project that is being deleted, and one whose owner is disabled', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    t.db.$client.run('UPDATE users SET disabled_at = 1')
    expect((await post(t, sent.github(aPush()))).json.reason).toContain('disabled')
    t.db.$client.run('UPDATE projects SET deleting_at = 1')
    expect((await post(t, sent.github(aPush()))).json.reason).toContain('being deleted')
    expect(countDeployments(t)).toBe(0)
  })
})

describe('a body that is not the event it claims is answered 400', () => {
  test.each([
    ['ref is a number', aPush({ ref: 123 })],
    ['ref is null', aPush({ ref: null })],
    ['ref is missing', aPush({ ref: undefined })],
    ['after is a name', aPush({ after: 'main' })],
    ['after is an option', aPush({ after: '--upload-pack=touch /tmp/m' })],
    ['commits is no list', aPush({ commits: 'all' })],
    ['no repository', aPush({ repository: undefined })],
    ['repository is null', aPush({ repository: null })],
    ['repository without a name', aPush({ repository: {} })],
    ['an array', [aPush()]],
    ['a text', '"push"'],
    ['null', 'null'],
    ['nothing', ''],
    ['half of it', JSON.stringify(aPush()).slice(0, -5)],
    ['deep arrays', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['deeper arrays', '['.repeat(5_000_000)],
    ['a deep repository', `{"repository":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
  ])('%s', async (_, payload) => {
    const t = aReceiver()
    await aProject(t.owner)
    const { status, headers } = await post(t, sent.github(payload))
    expect(status).toBe(400)
    expect(headers.get('Content-Type')).toBe('application/problem+json')
    expect(countDeployments(t)).toBe(0)
  })

  test('bytes that are not UTF-8, and a push that GitLab calls a tag', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    const bytes = new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])
    expect((await post(t, { ...sent.github(''), body: bytes })).status).toBe(400)
    const tag = { object_kind: 'tag_push', project: { git_http_url: unreachable } }
    expect((await post(t, sent.gitlab(tag))).status).toBe(400)
  })

  test.each([
    ['a branch, sent as a tag', 'Tag Push Hook', 'push', 'refs/heads/main'],
    ['a tag, sent as a branch', 'Push Hook', 'tag_push', 'refs/tags/v1'],
    ['a branch that is called a tag', 'Push Hook', 'tag_push', 'refs/heads/main'],
    ['a tag that is called a branch', 'Tag Push Hook', 'push', 'refs/tags/v1'],
  ])('of GitLab: %s', async (_, event, object_kind, ref) => {
    const t = aReceiver()
    await aProject(t.owner)
    const headers = { 'X-Gitlab-Event': event }
    const body = { ...aGitlabPush(), object_kind, ref }
    expect((await post(t, sent.gitlab(body, { headers }))).status).toBe(400)
    expect(countDeployments(t)).toBe(0)
  })

  test('an event that is not named', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    const headers = { 'X-GitHub-Event': null }
    expect((await post(t, sent.github(aPush(), { headers }))).status).toBe(400)
  })

  test('which the inbox keeps when it was signed', async () => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    await post(t, sent.github(aPush({ ref: 123 })))
    expect(inbox(t, project.id)).toMatchObject([
      { signature_ok: 1, decision: 'refused', push: null },
    ])
  })
})

describe('numbers and names that JSON allows', () => {
  test('do no harm', async () => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    const body = JSON.stringify(aPush()).replace(
      /^\{/,
      '{"size":1e999,"ref":"refs/heads/other","__proto__":{"x":1},',
    )
    expect((await post(t, sent.github(body))).status).toBe(202) // of duplicate names the last counts
    expect(inbox(t, project.id)[0]!.ref).toBe('refs/heads/main')
  })

  test('are stored as text that can be read', async () => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    const message = 'a\u0000b\u0007\ud800 c\u2028d\nmore'
    const push = aPush({ head_commit: { id: 'x', message }, pusher: { name: 'a\u0000\nb' } })
    const { json } = await post(t, sent.github(push))
    expect(json.deployments[0].triggeredBy).toBe('a b')
    expect(inbox(t, project.id)[0]!.commit_message).toBe('a b \ufffd c d')
    expect((await t.owner.get(`/projects/${project.id}/deployments`)).status).toBe(200)
  })

  test('are no branch, when git would not call one so', async () => {
    const t = aReceiver()
    await aProject(t.owner, { branch: null })
    const ref = 'refs/heads/a\u0000b'
    const repository = { ...aPush().repository, default_branch: 'a\u0000b' }
    expect((await post(t, sent.github(aPush({ ref, repository })))).status).toBe(200)
    expect(countDeployments(t)).toBe(0)
  })
})

describe('bodies', () => {
  test('of GitHub may be a form, signed as it was sent', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    const form = `payload=${encodeURIComponent(JSON.stringify(aPush()))}`
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' }
    expect((await post(t, sent.github(form, { headers }))).status).toBe(202)
    expect((await post(t, sent.github(`${form}&${form}`, { headers }))).status).toBe(400)
    expect((await post(t, sent.github('body=x', { headers }))).status).toBe(400)
    const signed = sent.github(JSON.stringify(aPush()), { headers })
    expect((await post(t, { ...signed, body: form })).status).toBe(401)
  })

  test('of Gitea may be a form, which signs what its field says', async () => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const message = `Grüße & more+ 100% ${'x'.repeat(100_000)}`
    const payload = JSON.stringify(aPush({ head_commit: { id: 'x', message } }))
    const form = (text: string) => new URLSearchParams({ payload: text }).toString()
    const signed = sent.gitea(payload, { headers })
    expect((await post(t, { ...signed, body: form(payload) })).status).toBe(202)
    expect(inbox(t, id)).toMatchObject([{ commit_message: message.slice(0, 300) }])
    const status = async (body: string, of = signed) => (await post(t, { ...of, body })).status
    expect(await status(form(payload.replace('gordon', 'gordian')))).toBe(401)
    expect(await status(`${form(payload)}&${form(payload)}`)).toBe(400)
    expect(await status('body=x')).toBe(400)
    const bytesSigned = sent.gitea(form(payload), { headers })
    expect(await status(form(payload), bytesSigned)).toBe(401)
    const unsigned = sent.gitea('', { headers: { ...headers, 'X-Gitea-Signature': null } })
    expect(await status('body=x', unsigned)).toBe(401)
  })

  test.each([
    ['github', 'text/plain'],
    ['github', ''],
    ['gitlab', 'application/x-www-form-urlencoded'],
    ['gitea', 'multipart/form-data'],
  ] as const)('to %s of the type “%s” are answered 415', async (provider, type) => {
    const t = aReceiver()
    const headers = { 'Content-Type': type }
    expect((await post(t, sent[provider](aPush(), { headers }))).status).toBe(415)
  })

  test('count byte for byte: written another way the JSON has another signature', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    const spaced = JSON.stringify(aPush(), null, 2).replace('gordon/', 'gordon\\u002f')
    expect((await post(t, sent.github(spaced))).status).toBe(202)
    const signed = sent.github(spaced)
    expect((await post(t, { ...signed, body: JSON.stringify(aPush()) })).status).toBe(401)
  })
})

test('no cookie, Origin or login makes a difference', async () => {
  const t = aReceiver()
  await aProject(t.owner)
  const headers = {
    Origin: 'https://evil.example',
    'Sec-Fetch-Site': 'cross-site',
    Cookie: 'svc_session=x; svc_csrf=y',
    Authorization: 'Bearer dvt_nonsense',
  }
  const { status, headers: answered } = await post(t, sent.github(aPush(), { headers }))
  expect(status).toBe(202)
  expect(answered.getSetCookie()).toEqual([])
  expect(
    (await post(t, sent.github(aPush(), { headers, key: 'a-wrong-secret-0123' }))).status,
  ).toBe(401)
})

test('the receivers have a rate limit of their own', async () => {
  const t = aReceiver({ DAVIT_RATE_LIMIT: '1', DAVIT_RATE_BURST: '2' })
  const answers = [sent.github('x'), sent.gitlab('x'), sent.gitea('x')].map((one) => post(t, one))
  const [, , third] = await Promise.all(answers)
  expect(third!.status).toBe(429)
  expect(Number(third!.headers.get('Retry-After'))).toBeGreaterThan(0)
})
