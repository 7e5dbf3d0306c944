import { describe, expect, test } from 'bun:test'
import { github } from '../../src/webhooks/github.ts'
import { gitlab } from '../../src/webhooks/gitlab.ts'
import {
  aGitlabPush,
  aProject,
  aPush,
  aReceiver,
  countDeployments,
  inbox,
  post,
  sent,
} from './senders.ts'

type ProviderName = keyof typeof sent

const hello = aPush().repository
const gitlabProject = {
  path_with_namespace: hello.full_name,
  git_http_url: hello.clone_url,
  default_branch: 'main',
}

/** Of each provider's documentation: what a webhook of a repository sends besides pushes. */
const ofRepositories: Record<ProviderName, string[]> = {
  github: [
    ...['branch_protection_rule', 'code_scanning_alert', 'create'],
    ...['commit_comment', 'delete', 'dependabot_alert', 'deploy_key', 'deployment', 'discussion'],
    ...['deployment_status', 'fork', 'gollum', 'issue_comment', 'issues', 'label', 'member'],
    ...['merge_group', 'meta', 'milestone', 'package', 'page_build', 'ping', 'public', 'star'],
    ...['pull_request_review', 'pull_request_review_comment', 'registry_package'],
    ...['release', 'repository', 'repository_dispatch', 'repository_import', 'repository_ruleset'],
    ...['repository_vulnerability_alert', 'secret_scanning_alert', 'sub_issues'],
    ...['team_add', 'watch', 'workflow_dispatch', 'workflow_job'],
  ],
  gitlab: [
    ...['Issue Hook', 'Confidential Issue Hook', 'Work Item Hook', 'Note Hook'],
    ...['Confidential Note Hook', 'Wiki Page Hook'],
    ...['Deployment Hook', 'Feature Flag Hook', 'Release Hook', 'Emoji Hook', 'Milestone Hook'],
    ...['Resource Access Token Hook', 'Vulnerability Hook', 'System Hook'],
  ],
  gitea: [
    ...['create', 'delete', 'fork', 'issues', 'issue_comment', 'wiki', ''],
    ...['pull_request_approved', 'pull_request_rejected', 'pull_request_comment', 'repository'],
    ...['release', 'package', 'schedule', 'workflow_job'],
  ],
}

/** And what belongs to no repository: of an organisation, an app, a group or a whole server. */
const ofOthers: [ProviderName, string, object][] = [
  ['github', 'ping', { zen: 'Keep it short.', hook_id: 1, organization: { login: 'gordon' } }],
  ['github', 'ping', { zen: 'Keep it short.', hook_id: 1, hook: { type: 'App', app_id: 1 } }],
  ['github', 'installation', { action: 'created', repositories: [{ full_name: 'a/b' }] }],
  ['github', 'installation_repositories', { action: 'added', repositories_added: [] }],
  ['github', 'installation_target', { action: 'renamed', target_type: 'User' }],
  ['github', 'github_app_authorization', { action: 'revoked', sender: { login: 'gordon' } }],
  ['github', 'organization', { action: 'member_added', organization: { login: 'gordon' } }],
  ['github', 'org_block', { action: 'blocked', organization: { login: 'gordon' } }],
  ['github', 'membership', { action: 'added', team: { name: 'x' } }],
  ['github', 'team', { action: 'created', team: { name: 'x' } }],
  ['github', 'meta', { action: 'deleted', hook_id: 1, hook: { type: 'Organization' } }],
  ['github', 'marketplace_purchase', { action: 'purchased' }],
  ['github', 'sponsorship', { action: 'created' }],
  ['github', 'security_advisory', { action: 'published' }],
  ['github', 'personal_access_token_request', { action: 'created' }],
  ['github', 'projects_v2_item', { action: 'edited' }],
  ['github', 'custom_property', { action: 'created' }],
  ['github', 'secret_scanning_scan', { type: 'organization' }],
  [
    'gitlab',
    'Job Hook',
    { object_kind: 'build', ref: 'main', project_id: 380, project_name: 'gordon / hello-world' },
  ],
  [
    'gitlab',
    'Job Hook',
    {
      object_kind: 'build',
      project_id: 380,
      repository: { name: 'hello-world', git_http_url: hello.clone_url },
    },
  ],
  ['gitlab', 'Build Hook', { object_kind: 'build', project_id: 380 }],
  ['gitlab', 'System Hook', { event_name: 'project_create', path_with_namespace: 'a/b' }],
  ['gitlab', 'System Hook', { event_name: 'user_create', username: 'gordon' }],
  ['gitlab', 'System Hook', { event_name: 'key_create', username: 'gordon' }],
  ['gitlab', 'System Hook', { event_name: 'group_create', group_id: 1 }],
  ['gitlab', 'Member Hook', { event_name: 'user_add_to_group', group_id: 1 }],
  ['gitlab', 'Subgroup Hook', { event_name: 'subgroup_create', group_id: 1 }],
  ['gitlab', 'Project Hook', { event_name: 'project_create', project_id: 1 }],
  ['gitlab', 'Resource Access Token Hook', { object_kind: 'access_token', group: { group_id: 1 } }],
  ['gitlab', 'Vulnerability Hook', { object_kind: 'vulnerability', object_attributes: {} }],
  ['gitlab', 'Issue Hook', { object_kind: 'work_item', project: null }],
  ['gitea', '', { action: 'created', repository: null, package: { name: 'x' } }],
  ['gitea', 'package', { action: 'created', repository: null, package: { name: 'x' } }],
  ['gitea', 'repository', { action: 'deleted', repository: null }],
  ['gitea', 'action_run_failure', { run: { id: 1 } }],
]

const headerOf = { github: 'X-GitHub-Event', gitlab: 'X-Gitlab-Event', gitea: 'X-Gitea-Event' }
const named = (event: string) => (event === '' ? 'An event without a name' : `The event ${event}`)

describe.each(Object.keys(ofRepositories) as ProviderName[])('of %s', (provider) => {
  const payload = { action: 'x', repository: hello, project: gitlabProject }

  test.each(ofRepositories[provider])(
    'the event “%s” of a repository is ignored',
    async (event) => {
      const t = aReceiver()
      const { id } = await aProject(t.owner)
      const headers = { [headerOf[provider]]: event }
      const { status, json } = await post(t, sent[provider](payload, { headers }))
      const reason = event === 'ping' ? 'The webhook is set up.' : `${named(event)} isn’t a push.`
      expect({ status, json }).toEqual({ status: 200, json: { deployments: [], reason } })
      expect(inbox(t, id)).toMatchObject([{ decision: 'ignored', signature_ok: 1 }])
      const forged = sent[provider](payload, { headers, key: 'not the secret of it' })
      expect((await post(t, forged)).status).toBe(401)
    },
  )
})

test.each(ofOthers)(
  'of %s the event “%s” that names no repository is ignored: %j',
  async (provider, event, payload) => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    const headers = { [headerOf[provider]]: event }
    for (const key of ['the secret of an organisation', undefined]) {
      const delivery = sent[provider](payload, { headers, ...(key !== undefined && { key }) })
      const { status, json } = await post(t, delivery)
      const reason = `${named(event)} names no repository.`
      expect({ status, json }).toEqual({
        status: 200,
        json: { deployments: [], reason, ignored: true },
      })
    }
    expect(inbox(t, id)).toEqual([])
    expect(countDeployments(t)).toBe(0)
  },
)

describe('a pushed tag', () => {
  const tag = (changes: object = {}) => aPush({ ref: 'refs/tags/v1.0.0', ...changes })
  const pushes: [ProviderName, object, Record<string, string>][] = [
    ['github', tag(), {}],
    ['gitea', tag(), {}],
    [
      'gitlab',
      { ...tag(), object_kind: 'tag_push', project: gitlabProject },
      { 'X-Gitlab-Event': 'Tag Push Hook' },
    ],
  ]

  test.each(pushes)(
    'of %s deploys what follows a name like it',
    async (provider, push, headers) => {
      const t = aReceiver()
      await aProject(t.owner, { branch: 'v1.0.0' })
      await aProject(t.owner, { branch: 'main' })
      await aProject(t.owner, { branch: null })
      const { status, json } = await post(t, sent[provider](push, { headers }))
      expect(status).toBe(202)
      // by its name: what it points at may be an annotated tag, which is no commit
      expect(json.deployments).toMatchObject([{ branch: 'v1.0.0', commit: { hash: null } }])
      expect(countDeployments(t)).toBe(1)
    },
  )

  test('that was deleted, or that nothing follows, is ignored', async () => {
    const t = aReceiver()
    await aProject(t.owner, { branch: 'v1.0.0' })
    const deleted = await post(t, sent.github(tag({ after: '0'.repeat(40) })))
    expect(deleted).toMatchObject({ status: 200, json: { reason: 'The tag v1.0.0 was deleted.' } })
    const other = await post(t, sent.github(tag({ ref: 'refs/tags/v2' })))
    expect(other.json.reason).toBe('No environment follows the tag v2.')
    const neither = await post(t, sent.github(tag({ ref: 'refs/notes/commits' })))
    expect(neither.json.reason).toBe('The pushed ref is neither a branch nor a tag.')
    expect(countDeployments(t)).toBe(0)
  })

  test('does not stand for the default branch of its name', async () => {
    const t = aReceiver()
    await aProject(t.owner, { branch: null })
    const push = tag({ ref: 'refs/tags/main' })
    expect((await post(t, sent.github(push))).json.reason).toContain('follows the tag main')
  })
})

describe('a push asks to be skipped', () => {
  const skipOf = (message: string) =>
    github.readPush(aPush({ head_commit: { id: 'x', message } }))!.skip

  test.each([
    ...['[skip ci]', '[ci skip]', '[no ci]', '[skip actions]', '[actions skip]', '[skip deploy]'],
    ...['[Skip-CI]', '[ci_skip]', '[CI Skip]', '[deploy skip]', '[skip cd]', '[no deploy]'],
    ...[
      'Fix ***NO_CI***',
      'Fix [no ci] it',
      'Fix\n\n\nskip-checks:true',
      'A\n\nskip-checks: true\n',
    ],
    `${'long '.repeat(1000)}\n\n[skip davit]`,
  ])('by %j', (message) => {
    expect(skipOf(message)).toBeString()
  })

  test.each([
    ...['skip ci', '[skip]', '[ci]', '[skip cia]', '[noci]', '(no ci)', 'Say [skip the ci]', ''],
    ...['skip-checks: false', 'x skip-checks: true', '[skip\nci]', 'NO_CI'],
  ])('not by %j', (message) => {
    expect(skipOf(message)).toBeNull()
  })

  test('by the push option of GitLab', () => {
    const skip = (push_options: unknown) =>
      gitlab.readPush({ ...aGitlabPush(), push_options })!.skip
    expect(skip({ ci: { skip: true } })).toBeString()
    for (const other of [{ ci: { skip: false } }, { ci: {} }, { mr: {} }, {}, null, 'x', undefined])
      expect(skip(other)).toBeNull()
  })

  test('when it is replayed, too', async () => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    const message = `${'long '.repeat(1000)}\n[no ci]`
    const { json } = await post(t, sent.github(aPush({ head_commit: { id: 'x', message } })))
    expect(json.reason).toContain('[no ci]')
    const [{ id: delivery }] = inbox(t, id) as [{ id: string }]
    expect((await t.owner.post(`/projects/${id}/deliveries/${delivery}/replay`)).status).toBe(409)
  })
})

test('a push deploys nothing that is promoted from another environment', async () => {
  const t = aReceiver()
  const { id } = await aProject(t.owner, { branch: 'main' })
  const [{ id: first }] = (await t.owner.get(`/projects/${id}/envs`)).json.items
  await t.owner.post(`/projects/${id}/envs`, { name: 'promoted', promoteFrom: first })
  const { deployments } = (await post(t, sent.github(aPush()))).json
  expect(deployments).toMatchObject([{ environmentId: first }])
  expect(deployments).toBeArrayOfSize(1)
})

test.each<[ProviderName, string[]]>([
  ['github', ['check_run', 'check_suite', 'status', 'workflow_run']],
  ['gitlab', ['Pipeline Hook', 'Job Hook']],
  ['gitea', ['status', 'workflow_run']],
])(
  'events of %s about checks are not kept, and a forged one is refused',
  async (provider, events) => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    const payload = { sha: 'c'.repeat(40), repository: hello, project: gitlabProject }
    for (const event of events) {
      const headers = { [headerOf[provider]]: event }
      const { status, json } = await post(t, sent[provider](payload, { headers }))
      expect([status, json.deployments]).toEqual([200, []])
      expect(json.reason).toContain('no commit that waits')
      expect(inbox(t, id).filter(({ signature_ok }) => signature_ok === 1)).toEqual([])
      const forged = sent[provider](payload, { headers, key: 'not the secret of it' })
      expect((await post(t, forged)).status).toBe(401)
    }
  },
)
