import { expect, test } from 'bun:test'
import { dropOldLogs } from '../../src/logs/retention.ts'
import { storedLines } from './stored-lines.ts'
import { LogWriter } from '../../src/logs/log-writer.ts'
import { insertDeployment, logOf } from '../../src/deployments/store.ts'
import type { Status } from '../../src/deployments/store.ts'
import { testApp, withAda } from '../support/app.ts'
import { anApp, aProject } from '../deployments/apps.ts'

const day = 24 * 3_600_000

async function aProjectWithLogs() {
  const { t, ada } = withAda(testApp({ DAVIT_LOG_DAYS: '14' }))
  const project = await aProject(t, ada, anApp('x'))
  /** A deployment that was begun so many days ago, and ended then unless it still goes on. */
  const aDeployment = (days: number, status: Status = 'failed') => {
    const at = new Date(Date.now() - days * day)
    const deployment = insertDeployment(t.db, {
      id: Bun.randomUUIDv7('hex', at.getTime()),
      projectId: project.id,
      environmentId: project.environmentId,
      status,
      trigger: 'manual',
      triggeredBy: 'ada@example.com',
      repositoryUrl: project.repository.url,
      createdAt: at,
      finishedAt: status === 'building' ? null : at,
    })
    const log = new LogWriter(t.deps, logOf(deployment))
    for (let line = 0; line < 3; line++) log.write(`line ${line}`)
    log.flush()
    return deployment.id
  }
  const lines = (deploymentId: string) =>
    storedLines(t.logDb, logOf({ id: deploymentId, environmentId: project.environmentId })).length
  return { t, ada, project, aDeployment, lines }
}

test('logs go some days after their deployment, but not those of the newest and of what runs', async () => {
  const { t, ada, project, aDeployment, lines } = await aProjectWithLogs()
  const running = aDeployment(30.2, 'running')
  const old = aDeployment(30.1)
  const building = aDeployment(30, 'building')
  const newest = Array.from({ length: 20 }, (_, at) => aDeployment(20 - at / 10))

  await dropOldLogs(t.deps)

  expect([running, old, building].map(lines)).toEqual([3, 0, 3])
  expect(newest.map(lines)).toEqual(newest.map(() => 3))
  const { text } = await ada.page(`/projects/${project.id}/deployments/${old}`)
  expect(text).toContain('they have been deleted')
})

test('a clock that is wrong for an hour takes a day of logs at most', async () => {
  const { t, aDeployment, lines } = await aProjectWithLogs()
  const old = [50, 49.5, 48, 40].map((days) => aDeployment(days))
  for (let at = 0; at < 20; at++) aDeployment(1)
  await dropOldLogs(t.deps)
  expect(old.map(lines)).toEqual([0, 0, 3, 3])
  await dropOldLogs(t.deps)
  expect(old.map(lines)).toEqual([0, 0, 0, 3])
})
