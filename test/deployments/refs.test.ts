import { describe, expect, onTestFinished, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { simulatedApp, withAda } from '../support/app.ts'
import { git, startGitServer } from '../support/git-server.ts'
import { anApp, aProject, finished } from './apps.ts'
import { post as deliver, sent } from '../webhooks/senders.ts'

/** A project over smart HTTP on the simulated engine, whose environment has these settings. */
async function following(settings: Record<string, unknown>) {
  const { t, ada } = withAda(simulatedApp())
  const server = startGitServer(join(t.dataDir, 'repositories'))
  onTestFinished(() => server.stop())
  const url = `${server.url}site.git`
  const { repository, ...project } = await aProject(t, ada, anApp('first'), { url, ...settings })
  const env = `/projects/${project.id}/envs/${project.environmentId}`
  const tag = (name: string, ...options: string[]) =>
    git(repository.path, ['tag', ...options, name])
  const branch = (name: string) => git(repository.path, ['branch', '--force', name])
  const refs = async () => {
    const { status, json } = await ada.get(`${env}/refs`)
    expect(status).toBe(200)
    return json.items.map(({ type, name }: any) => `${type} ${name}`)
  }
  const push = async (ref: string, after: string, more: object = {}) => {
    const names = { full_name: 'team/site', clone_url: url, default_branch: 'main' }
    const payload = { ref, before: 'a'.repeat(40), after, repository: names, ...more }
    return (await deliver(t, sent.github(payload))).json
  }
  await ada.put(`/projects/${project.id}/settings`, { webhookSecret: 'test-secret-0123456789' })
  return { t, ada, project, repository, env, tag, branch, refs, push, server }
}

describe('with a pattern', () => {
  test('a deployment by hand names a ref, from a list of those that match', async () => {
    const { ada, project, repository, env, tag, branch, refs } = await following({
      ...{ branch: 'release/*', tags: 'v[0-9]*' },
    })
    for (const name of ['release/2', 'release/10', 'feature']) branch(name)
    for (const name of ['v1.9', 'v1.10', 'nightly']) tag(name)
    expect(await refs()).toEqual(['branch release/10', 'branch release/2', 'tag v1.10', 'tag v1.9'])

    const path = `/projects/${project.id}/deployments`
    const refused = await ada.post(path, {})
    expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'branch'])
    const asked = await ada.form(path, { environment_id: project.environmentId })
    expect([asked.status, asked.headers.get('Location')]).toEqual([303, `${env}/refs`])
    const { text: page } = await ada.page(`${env}/refs`)
    expect(page).toContain('<option value="v1.10">')
    expect(page).not.toContain('nightly')

    const both = await ada.post(path, { branch: 'release/2', tag: 'v1.9' })
    expect([both.status, both.json.errors[0].field]).toEqual([422, 'tag'])
    const deployed = await project.deploy({ tag: 'v1.10' })
    expect(deployed).toMatchObject({ status: 'running', branch: 'v1.10', refType: 'tag' })
    expect(deployed.commit.hash).toBe(repository.head)
    expect((await ada.page(`${path}/${deployed.id}`)).text).toContain('Tag')
    expect(await project.deploy({ branch: 'release/2' })).toMatchObject({ refType: 'branch' })
  })

  test('a pushed tag deploys the tag’s commit, though a branch has its name', async () => {
    const { ada, repository, tag, branch, push, refs } = await following({ tags: 'v*' })
    const tagged = repository.head
    tag('v1', '--annotate', '--message=One')
    const newer = repository.commit(anApp('newer'))
    branch('v1')
    expect(await refs()).toEqual(['tag v1'])
    const object = git(repository.path, ['rev-parse', 'refs/tags/v1']).trim()
    expect(object).not.toBe(tagged)

    // GitHub names the tag object, and its commit as the head
    const [byCommit] = (await push('refs/tags/v1', object, { head_commit: { id: tagged } }))
      .deployments
    expect(await finished(ada, byCommit)).toMatchObject({
      ...{ status: 'running', branch: 'v1', refType: 'tag', commit: { hash: tagged } },
    })
    const [byName] = (await push('refs/tags/v1', object)).deployments
    expect(await finished(ada, byName)).toMatchObject({ refType: 'tag', commit: { hash: tagged } })
    const other = await push('refs/heads/v1', newer)
    expect(other.deployments).toEqual([])
  })

  test('of two pushes in one moment the newer ref is deployed, of another branch too', async () => {
    const { ada, t, repository, branch, push, project } = await following({ branch: 'release/*' })
    branch('release/1')
    const first = await push('refs/heads/release/1', repository.head)
    const newer = repository.commit(anApp('newer'))
    branch('release/2')
    const second = await push('refs/heads/release/2', newer)
    const [a, b] = [first, second].map(({ deployments }) => deployments[0])
    t.deps.jobs.wake()
    expect(await finished(ada, b)).toMatchObject({ branch: 'release/2', status: 'running' })
    expect((await ada.get(`/projects/${project.id}/deployments/${a.id}`)).json.status).toBe(
      'superseded',
    )
    // a force push to an older commit is a push like others, and a deletion is none
    const forced = await push('refs/heads/release/2', repository.head, { forced: true })
    expect((await finished(ada, forced.deployments[0])).commit.hash).toBe(repository.head)
    const deleted = await push('refs/heads/release/2', '0'.repeat(40), { deleted: true })
    expect(deleted.deployments).toEqual([])
  })

  test('a branch that was deleted meanwhile fails by its name', async () => {
    const { project, branch } = await following({ branch: 'release/*' })
    branch('release/1')
    const gone = await project.deploy({ branch: 'release/2' })
    expect(gone).toMatchObject({ status: 'failed', error: { code: 'unknown_branch' } })
    expect(gone.error.message).toContain('release/1')
  })
})

test('of 10,000 tags the highest are listed, and odd names are only text', async () => {
  const { ada, project, repository, env, refs } = await following({ tags: '**' })
  const { head } = repository
  const odd = ['w"><script>alert(1)</script>', "w';id;'", 'w$(id)', 'w|x', 'wé😀', '--w']
  const many = Array.from({ length: 10_000 }, (_, i) => `v1.${i}`)
  const lines = [...many, ...odd].toSorted().map((name) => `${head} refs/tags/${name}\n`)
  writeFileSync(
    join(repository.path, 'packed-refs'),
    `# pack-refs with: sorted \n${lines.join('')}`,
  )
  const listed = await refs()
  expect(listed).toBeArrayOfSize(500)
  expect(listed).toContain('tag v1.9999')
  expect(listed).not.toContain('tag --w')
  const { text } = await ada.page(`${env}/refs`)
  expect(text).not.toContain('<script>alert')
  expect(text).toContain('Only 500 are listed.')
  for (const tag of odd.slice(0, -1)) {
    const { status, branch, commit } = await project.deploy({ tag })
    expect({ status, branch, hash: commit.hash }).toEqual({
      status: 'running',
      branch: tag,
      hash: head,
    })
  }
  const option = await ada.post(`/projects/${project.id}/deployments`, { tag: '--w' })
  expect([option.status, option.json.errors[0].field]).toEqual([422, 'tag'])
})

test('a repository that can’t be listed still gets the form, and an error as JSON', async () => {
  const { ada, env, server } = await following({ tags: 'v*' })
  server.mode = { status: 500 }
  expect((await ada.get(`${env}/refs`)).status).toBe(502)
  expect((await ada.page(`${env}/refs`)).text).toContain('name="tag"')
})

test('someone else’s environment has no list', async () => {
  const { t, env } = await following({ tags: 'v*' })
  expect((await t.logIn('eve@example.com').get(`${env}/refs`)).status).toBe(404)
})
