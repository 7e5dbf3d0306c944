import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'

test('it lives as long as it answers, and is ready while its databases answer', async () => {
  const { app, logDb } = testApp()
  expect(await (await app.request('/health')).json()).toEqual({ status: 'ok' })
  expect((await app.request('/health/ready')).status).toBe(200)
  logDb.$client.close()
  expect((await app.request('/health/ready')).status).toBe(503)
  expect((await app.request('/health')).status).toBe(200)
})

test('it is not ready once it stops', async () => {
  const { app, streams } = testApp()
  streams.endAll()
  const answer = await app.request('/health/ready')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({ status: 'stopping' })
})
