import { expect, test } from 'bun:test'
import { events } from '../../src/db/schema.ts'
import { updateDeployment } from '../../src/deployments/store.ts'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { until } from '../support/until.ts'
import { logOf } from './apps.ts'
import { watched } from './watching.ts'

type Scene = Awaited<ReturnType<typeof watched>>

const told = ({ t }: Pick<Scene, 't'>) =>
  t.db
    .select()
    .from(events)
    .all()
    .filter(({ kind }) => kind === 'deployment_reverted')

/** The version that is watched answers twice with 502, and crashes. */
async function wentBack() {
  const s = await watched()
  const failed = { status: 502, method: 'GET', path: '/pay?card=1', share: null, requests: 2 }
  s.t.deps.watched.add(s.project.environmentId, failed as never)
  s.crash()
  await until(() => s.stored().watch?.isTold === true)
  return s
}

test('what told against a version is in its JSON and log, and in what people are sent', async () => {
  const s = await wentBack()
  const requests = [{ status: 502, method: 'GET', path: '/pay', count: 2 }]
  expect(s.stored().watch).toMatchObject({ end: 'reverted', requests })
  const [event, ...more] = told(s)
  expect(more).toEqual([])
  for (const text of [event!.text, (await logOf(s.ada, s.second)).join('\n')])
    expect(text).toContain('GET /pay → 502')
})

test('its last lines are told, however much the version before writes meanwhile', async () => {
  const s = await watched()
  const { first, second, project, t } = s
  const write = ({ id, containerId }: typeof first, text: string, count: number) => {
    const origin = { deploymentId: id, container: containerId, process: 'web', replica: null }
    const line = { time: Date.now(), stream: 'stdout' as const, text, origin }
    const log = { sourceId: project.environmentId, logId: '' }
    t.logs.write(log, Array<typeof line>(count).fill(line))
  }
  write(second, 'it crashes', 1)
  write(first, 'all is well', 1500)
  s.crash()
  await until(() => s.stored().watch?.isTold === true)
  expect(s.stored().watch!.lines).toEqual(['it crashes'])
})

test('a kill right after going back loses nothing: the next process tells it, once', async () => {
  const s = await wentBack()
  await s.t.watches.stop()
  s.t.db.delete(events).run()
  updateDeployment(s.t.db, s.second.id, { watch: { ...s.stored().watch!, isTold: false } })
  const next = new Watches(s.t.deps)
  next.resume()
  await next.idle()
  expect(s.stored().watch).toMatchObject({ isTold: true, requests: [{ count: 2 }] })
  expect(told(s)).toHaveLength(1)
  next.resume()
  await next.idle()
  expect(told(s)).toHaveLength(1)
})

test('what the version before answers after going back isn’t told as the other one’s', async () => {
  const s = await watched()
  const { watched: counting } = s.t.deps
  const { environmentId } = s.project
  const isCounted = (begun: number) =>
    counting.timeOf(environmentId, { time: begun + 1000, seconds: 1, share: null }) !== null
  const { since } = s.stored().watch!
  const counted: boolean[] = []
  const { end } = counting
  counting.end = (id) => {
    counted.push(...[since - 1, since, Date.now()].map(isCounted))
    end.call(counting, id)
  }
  expect(isCounted(Date.now())).toBe(true)
  s.crash()
  await s.t.watches.idle()
  expect(s.stored().watch?.end).toBe('reverted')
  expect(counted).toEqual([false, true, false])
})
