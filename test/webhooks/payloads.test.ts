import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { notFollowed } from '../../src/webhooks/deploy-push.ts'
import { aProject, aReceiver, inbox, post, sent } from './senders.ts'

const payload = (path: string) => Bun.file(join(import.meta.dir, 'payloads', `${path}.json`)).text()

const hello = { repositoryUrl: 'https://github.com/Codertocat/Hello-World', branch: 'master' }
const diaspora = { repositoryUrl: 'git@example.com:mike/diaspora.git', branch: 'master' }
const hooks = { repositoryUrl: 'https://example.org/gitea/webhooks', branch: 'develop' }
const GitLabTag = { 'X-Gitlab-Event': 'Tag Push Hook' }

/** The examples of the providers' own documentation, as they are sent. */
test.each([
  ['github/push-branch-created', hello, {}, '6113728f27ae82c7b1a177c8d03f9e96e0adf246 Codertocat'],
  ['github/push-tag', hello, {}, notFollowed('tag simple-tag')],
  ['github/push-tag-deleted', hello, {}, 'The tag simple-tag was deleted.'],
  ['gitlab/push', diaspora, {}, 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7 jsmith'],
  ['gitlab/push-branch-deleted', diaspora, {}, 'The branch master was deleted.'],
  [
    'gitlab/push-tag',
    { ...diaspora, repositoryUrl: 'http://example.com/jsmith/example' },
    GitLabTag,
    notFollowed('tag v1.0.0'),
  ],
  ['gitea/push', hooks, {}, 'bffeb74224043ba2feb48d137756c8a9331c449a gitea'],
  ['gitea/push-tag', hooks, {}, notFollowed('tag v1.0.0')],
  ['gitea/push-branch-deleted', hooks, {}, 'The branch develop was deleted.'],
])('%s', async (path, project, headers, expected) => {
  const t = aReceiver()
  const { id } = await aProject(t.owner, project)
  const provider = path.split('/')[0] as keyof typeof sent
  const { status, json } = await post(t, sent[provider](await payload(path), { headers }))
  const [deployment] = json.deployments
  const found = deployment ? `${deployment.commit.hash} ${deployment.triggeredBy}` : json.reason
  expect(found).toBe(expected)
  expect(status).toBe(deployment ? 202 : 200)
  expect(inbox(t, id)).toMatchObject([{ provider, signature_ok: 1 }])
})

test.each([
  ['github/push-tag', hello, {}, 'simple-*', '6113728f27ae82c7b1a177c8d03f9e96e0adf246'],
  [
    'gitlab/push-tag',
    { repositoryUrl: 'http://example.com/jsmith/example', branch: 'master' },
    GitLabTag,
    'v[0-9]*',
    '82b3d5ae55f7080f1e6022629cdb57bfae7cccc7',
  ],
  ['gitea/push-tag', hooks, {}, 'v*', null],
])(
  '%s deploys the environment whose pattern it matches',
  async (path, project, headers, tags, commit) => {
    const t = aReceiver()
    const { id } = await aProject(t.owner, project)
    const envs = `/projects/${id}/envs`
    const { json: staging } = await t.owner.post(envs, { name: 'staging', tags })
    await t.owner.post(envs, { name: 'other', tags: 'x*' })
    const provider = path.split('/')[0] as keyof typeof sent
    const { json } = await post(t, sent[provider](await payload(path), { headers }))
    const [one, ...others] = json.deployments
    expect(one).toMatchObject({
      environmentId: staging.id,
      refType: 'tag',
      commit: { hash: commit },
    })
    expect(others).toEqual([])
  },
)

test('github/ping', async () => {
  const t = aReceiver()
  await aProject(t.owner, { repositoryUrl: 'https://github.com/Octocoders/Hello-World' })
  const ping = sent.github(await payload('github/ping'), { headers: { 'X-GitHub-Event': 'ping' } })
  expect(await post(t, ping)).toMatchObject({
    status: 200,
    json: { reason: 'The webhook is set up.' },
  })
})

test('the inbox knows the commit by the first line of its message', async () => {
  const t = aReceiver()
  const { id } = await aProject(t.owner, diaspora)
  await post(t, sent.gitlab(await payload('gitlab/push')))
  expect(inbox(t, id)).toMatchObject([{ commit_message: 'fixed readme', event: 'Push Hook' }])
})
