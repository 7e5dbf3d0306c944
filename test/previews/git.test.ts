import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { connectGit } from '../../src/git/git.ts'
import type { Git } from '../../src/git/git.ts'
import { updateProject } from '../../src/projects/store.ts'
import { anApp } from '../deployments/apps.ts'
import { aFolder } from '../support/folder.ts'
import { commitFiles, git, makeRepository, startGitServer } from '../support/git-server.ts'
import { until } from '../support/until.ts'
import { setUp } from './pulls.ts'

/** A repository at a git host, of which Davit deploys the pull requests on the simulated engine. */
async function aHost(settings: Record<string, unknown> = {}) {
  const folder = aFolder()
  const path = makeRepository(join(folder, 'served'), 'app.git')
  const server = startGitServer(join(folder, 'served'))
  onTestFinished(server.stop)
  const repositoryUrl = `${server.url}app.git`
  commitFiles(path, anApp('first'))
  const own = connectGit({
    ...{ dataDir: join(folder, 'data'), allowHosts: ['127.0.0.1'], allowLocalRepos: false },
  })
  /** Whether git got the project's key, by what it was asked for. */
  const keys = { fetch: [] as boolean[], context: [] as boolean[] }
  const spied: Git = {
    ...own,
    fetch: (what) => (keys.fetch.push(Boolean(what.deployKey)), own.fetch(what)),
    context: (snapshot, what) => (
      keys.context.push(Boolean(what.deployKey)),
      own.context(snapshot, what)
    ),
  }
  const s = await setUp(settings, { git: spied, jobsWait: false }, { repositoryUrl })
  const caches: (string | undefined)[] = []
  const { buildImage } = s.t.docker
  s.t.faults.buildImage = (options) => (caches.push(options.cacheNamespace), buildImage(options))
  const deployKeyPrivate = s.t.secrets.seal('a key', `deploy key ${s.project.id}`)
  updateProject(s.t.db, s.project.id, { deployKeyPrivate })
  /** A commit that only a ref of a pull request leads to, as of a fork. */
  const fork = (ref: string, text: string) => {
    const commit = commitFiles(path, anApp(text), { branch: 'of-the-fork' })
    git(path, ['update-ref', ref, commit])
    git(path, ['update-ref', '-d', 'refs/heads/of-the-fork'])
    return commit
  }
  const repository = { full_name: 'ada/app', clone_url: repositoryUrl }
  const tell = (changes: Parameters<typeof s.tell>[0]) => s.tell({ ...changes, repository })
  const last = async () => {
    s.t.jobs.wake() // a moment after the response, otherwise
    await s.t.jobs.idle()
    const [{ id }] = await s.deployments()
    return (await s.ada.get(`${s.path}/deployments/${id}`)).json
  }
  return { ...s, path, url: s.path, at: path, server, keys, caches, fork, tell, last }
}

test('the head of a branch’s pull request is deployed, also once another commit is its tip', async () => {
  const s = await aHost()
  const head = commitFiles(s.at, anApp('second'), { branch: 'add-page' })
  commitFiles(s.at, anApp('third'), { branch: 'add-page' })
  await s.tell({ head })
  expect(await s.last()).toMatchObject({ status: 'running', commit: { hash: head } })
  expect(s.keys).toEqual({ fetch: [true], context: [true] })
})

test.each(['serve', 'no hashes'] as const)(
  'the approved commit of a fork is fetched from the project’s repository, where git says “%s”',
  async (mode) => {
    const s = await aHost({ forks: 'approve' })
    s.server.mode = mode
    const head = s.fork('refs/pull/7/head', 'of a fork')
    await s.tell({ from: 43, head })
    await s.t.jobs.idle()
    expect(s.server.requests).toEqual([])
    const { id } = await s.find()
    expect((await s.ada.post(`${s.url}/envs/${id}/approve`, { commit: head })).status).toBe(201)
    expect(await s.last()).toMatchObject({
      ...{ status: 'running', branch: 'refs/pull/7/head', refType: 'pull', commit: { hash: head } },
    })
    expect(new Set(s.server.requests.map((path) => path.split('/')[1]))).toEqual(
      new Set(['app.git']),
    )
    expect(s.keys).toEqual({ fetch: [true], context: [false] })
  },
)

test('a build of a fork shares no cache mounts with those of its owner, and those of branches do', async () => {
  const s = await aHost({ forks: 'approve' })
  await s.tell({ number: 1, head: commitFiles(s.at, anApp('1'), { branch: 'add-page' }) })
  await s.last()
  await s.tell({ number: 2, head: commitFiles(s.at, anApp('2'), { branch: 'add-page' }) })
  await s.last()
  for (const number of [3, 4]) {
    const head = s.fork(`refs/pull/${number}/head`, `${number}`)
    await s.tell({ number, from: 43, head })
    const { id } = await s.find(`pr-${number}`)
    await s.ada.post(`${s.url}/envs/${id}/approve`, { commit: head })
    await s.last()
  }
  expect(s.caches[0]).toBe(s.caches[1])
  expect(new Set(s.caches).size).toBe(3)
})

test('a commit that was pushed over before it was fetched is not replaced by the new one', async () => {
  const s = await aHost({ forks: 'approve' })
  s.server.mode = 'no hashes'
  const head = s.fork('refs/pull/7/head', 'read by the owner')
  await s.tell({ from: 43, head })
  git(s.at, ['update-ref', '-d', 'refs/pull/7/head'])
  s.fork('refs/pull/7/head', 'not read by anyone')
  git(s.at, ['gc', '--quiet', '--prune=now'])
  const { id } = await s.find()
  await s.ada.post(`${s.url}/envs/${id}/approve`, { commit: head })
  expect(await s.last()).toMatchObject({ status: 'failed', error: { code: 'unknown_commit' } })
})

test('the first deployment waits until its fresh services have started', async () => {
  const s = await aHost({ services: 'fresh' })
  await s.link()
  await s.t.jobs.idle()
  const head = commitFiles(s.at, anApp('second'), { branch: 'add-page' })
  const begun = Promise.withResolvers<void>()
  const { startContainer } = s.t.docker
  s.t.faults.startContainer = async (...args) => {
    await begun.promise
    return startContainer(...args)
  }
  await s.tell({ head })
  const [{ id }] = await s.deployments()
  const lines = async () => {
    const { items } = (await s.ada.get(`${s.url}/deployments/${id}/logs?limit=100`)).json
    return items.map(({ text }: { text: string }) => text).join('\n')
  }
  await until(async () => (await lines()).includes('Waiting for the service main-pr-7'), 20)
  expect(s.server.requests).toEqual([])
  begun.resolve()
  expect(await s.last()).toMatchObject({ status: 'running' })
  expect(await s.services()).toMatchObject([{ name: 'main-pr-7', status: 'running' }, {}])
})
