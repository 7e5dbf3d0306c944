import { expect, onTestFinished, spyOn, test } from 'bun:test'
import { deployments, gitSources, outbox } from '../../src/db/schema.ts'
import { statusHandler } from '../../src/deployments/commit-status.ts'
import { queueStatus } from '../../src/deployments/status-store.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { Outbox } from '../../src/notifications/outbox.ts'
import { journal } from '../../src/platform/journal.ts'
import { Scheduler } from '../../src/platform/scheduler.ts'
import { addSource } from '../git/source.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { until } from '../support/until.ts'

/** A commit that Gitea knows as pending, and that runs by now; and what sends its status. */
async function running() {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const server = startProviderServer('gitea')
  onTestFinished(server.stop)
  const { statuses } = server.add({ fullName: 'team/app' })
  const sourceId = await addSource(ada, server)
  async function deployed(name: string) {
    const { json: project } = await ada.post('/projects', {
      ...{ name, sourceId, repository: 'team/app' },
    })
    const { id: environmentId } = (await ada.get(`/projects/${project.id}/envs`)).json.items[0]
    const { id } = insertDeployment(t.db, {
      ...{
        projectId: project.id,
        environmentId,
        trigger: 'manual',
        triggeredBy: 'ada@example.com',
      },
      ...{ repositoryUrl: project.repositoryUrl, commitHash: 'a'.repeat(40) },
      ...{ status: 'running', commitStatus: 'pending' },
    })
    return { project, queue: () => queueStatus(t.db, id) }
  }
  const { project, queue } = await deployed('site')
  const row = () => t.db.select().from(outbox).get()
  const stored = () => t.db.select().from(deployments).get()!.commitStatus
  const askAt = (baseUrl: string) => t.db.update(gitSources).set({ baseUrl }).run()
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const sender = new Outbox({ db: t.db, scheduler: new Scheduler() })
  sender.handle('commit_status', async () => statusHandler(t.deps))
  t.db.$client.onWrite = sender.wake
  void sender.run(stop)
  return { server, statuses, project, row, stored, askAt, queue, sender, deployed }
}

test('a status is kept while the DNS fails, and sent once it works', async () => {
  const { server, statuses, row, stored, askAt, queue, sender } = await running()
  askAt('https://gitea.invalid')
  queue()
  await until(() => row()?.status !== 'sending' && row()?.tries !== 0)
  expect(row()).toMatchObject({ status: 'waiting', tries: 1 })
  expect(stored()).toBe('pending')
  askAt(server.baseUrl)
  sender.retryNow(row()!.lane)
  await until(() => row() === undefined)
  expect(statuses.map(({ state }) => state)).toEqual(['success'])
  expect(stored()).toBe('success')
})

test('a status waits for those of its own project only', async () => {
  const { project, row, askAt, queue } = await running()
  askAt('https://gitea.invalid')
  queue()
  expect(row()!.lane).toBe(project.id)
})

test('of two projects of a repository none overwrites what the other says of a commit', async () => {
  const { statuses, row, queue, deployed } = await running()
  const other = await deployed('api')
  for (const one of [queue, other.queue]) {
    one()
    await until(() => row() === undefined)
  }
  expect(statuses.map(({ context }) => context)).toEqual([
    'davit/production',
    'davit/api/production',
  ])
})

test('a status that is refused for good is in the journal, also after another was accepted', async () => {
  const { server, row, stored, queue } = await running()
  using warn = spyOn(journal, 'warn').mockImplementation(() => {})
  server.tokens.clear()
  queue()
  await until(() => row() === undefined)
  expect(stored()).toBe('success') // it isn't sent again
  expect(warn.mock.calls.map(([what]) => what)).toEqual(['a commit status was refused'])
})
