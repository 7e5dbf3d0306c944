import { expect, test } from 'bun:test'
import { aProject, aPush, aReceiver, post, secret, sent, unreachable } from './senders.ts'

const other = 'another-secret-0123456789'

async function start() {
  const t = aReceiver()
  const web = await aProject(t.owner, { name: 'web' })
  const api = await aProject(t.owner, { name: 'api', webhookSecret: other })
  const watch = (project: { id: string }, watchPaths: string[]) =>
    t.owner.put(`/projects/${project.id}/settings`, { watchPaths })
  const inbox = async (project: { id: string }) =>
    (await t.owner.get(`/projects/${project.id}/deliveries`)).json.items
  return { t, web, api, watch, inbox }
}

const commit = (...modified: string[]) => ({ id: 'b'.repeat(40), message: 'x', modified })
const hash = (digit: string) => digit.repeat(40)

test('one delivery reaches all projects of the owner on the repository, each judged by its own paths', async () => {
  const { t, web, api, watch, inbox } = await start()
  await watch(web, ['apps/web', 'packages/ui'])
  await watch(api, ['apps/api'])
  const push = aPush({ commits: [commit('apps/api/x.ts')] })
  const { json } = await post(t, sent.github(push))
  expect(json.deployments.map(({ projectId }: any) => projectId)).toEqual([api.id])
  expect(await inbox(web)).toMatchObject([
    { decision: 'ignored', signatureOk: true, signedBy: null },
  ])
  expect(await inbox(api)).toMatchObject([{ decision: 'deployed', signedBy: web.id }])
  expect((await t.owner.page(`/projects/${api.id}/deliveries`)).text).toMatch(
    /through the webhook of\s*<bdi>web<\/bdi>/,
  )
})

test('each is judged by its own branch', async () => {
  const { t, web, api } = await start()
  await t.owner.put(`/projects/${api.id}`, { branch: 'release' })
  const reached = async (ref: string) =>
    (await post(t, sent.github(aPush({ ref })))).json.deployments.map(
      ({ projectId }: any) => projectId,
    )
  expect(await reached('refs/heads/release')).toEqual([api.id])
  expect(await reached('refs/heads/main')).toEqual([web.id])
})

test('neither another owner’s project, nor one of another repository, gets it', async () => {
  const { t, inbox } = await start()
  const bob = t.logIn('bob@example.com')
  const foreign = await aProject(bob, { webhookSecret: other })
  const elsewhere = await aProject(t.owner, {
    repositoryUrl: unreachable.replace('git.', 'mirror.'),
    webhookSecret: 'third-secret-0123456789',
  })
  await post(t, sent.github(aPush()))
  expect((await bob.get(`/projects/${foreign.id}/deliveries`)).json.items).toEqual([])
  expect(await inbox(elsewhere)).toEqual([])
})

test('two webhooks deploy a push once, in any order, and again when the branch comes back to it', async () => {
  const { t, web, api, inbox } = await start()
  const send = (after: string, by: string) =>
    post(t, sent.gitea(aPush({ after: hash(after) }), { key: by }))
  for (const [after, by] of [
    ['1', secret],
    ['2', secret],
    ['1', other],
    ['1', secret],
    ['2', other],
    ['1', other],
  ] as const)
    await send(after, by)
  for (const project of [web, api]) {
    const decided = (await inbox(project)).reverse()
    expect(decided.map(({ decision }: any) => decision)).toEqual([
      ...['deployed', 'deployed', 'ignored', 'deployed', 'ignored', 'ignored'],
    ])
  }
})
