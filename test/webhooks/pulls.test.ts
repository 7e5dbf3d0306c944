import { describe, expect, test } from 'bun:test'
import { gitea } from '../../src/webhooks/gitea.ts'
import { github } from '../../src/webhooks/github.ts'
import { gitlab } from '../../src/webhooks/gitlab.ts'
import { aPull } from '../previews/pulls.ts'
import { aProject, aReceiver, inbox, post, sent } from './senders.ts'

const head = 'ec26c3e57ca3a959ca5aad62de7213c562f8c821'

/** With the fields of https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request. */
const ofGithub = ({
  action = 'opened',
  repo = { id: 186853002 } as object | null,
  more = {},
} = {}) => ({
  action,
  number: 2,
  pull_request: {
    ...{ url: 'https://api.github.com/repos/Codertocat/Hello-World/pulls/2', id: 279147437 },
    html_url: 'https://github.com/Codertocat/Hello-World/pull/2',
    ...{ number: 2, state: action === 'closed' ? 'closed' : 'open', locked: false },
    updated_at: '2019-05-15T15:20:33Z',
    ...{ title: 'Update the README with new information.', draft: true, merged: false },
    head: { label: 'Codertocat:changes', ref: 'changes', sha: head, user: {}, repo },
    base: { label: 'Codertocat:master', ref: 'master', sha: 'f95f852', repo: { id: 186853002 } },
    ...more,
  },
  repository: { id: 186853002, full_name: 'Codertocat/Hello-World' },
  sender: { login: 'Codertocat', id: 21031067 },
})

/** With the fields of https://docs.gitea.com/usage/webhooks and Forgejo's, which are the same. */
const ofGitea = ({ action = 'opened', more = {} } = {}) => ({
  action,
  number: 3,
  pull_request: {
    ...{ id: 9, number: 3, title: 'Fix it', state: action === 'closed' ? 'closed' : 'open' },
    ...{
      html_url: 'https://gitea.example.com/gitea/webhooks/pulls/3',
      merged: false,
      updated_at: '2019-05-15T17:20:33+02:00',
      is_locked: false,
    },
    base: { label: 'main', ref: 'main', sha: 'f95f852', repo_id: 140, repo: { id: 140 } },
    head: { label: 'fix', ref: 'fix', sha: head, repo_id: 140, repo: { id: 140 } },
    ...more,
  },
  repository: { id: 140, full_name: 'gitea/webhooks' },
  sender: { id: 1, login: 'gitea', username: 'gitea' },
  review: null,
})

/** With the fields of https://docs.gitlab.com/user/project/integrations/webhook_events/#merge-request-events. */
const ofGitlab = (more: Record<string, unknown> = {}) => ({
  object_kind: 'merge_request',
  event_type: 'merge_request',
  user: { id: 1, name: 'Administrator', username: 'root' },
  project: { id: 1, path_with_namespace: 'gitlabhq/gitlab-test' },
  object_attributes: {
    ...{ id: 99, iid: 4, target_branch: 'main', source_branch: 'ms-viewport' },
    ...{ source_project_id: 1, target_project_id: 1, title: 'MS-Viewport', state: 'opened' },
    updated_at: '2013-12-03 17:23:34 UTC',
    ...{
      url: 'https://gitlab.example.com/gitlabhq/gitlab-test/-/merge_requests/4',
      action: 'open',
    },
    last_commit: { id: head, message: 'fixed readme', url: 'https://gitlab.example.com/x' },
    ...more,
  },
  labels: [],
})

const read = {
  github: (payload: object) => github.pulls.read(payload),
  gitea: (payload: object) => gitea.pulls.read(payload),
  gitlab: (payload: object) => gitlab.pulls.read(payload),
}

test('the pull request of each provider is read', () => {
  expect(read.github(ofGithub())).toEqual({
    ...{ action: 'opened', number: 2, title: 'Update the README with new information.' },
    url: 'https://github.com/Codertocat/Hello-World/pull/2',
    ...{ branch: 'changes', ref: 'refs/pull/2/head', commit: head },
    ...{ isFork: false, sender: 'Codertocat', updatedAt: Date.UTC(2019, 4, 15, 15, 20, 33) },
  })
  expect(read.gitea(ofGitea())).toEqual({
    ...{ action: 'opened', number: 3, title: 'Fix it' },
    url: 'https://gitea.example.com/gitea/webhooks/pulls/3',
    ...{ branch: 'fix', ref: 'refs/pull/3/head', commit: head, isFork: false, sender: 'gitea' },
    updatedAt: Date.UTC(2019, 4, 15, 15, 20, 33),
  })
  expect(read.gitlab(ofGitlab())).toEqual({
    ...{ action: 'opened', number: 4, title: 'MS-Viewport' },
    url: 'https://gitlab.example.com/gitlabhq/gitlab-test/-/merge_requests/4',
    ...{ branch: 'ms-viewport', ref: 'refs/merge-requests/4/head', commit: head },
    ...{ isFork: false, sender: 'root', updatedAt: Date.UTC(2013, 11, 3, 17, 23, 34) },
  })
})

test.each<[string, object | string | null, string | undefined]>([
  ['GitHub, pushed to', read.github(ofGithub({ action: 'synchronize' })), 'pushed'],
  ['GitHub, reopened', read.github(ofGithub({ action: 'reopened' })), 'reopened'],
  ['GitHub, closed', read.github(ofGithub({ action: 'closed' })), 'closed'],
  ['GitHub, merged', read.github(ofGithub({ action: 'closed', more: { merged: true } })), 'closed'],
  ['GitHub, labeled', read.github(ofGithub({ action: 'labeled' })), undefined],
  ['GitHub, ready', read.github(ofGithub({ action: 'ready_for_review' })), undefined],
  ['Gitea, pushed to', read.gitea(ofGitea({ action: 'synchronized' })), 'pushed'],
  ['Gitea, closed', read.gitea(ofGitea({ action: 'closed' })), 'closed'],
  ['Gitea, labeled', read.gitea(ofGitea({ action: 'label_updated' })), undefined],
  [
    'GitLab, pushed to',
    read.gitlab(ofGitlab({ action: 'update', oldrev: 'a'.repeat(40) })),
    'pushed',
  ],
  ['GitLab, retitled', read.gitlab(ofGitlab({ action: 'update' })), undefined],
  ['GitLab, reopened', read.gitlab(ofGitlab({ action: 'reopen' })), 'reopened'],
  ['GitLab, closed', read.gitlab(ofGitlab({ action: 'close', state: 'closed' })), 'closed'],
  ['GitLab, merged', read.gitlab(ofGitlab({ action: 'merge', state: 'merged' })), 'closed'],
  ['GitLab, approved', read.gitlab(ofGitlab({ action: 'approved' })), undefined],
  [
    'GitLab, pushed to while closed',
    read.gitlab(ofGitlab({ action: 'update', oldrev: 'a'.repeat(40), state: 'closed' })),
    undefined,
  ],
])('%s', (_, pull, action) => {
  if (action === undefined) expect(pull).toBeString()
  else expect(pull).toMatchObject({ action })
})

test('one of another repository is of a fork, also once that was deleted', () => {
  expect(read.github(ofGithub({ repo: { id: 1 } }))).toMatchObject({ isFork: true })
  expect(read.github(ofGithub({ repo: null }))).toMatchObject({ isFork: true })
  const ofFork = { head: { ref: 'fix', sha: head, repo: { id: 2 } } }
  expect(read.gitea(ofGitea({ more: ofFork }))).toMatchObject({ isFork: true })
  for (const source_project_id of [2, null])
    expect(read.gitlab(ofGitlab({ source_project_id }))).toMatchObject({ isFork: true })
})

test('one that was pushed for review, without a branch, is treated as of a fork', () => {
  const ofReview = {
    label: '',
    ref: 'refs/pull/3/head',
    sha: head,
    repo_id: 140,
    repo: { id: 140 },
  }
  expect(read.gitea(ofGitea({ more: { head: ofReview } }))).toMatchObject({ isFork: true })
})

describe('of what is hostile', () => {
  test.each<[string, object]>([
    ['a script as address', { html_url: 'javascript:alert(1)' }],
    ['another protocol', { html_url: 'ftp://example.com/1' }],
    ['a long address', { html_url: `https://example.com/${'a'.repeat(3000)}` }],
    ['a number that is none', { number: 2 ** 53 }],
    ['a large number', { number: 2 ** 31 }],
    ['no number', { number: 0 }],
    ['a fraction', { number: 1.5 }],
    ['a text for a number', { number: '1' }],
    [
      'a branch that is an option',
      { head: { ref: '--upload-pack=x', sha: head, repo: { id: 186853002 } } },
    ],
    ['a branch with a line', { head: { ref: 'a\nb', sha: head, repo: { id: 186853002 } } }],
    ['a short commit', { head: { ref: 'a', sha: 'abc', repo: { id: 1 } } }],
    ['a list for a title', { title: ['a'] }],
    ['no head', { head: null }],
  ])('%s is refused', (_, more) => {
    expect(read.github(ofGithub({ more }))).toBeNull()
  })

  test('the branch of a fork isn’t read, whatever its name', () => {
    const more = { head: { ref: '--upload-pack=x', sha: head, repo: { id: 1 } } }
    expect(read.github(ofGithub({ more }))).toMatchObject({ isFork: true, branch: null })
    const merge = { source_branch: 'a..b', source_project_id: 2 }
    expect(read.gitlab(ofGitlab(merge))).toMatchObject({ isFork: true, branch: null })
  })

  test('a close needs nothing but the number', () => {
    const lost = { title: null, html_url: null, head: null }
    const closed = read.github(ofGithub({ action: 'closed', more: lost }))
    expect(closed).toMatchObject({ action: 'closed', number: 2, ref: 'refs/pull/2/head' })
    const merge = { action: 'close', source_branch: 'a..b', last_commit: null, url: null }
    expect(read.gitlab(ofGitlab(merge))).toMatchObject({ action: 'closed', number: 4 })
  })

  test('a title is one line of at most 250 characters', () => {
    const title = `a\nb\u2028c\u0000${'x'.repeat(10_000)}`
    const { title: kept } = read.github(ofGithub({ more: { title } })) as { title: string }
    expect(kept).toMatch(/^a b c x{100,}$/)
    expect(kept.length).toBeLessThanOrEqual(250)
  })

  test('a signed event that can’t be used is answered as ignored, and nothing is made', async () => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    await t.owner.put(`/projects/${id}/previews`, { enabled: true })
    const headers = { 'X-GitHub-Event': 'pull_request' }
    const wrong = sent.github(aPull({ number: 2 ** 53 }), { headers })
    const { status, json } = await post(t, wrong)
    expect([status, json.deployments]).toEqual([200, []])
    const forged = sent.github(aPull(), { headers, key: 'not the secret of it' })
    expect((await post(t, forged)).status).toBe(401)
    const other = { full_name: 'eve/other', clone_url: 'https://git.example.com/eve/other.git' }
    expect((await post(t, sent.github(aPull({ repository: other }), { headers }))).status).toBe(401)
    expect(inbox(t, id).map(({ decision }) => decision)).toEqual(['ignored', 'refused'])
    expect((await t.owner.get(`/projects/${id}/envs`)).json.items).toBeArrayOfSize(1)
  })

  test('a long description is read like a short one', async () => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    await t.owner.put(`/projects/${id}/previews`, { enabled: true })
    const { pull_request, ...pull } = aPull()
    const long = { ...pull, pull_request: { ...pull_request, body: 'x'.repeat(200_000) } }
    const headers = { 'X-GitHub-Event': 'pull_request' }
    expect((await post(t, sent.github(long, { headers }))).status).toBe(202)
  })

  test('a delivery is taken once, however often it is sent', async () => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    await t.owner.put(`/projects/${id}/previews`, { enabled: true })
    const headers = { 'X-GitHub-Event': 'pull_request', 'X-GitHub-Delivery': 'the same' }
    const delivery = sent.github(aPull(), { headers })
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(t, delivery)))
    expect(answers.filter(({ status }) => status === 202)).toBeArrayOfSize(1)
    expect((await t.owner.get(`/projects/${id}/deployments`)).json.items).toBeArrayOfSize(1)
  })
})
