import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { idle, leftOf, made } from './instances.ts'

test('a limit above that of the engine itself is told, and nothing is left', async () => {
  const t = testApp()
  const compose = `services: {a: {${idle}, ulimits: {nofile: 1073741816}}}`
  const service = await made(t, t.logIn('ada@example.com'), compose)
  expect(service).toMatchObject({
    status: 'failed',
    error: { step: 'starting', code: 'limit_too_high', hint: expect.stringContaining('ulimits') },
  })
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
})
