import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { aBuild, anApp, aProject, cancel, logOf } from './apps.ts'
import { logs, pathOf } from './events.ts'

test('a deployment that waits is cancelled, and never runs', async () => {
  const { t, ada } = withAda(testApp())
  const busy = await aProject(t, ada, aBuild('sleep 3210'), { name: 'busy' })
  const first = await busy.trigger()
  await logs(ada, first, 'RUN')
  const project = await aProject(t, ada, anApp('x'))
  const waiting = await project.trigger()

  const answer = await cancel(ada, waiting)

  expect(answer.status).toBe(200)
  expect(answer.json).toMatchObject({ status: 'cancelled', steps: [], error: null })
  expect(await logOf(ada, waiting)).toEqual(['Cancelled by ada@example.com while queued.'])
  expect((await cancel(ada, waiting)).status).toBe(409)
  expect((await ada.get(pathOf(first))).json.status).toBe('building')
})

test('what has ended can’t be cancelled', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, aBuild('exit 1'))
  const failed = await project.deploy()
  const { status, json } = await cancel(ada, failed)
  expect(status).toBe(409)
  expect(json.detail).toContain('already ended (failed)')
})
