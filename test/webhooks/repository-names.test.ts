import { describe, expect, test } from 'bun:test'
import { repositoryAddressOf } from '../../src/webhooks/repository-names.ts'
import {
  aProject,
  aPush,
  aReceiver,
  countDeployments,
  inbox,
  post,
  sent,
  unreachable,
} from './senders.ts'

describe('one repository', () => {
  test.each([
    'https://git.example.com/team/app',
    'https://git.example.com/team/app.git',
    'https://git.example.com/team/app/',
    'https://GIT.Example.com./Team/App.git',
    'https://someone@git.example.com/team/app.git',
    'https://oauth2:token@git.example.com/team/app.git',
    'http://git.example.com:3000/team/app',
    'git@git.example.com:team/app.git',
    'git@git.example.com:/team/app',
    'ssh://git@git.example.com:2222/team/app.git',
    'https://git.example.com/team/app?x=1',
  ])('%s', (address) => {
    expect(repositoryAddressOf(address)).toEqual({ host: 'git.example.com', path: 'team/app' })
  })

  test.each(['', 'team/app', 'javascript:alert(1)', 'https://', '--upload-pack=x', 'ext::sh -c x'])(
    'is not “%s”',
    (address) => expect(repositoryAddressOf(address)).toBeNull(),
  )
})

test.each([
  [
    'the address of a clone',
    'https://github.com/Team/app.git',
    { clone_url: 'https://github.com/team/app' },
  ],
  [
    'the address for ssh',
    'git@github.com:team/app.git',
    { clone_url: 'https://github.com/team/app.git' },
  ],
  [
    'the address of the page',
    'https://github.com/team/app',
    { html_url: 'https://github.com/team/app' },
  ],
  [
    'its name, on a host of another name',
    'http://gitea.internal:3000/team/app',
    { full_name: 'Team/app' },
  ],
  [
    'a path below another',
    'https://x.example/git/team/app',
    { clone_url: 'https://x.example/git/team/app.git', full_name: 'team/app' },
  ],
])('a project is found by %s', async (_, repositoryUrl, repository) => {
  const t = aReceiver()
  await aProject(t.owner, { repositoryUrl })
  await aProject(t.owner, { repositoryUrl: 'https://github.com/team/app2' })
  await aProject(t.owner, { repositoryUrl: 'https://github.com/other/team/app' })
  const { status, json } = await post(t, sent.github(aPush({ repository })))
  expect(status).toBe(202)
  expect(json.deployments).toHaveLength(1)
  expect(json.deployments[0].repositoryUrl).toBe(repositoryUrl)
})

test('a project is found by the repository of its source', async () => {
  const t = aReceiver()
  await aProject(t.owner, { repositoryUrl: 'https://git.example.com/sub/team/app.git' })
  t.db.$client.run("UPDATE projects SET repository = 'Team/App'")
  const repository = { full_name: 'team/app' }
  expect((await post(t, sent.github(aPush({ repository })))).status).toBe(202)
})

test('a bad signature is noted only where the address fits, not where the path alone does', async () => {
  const t = aReceiver()
  const named = await aProject(t.owner)
  const alike = await aProject(t.owner, { repositoryUrl: 'https://b.example/gordon/hello-world' })
  await post(t, sent.github(aPush(), { key: 'a-wrong-secret-0123' }))
  expect(inbox(t, named.id)).toHaveLength(1)
  expect(inbox(t, alike.id)).toHaveLength(0)
})

test('an address in the body is never what is cloned', async () => {
  const t = aReceiver()
  await aProject(t.owner)
  const evil = { clone_url: 'https://evil.example/x.git', html_url: 'https://evil.example/x' }
  const repository = { ...aPush().repository, ...evil, ssh_url: 'ssh://-oProxyCommand=x/y' }
  const { json } = await post(t, sent.github(aPush({ repository })))
  expect(json.deployments[0].repositoryUrl).toBe(unreachable)
  expect(JSON.stringify(json)).not.toContain('evil')
})

describe('several projects on one repository', () => {
  test('only the one whose secret signed deploys', async () => {
    const t = aReceiver()
    const ada = await aProject(t.owner)
    const bob = await aProject(t.logIn('bob@example.com'), { webhookSecret: 'the-secret-of-bob-1' })
    const { json } = await post(t, sent.github(aPush(), { key: 'the-secret-of-bob-1' }))
    expect(json.deployments).toMatchObject([{ projectId: bob.id }])
    expect(inbox(t, ada.id)).toEqual([])
    expect(inbox(t, bob.id)).toHaveLength(1)
  })

  test('with one secret all deploy, to every environment that follows the branch', async () => {
    const t = aReceiver()
    const one = await aProject(t.owner)
    const two = await aProject(t.owner, {
      repositoryUrl: 'git@git.example.com:gordon/hello-world.git',
    })
    await t.owner.post(`/projects/${one.id}/envs`, { name: 'staging' })
    await t.owner.post(`/projects/${one.id}/envs`, { name: 'preview', branch: 'dev' })
    await t.owner.post(`/projects/${two.id}/envs`, { name: 'manual', autoDeploy: false })
    const { json } = await post(t, sent.github(aPush()))
    const made = json.deployments.map(({ projectId }: { projectId: string }) => projectId).sort()
    expect(made).toEqual([one.id, one.id, two.id].sort())
    const dev = await post(t, sent.github(aPush({ ref: 'refs/heads/dev' })))
    expect(dev.json.deployments).toMatchObject([{ projectId: one.id, branch: 'dev' }])
    expect(countDeployments(t)).toBe(4)
  })

  test('who wrote the commit changes nothing', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    const author = { name: 'ada@example.com', email: 'ada@example.com', username: 'ada' }
    const commits = [{ id: 'b'.repeat(40), message: 'x', author, added: ['a'] }]
    const push = aPush({ commits, pusher: { name: 'mallory' } })
    expect((await post(t, sent.github(push, { key: 'a-wrong-secret-0123' }))).status).toBe(401)
    const { json } = await post(t, sent.github(push))
    expect(json.deployments[0].triggeredBy).toBe('mallory')
  })
})

test('a branch of no one is the default one, as the provider names it', async () => {
  const t = aReceiver()
  await aProject(t.owner, { branch: null })
  const push = aPush({ repository: { ...aPush().repository, default_branch: 'trunk' } })
  expect((await post(t, sent.github(push))).status).toBe(200)
  const { status, json } = await post(t, sent.github({ ...push, ref: 'refs/heads/trunk' }))
  expect(status).toBe(202)
  expect(json.deployments[0].branch).toBe('trunk')
})
