import { expect, spyOn, test } from 'bun:test'
import { journal } from '../../src/platform/journal.ts'
import { testApp, withAda } from '../support/app.ts'

test('each answer is one line with its request id, and without what was asked or sent', async () => {
  const { t, ada } = withAda(testApp())
  await ada.get('/health')
  using logged = spyOn(journal, 'info').mockImplementation(() => {})
  const answer = await ada.form('/projects?token=s3cr3t-query', { name: 's3cr3t-body' })
  const { calls } = logged.mock
  expect(calls).toHaveLength(1)
  expect(calls[0]![1]).toMatchObject({
    requestId: answer.headers.get('X-Request-Id'),
    method: 'POST',
    path: '/projects',
    status: 422,
    user: ada.user.id,
  })
  expect(JSON.stringify(calls)).not.toMatch(/s3cr3t|svc_session|csrf/i)
  await t.app.request('/nowhere\r\nlevel: error')
  expect(calls.at(-1)![1]).toMatchObject({ status: 404 })
})

test('an id that a client brings is kept only when it can break no line', async () => {
  const { app } = testApp()
  const ask = (id: string) => app.request('/health', { headers: { 'X-Request-Id': id } })
  expect((await ask('from-the-proxy-1')).headers.get('X-Request-Id')).toBe('from-the-proxy-1')
  for (const odd of ['a b', '{"x":1}', '<script>', 'x'.repeat(300)])
    expect((await ask(odd)).headers.get('X-Request-Id')).not.toBe(odd)
})
