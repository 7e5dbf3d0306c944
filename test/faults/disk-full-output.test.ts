import { expect, test } from 'bun:test'
import { allLines, anEnvironment, collect, linesUntil, written } from '../logs/collecting.ts'
import { testApp } from '../support/app.ts'

test('what a container writes while the disk is full is kept once there is room', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const environment = await anEnvironment(t, ada)
  const { reserve } = t.logDb.$client
  collect(t)
  const id = await environment.run('echo before; sleep 2; seq 100; sleep 60')
  await linesUntil(ada, environment.output, ({ text }) => text === 'before')

  reserve.giveUp()
  for await (const batch of t.docker.containerLogs(id, { follow: true }))
    if (batch.some(({ text }) => text === '100')) break
  expect(written(await allLines(ada, environment.output))).toEqual(['before'])

  reserve.isGone = false
  const lines = await linesUntil(ada, environment.output, ({ text }) => text === '100')
  const numbers = Array.from({ length: 100 }, (_, at) => String(at + 1))
  expect(written(lines)).toEqual(['before', ...numbers])
})
