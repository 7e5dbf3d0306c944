import { expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { testApp, withAda } from '../support/app.ts'
import { idle, leftOf, made } from './instances.ts'

test('a limit above that of the engine itself is reported, and nothing is left', async () => {
  const t = testApp()
  const refusal = 'runc create failed: error setting rlimit type 7: operation not permitted'
  t.faults.startContainer = () => Promise.reject(new EngineError(400, refusal))
  const compose = `services: {a: {${idle}, ulimits: {nofile: 65536}}}`
  const service = await made(t, t.logIn('ada@example.com'), compose)
  expect(service).toMatchObject({
    status: 'failed',
    error: { step: 'starting', code: 'limit_too_high', hint: expect.stringContaining('ulimits') },
  })
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
})

test('a limit above what an app may have is refused before anything is stored', async () => {
  const { ada } = withAda(testApp())
  const compose = `services: {a: {${idle}, pids_limit: 100000}}`
  const answer = await ada.post('/services/compose', { name: 'thing', compose })
  expect([answer.status, answer.json.errors[0]]).toEqual([
    422,
    { field: 'compose', message: expect.stringContaining('services.a.pids_limit') },
  ])
  expect((await ada.get('/services')).json.instances).toEqual([])
})
