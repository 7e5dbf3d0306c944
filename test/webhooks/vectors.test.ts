import { describe, expect, test } from 'bun:test'
import { gitlab } from '../../src/webhooks/gitlab.ts'
import { hexSignature, hmac, isSigned } from '../../src/webhooks/signature.ts'
import {
  aGitlabPush,
  aProject,
  aPush,
  aReceiver,
  countDeployments,
  hmacOf,
  inbox,
  post,
  secret,
  sent,
} from './senders.ts'
import type { Delivery } from './senders.ts'

/** 124 bytes, signed elsewhere. */
const vector =
  '{"ref":"refs/heads/main","after":"ef98532add3b2feb7a137426bba1248724367df5","repository":{"full_name":"gordon/hello-world"}}'
const digest = 'c16362f38df9afc8a9db2b436553714d6ca6079926bcfe12c0f54f99d81b4e27'
const emptyKeyDigest = '16e793aa407784d465d459f224cd28fb2f90e6490da510bf917935d0a978860c'

const json = { 'Content-Type': 'application/json' }
const githubVector: Delivery = {
  path: '/webhooks/github',
  headers: { ...json, 'X-GitHub-Event': 'push', 'X-Hub-Signature-256': `sha256=${digest}` },
  body: vector,
}
const giteaVector: Delivery = {
  path: '/webhooks/gitea',
  headers: { ...json, 'X-Gitea-Event': 'push', 'X-Gitea-Signature': digest },
  body: vector,
}

describe('a signature that was computed elsewhere', () => {
  test('of GitHub’s own example fits', async () => {
    const mac = await hmac("It's a Secret to Everybody", [Buffer.from('Hello, World!')])
    expect(mac.toString('hex')).toBe(
      '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    )
  })

  test.each([githubVector, giteaVector])(
    'is accepted at $path, for one deployment',
    async (sent) => {
      const t = aReceiver()
      const project = await aProject(t.owner)
      const { status, json } = await post(t, sent)
      expect(status).toBe(202)
      expect(json.deployments).toMatchObject([
        { projectId: project.id, trigger: 'webhook', branch: 'main', status: 'pending' },
      ])
      expect(json.deployments[0].commit.hash).toBe('ef98532add3b2feb7a137426bba1248724367df5')
      expect(countDeployments(t)).toBe(1)
    },
  )
})

describe('a signature of the wrong shape is refused', () => {
  const upper = digest.toUpperCase()
  const wrong: [string, string | null][] = [
    ['missing', null],
    ['an empty digest', 'sha256='],
    ['empty', ''],
    ['SHA-1', 'sha1=0cd1e0c1e1a1c8a24cb1d6d3e7f2cd0c1e0d2c11'],
    ['SHA-1 under the name of SHA-256', 'sha256=0cd1e0c1e1a1c8a24cb1d6d3e7f2cd0c1e0d2c11'],
    ['in upper case', `sha256=${upper}`],
    ['with its name in upper case', `SHA256=${digest}`],
    ['a digit short', `sha256=${digest.slice(1)}`],
    ['a digit long', `sha256=${digest}0`],
    ['not hex', `sha256=${'z'.repeat(64)}`],
    ['twice', `sha256=${digest}, sha256=${digest}`],
    ['without its name', digest],
    ['in base64', `sha256=${Buffer.from(digest, 'hex').toBase64()}`],
    ['of another key', `sha256=${hmacOf(vector, 'another-secret-012345')}`],
    ['of the empty key', `sha256=${emptyKeyDigest}`],
  ]

  test.each(wrong)('%s', async (_, value) => {
    const t = aReceiver()
    await aProject(t.owner)
    const { ['X-Hub-Signature-256']: __, ...headers } = githubVector.headers
    const changed = value === null ? headers : { ...headers, 'X-Hub-Signature-256': value }
    expect((await post(t, { ...githubVector, headers: changed })).status).toBe(401)
    const bare = value?.replace(/^sha256=/i, '') ?? ''
    const gitea = {
      ...giteaVector.headers,
      'X-Gitea-Signature': bare === digest ? `x${bare}` : bare,
    }
    expect((await post(t, { ...giteaVector, headers: gitea })).status).toBe(401)
    expect(countDeployments(t)).toBe(0)
  })

  test('as is one of a body with a byte more', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    expect((await post(t, { ...githubVector, body: `${vector} ` })).status).toBe(401)
    expect(countDeployments(t)).toBe(0)
  })

  test('as is all that was sent for a project without a secret', async () => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    const everyones = { ...aPush(), ...aGitlabPush() }
    for (const none of [
      '',
      t.secrets.seal('', `webhook ${id}`),
      t.secrets.seal('short', `webhook ${id}`),
    ]) {
      t.db.$client.run('UPDATE projects SET webhook_secret = ?', [none])
      for (const key of ['', 'short'])
        for (const provider of ['github', 'gitea', 'gitlab'] as const)
          expect((await post(t, sent[provider](everyones, { key }))).status).toBe(401)
    }
    expect(countDeployments(t)).toBe(0)
  })
})

test('what Gitea sends is not believed at GitHub’s address, though the signature fits', async () => {
  const t = aReceiver()
  await aProject(t.owner)
  const gitea = sent.gitea(vector)
  expect((await post(t, { ...gitea, path: '/webhooks/github' })).status).toBe(401)
  for (const name of ['X-Forgejo-Event', 'X-Gogs-Delivery'])
    expect((await post(t, sent.github(vector, { headers: { [name]: 'push' } }))).status).toBe(401)
  expect((await post(t, gitea)).status).toBe(202)
})

describe('GitLab’s signing token', () => {
  const token = 'whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q='
  const id = '1697b63f-d1eb-4c59-b2c1-e65b12e635c0'
  const body = '{"object_kind":"push","ref":"refs/heads/main"}'
  const good = 'v1,R8HobLvuMaEeC65fmByTuSOcU85iaAcsAfxFT3fFy3w='
  const signedAt = 1_700_000_000

  const isSignedWith = (headers: Record<string, string>, seconds = signedAt) =>
    gitlab.isSignedWith(token, {
      headers: new Headers({
        'webhook-id': id,
        'webhook-timestamp': String(signedAt),
        'webhook-signature': good,
        ...headers,
      }),
      body: Buffer.from(body),
      now: seconds * 1000,
    })

  test('made the signature that was computed elsewhere', async () => {
    expect(await isSignedWith({})).toBe(true)
    expect(await isSignedWith({ 'webhook-signature': `v1,${'A'.repeat(43)}= ${good}` })).toBe(true)
    expect(await isSignedWith({ 'webhook-signature': `v1,bad v2,x ${good}` })).toBe(true)
    expect(await isSignedWith({ 'Idempotency-Key': id })).toBe(true)
  })

  test.each([
    [{ 'webhook-signature': '' }],
    [{ 'webhook-signature': good.slice(3) }],
    [{ 'webhook-signature': good.replace('v1', 'v2') }],
    [{ 'webhook-signature': good.replace('=', '') }],
    [{ 'webhook-signature': good.replace('R8', 'r8') }],
    [{ 'webhook-signature': `${good},${good}` }],
    [{ 'webhook-id': 'another' }],
    [{ 'webhook-id': '' }],
    [{ 'webhook-timestamp': '' }],
    [{ 'webhook-timestamp': '1700000001' }],
    [{ 'webhook-timestamp': '1.7e9' }],
    [{ 'Idempotency-Key': 'another' }],
  ])('does not stand behind %j', async (headers) => {
    expect(await isSignedWith(headers as Record<string, string>)).toBe(false)
  })

  test('is good for five minutes, by either clock', async () => {
    for (const drift of [-299, 299]) expect(await isSignedWith({}, signedAt + drift)).toBe(true)
    for (const drift of [-301, 301]) expect(await isSignedWith({}, signedAt + drift)).toBe(false)
  })

  test('makes the clear token worth nothing', async () => {
    const t = aReceiver()
    await aProject(t.owner, { webhookSecret: token })
    expect((await post(t, sent.gitlab(aGitlabPush(), { key: token }))).status).toBe(401)
    expect(countDeployments(t)).toBe(0)
  })

  test('signs a delivery that is accepted, once', async () => {
    const t = aReceiver()
    await aProject(t.owner, { webhookSecret: token })
    const body = JSON.stringify(aGitlabPush())
    const timestamp = String(Math.floor(t.clock.now / 1000))
    const key = Buffer.from(token.slice(6), 'base64')
    const pieces = [Buffer.from(`${id}.${timestamp}.${body}`)]
    const mac = (await hmac(key, pieces)).toBase64()
    const signed = sent.gitlab(body, {
      headers: {
        'X-Gitlab-Token': null,
        'Idempotency-Key': id,
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${mac}`,
      },
    })
    expect((await post(t, signed)).status).toBe(202)
    expect((await post(t, signed)).status).toBe(200)
    t.clock.now += 301_000
    expect((await post(t, signed)).status).toBe(401)
    expect(countDeployments(t)).toBe(1)
  })
})

test('GitLab’s clear token is compared whole', async () => {
  const t = aReceiver()
  await aProject(t.owner)
  for (const key of [
    '',
    secret.slice(1),
    `${secret}x`,
    secret.toUpperCase(),
    `${secret}, ${secret}`,
  ])
    expect((await post(t, sent.gitlab(aGitlabPush(), { key }))).status).toBe(401)
  expect(
    (await post(t, sent.gitlab(aGitlabPush(), { headers: { 'X-Gitlab-Token': null } }))).status,
  ).toBe(401)
  expect((await post(t, sent.gitlab(aGitlabPush()))).status).toBe(202)
})

test('no key is too short to be noticed', async () => {
  const pieces = [Buffer.from('body')]
  const signatures = hexSignature((await hmac('', pieces)).toString('hex'))
  expect(signatures).toHaveLength(1)
  expect(await isSigned({ key: '', pieces, signatures })).toBe(false)
})

test('refusals do not tell a known repository from an unknown one', async () => {
  const t = aReceiver()
  const project = await aProject(t.owner)
  const known = await post(t, sent.github(aPush(), { key: 'a-wrong-secret-0123' }))
  const unknown = await post(t, sent.github(aPush({ repository: { full_name: 'no/body' } })))
  const without = (problem: Record<string, unknown>) => ({ ...problem, requestId: null })
  expect([known.status, unknown.status]).toEqual([401, 401])
  expect(without(known.json)).toEqual(without(unknown.json))
  expect(inbox(t, project.id)).toMatchObject([{ signature_ok: 0, decision: 'refused' }])
})
