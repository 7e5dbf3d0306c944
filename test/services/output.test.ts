import { expect, test } from 'bun:test'
import { allLines, collect, linesUntil } from '../logs/collecting.ts'
import { testApp, withAda } from '../support/app.ts'
import { made, settled } from './instances.ts'

const talker = `
services:
  app:
    image: busybox
    command: [sh, -c, "trap 'echo $$MODE says goodbye; exit 0' TERM; echo $$MODE speaks, $$API_SECRET; sleep 9999 & wait"]
    environment: { MODE: "\${MODE:-first}", API_SECRET: "\${API_SECRET}" }
    healthcheck: { disable: true }
`

test('what a service wrote outlives its containers, without its secrets, and goes with it', async () => {
  const { t, ada } = withAda(testApp())
  collect(t)
  const service = await made(t, ada, talker, { API_SECRET: 'never-to-be-seen' })
  const output = `/services/${service.id}/output`
  await linesUntil(ada, output, ({ text }) => text.startsWith('first speaks'))
  await ada.put(`/services/${service.id}`, { MODE: 'second' })
  await settled(t, ada, service)
  await linesUntil(ada, output, ({ text }) => text.startsWith('second speaks'))

  const texts = (await allLines(ada, output)).map(({ text }) => text)
  expect(texts.filter((text) => !text.startsWith('Container'))).toEqual([
    'first speaks, ***',
    'first says goodbye',
    'second speaks, ***',
  ])
  expect((await ada.page(`/services/${service.id}`)).text).toContain(`href="${output}"`)
  const page = await ada.page(output)
  expect(page.text).toContain('over all its containers') // a service has no deployments
  expect(page.status).toBe(200)
  expect(page.text).toContain('first says goodbye')
  expect((await t.logIn('bob@example.com').get(output)).status).toBe(404)

  expect((await ada.delete(`/services/${service.id}`)).status).toBe(200)
  const left = t.logDb.$client.query('SELECT count(*) AS n FROM output_blocks').get()
  expect(left).toEqual({ n: 0 })
})
