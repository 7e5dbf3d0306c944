import { expect, test } from 'bun:test'
import { followLog } from '../../src/logs/follow-log.ts'
import { LogBatch } from '../../src/logs/log-batch.ts'
import { LogWriter } from '../../src/logs/log-writer.ts'
import {
  getStatus,
  insertDeployment,
  isEnded,
  logOf,
  moveDeployment,
} from '../../src/deployments/store.ts'
import type { Status } from '../../src/deployments/store.ts'
import { testApp } from '../support/app.ts'
import { anApp, aProject } from '../deployments/apps.ts'

/** A deployment that builds, its writer, and a reader of its log who takes one thing at a time. */
async function aBuildBeingRead() {
  const t = testApp()
  const project = await aProject(t, t.logIn('ada@example.com'), anApp('x'))
  const deployment = insertDeployment(t.db, {
    projectId: project.id,
    environmentId: project.environmentId,
    status: 'building',
    trigger: 'manual',
    triggeredBy: 'ada@example.com',
    repositoryUrl: project.repository.url,
  })
  const { id } = deployment
  const writer = new LogWriter(t.deps, logOf(deployment))
  const abort = new AbortController()
  const statuses = { now: () => getStatus(t.db, id), isEnd: isEnded }
  const reader = followLog(t, logOf(deployment), { after: 0, signal: abort.signal, statuses })
  const end = (status: Status) => {
    moveDeployment(t.db, { id, from: ['building'], status })
    t.logs.publish(id, { status })
  }
  const write = (text: string) => {
    writer.write(text)
    writer.flush()
  }
  return { t, abort, reader, write, end }
}

test('a reader that falls far behind reads on from the database, without a gap or a repeat', async () => {
  const { reader, write, end } = await aBuildBeingRead()
  const seen: (number | string)[] = []
  const take = async () => {
    const { value, done } = await reader.next()
    if (value instanceof LogBatch) seen.push(...value.lines.map(({ sequence }) => sequence))
    else if (value) seen.push(value.status)
    return !done
  }
  write('1')
  await take()
  await take()
  const live = take()
  write('2')
  await live
  for (let line = 3; line <= 300; line++) write(String(line)) // more than are kept for it
  await take()
  write('301')
  end('failed')
  while (await take());

  const lines = seen.filter((item) => typeof item === 'number')
  expect(lines).toEqual(Array.from({ length: 301 }, (_, at) => at + 1))
  expect(seen.at(-1)).toBe('failed')
  expect(seen.filter((item) => typeof item === 'string')).toEqual(['building', 'failed'])
})

test('a build that ends while its reader reads the past is not missed', async () => {
  const { reader, write, end } = await aBuildBeingRead()
  for (let line = 1; line <= 1500; line++) write(String(line))
  const first = await reader.next()
  end('failed')
  const rest = await Array.fromAsync(reader)
  expect(first.value).toBeInstanceOf(LogBatch)
  expect(rest.at(-1)).toEqual({ status: 'failed' })
})

test('a reader that leaves is forgotten', async () => {
  const { t, abort, reader } = await aBuildBeingRead()
  await reader.next()
  expect(t.logs.size).toBe(1)
  const waiting = reader.next()
  abort.abort()
  expect((await waiting).done).toBe(true)
  expect(t.logs.size).toBe(0)
})
