import { expect, test } from 'bun:test'
import { events } from '../../src/db/schema.ts'
import { testApp, withAda } from '../support/app.ts'
import { aRunning, listen, sooner } from './engine.ts'

const { signal } = new AbortController()
const always = { restart: { name: 'unless-stopped' } } as const

/** With what Docker itself reports: the decisions are in test/notifications/arise.test.ts. */
test('what Docker reports of a container is told: unhealthy, out of memory, a crash loop, and the end', async () => {
  const { t, ada } = withAda(testApp())
  listen(t)
  const kinds = () =>
    t.db
      .select()
      .from(events)
      .all()
      .map(({ kind, level, environmentId }) => `${kind} ${level} ${environmentId}`)
  const told = (what: string, { environment }: { environment: { id: string } }) =>
    sooner(t, () => kinds().includes(`${what} ${environment.id}`))

  const sick = await aRunning(t, ada, 'sleep 999', {
    healthCheck: { test: ['CMD', 'test', '-e', '/tmp/well'], interval: 200, retries: 1 },
  })
  const greedy = await aRunning(t, ada, 'sleep 1; tail /dev/zero', always)
  const crashing = await aRunning(t, ada, 'exit 3', always)
  await told('unhealthy failure', sick)
  await t.docker.runInContainer(sick.id, { command: ['touch', '/tmp/well'], signal })
  await told('unhealthy resolved', sick)
  await told('out_of_memory failure', greedy)
  await told('crash_loop failure', crashing)
  expect(new Set(kinds()).size).toBe(kinds().length)
})
