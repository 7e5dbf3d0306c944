import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { testApp, withAda } from '../support/app.ts'
import { startPrivateEngine } from './private-engine.ts'

test('each page says that the engine hangs, and shows all again when it goes on', async () => {
  await using engine = await startPrivateEngine()
  const { ada } = withAda(testApp({}, { docker: connectDocker({ host: engine.host }) }))
  expect((await ada.get('/containers/api')).json).toEqual({ containers: [] })

  await engine.freeze()
  const id = 'a'.repeat(64)
  const asked = ['/containers', `/containers/${id}`].map((path) => ada.page(path))
  const answers = await Promise.all([...asked, ada.page('/projects')])
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 200])
  for (const { text } of answers.slice(0, 2)) expect(text).toContain('Docker doesn’t respond.')

  await engine.thaw()
  expect((await ada.get(`/containers/${id}`)).status).toBe(404)
  expect((await ada.get('/containers')).status).toBe(200)
})
