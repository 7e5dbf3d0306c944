import { expect, test } from 'bun:test'
import { aCommand, aProject } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import { allLines, collect, linesUntil } from './collecting.ts'

const serving = (text: string) =>
  aCommand(
    `mkdir /www; echo ${text} is up; trap 'echo ${text} says goodbye; exit 0' TERM; httpd -f -p 8080 -h /www & wait`,
  )

test('the lines of a replaced container stay, up to its last ones, with marks between', async () => {
  const { t, ada } = withAda(testApp())
  collect(t)
  const project = await aProject(t, ada, serving('first'))
  const output = `/projects/${project.id}/envs/${project.environmentId}/output`
  const first = await project.deploy()
  expect(first.status).toBe('running')
  project.repository.commit(serving('second'))
  const second = await project.deploy()
  expect(second.status).toBe('running')
  await t.jobs.idle()
  await linesUntil(ada, output, ({ text }) => text === 'second is up')

  const lines = await allLines(ada, output)
  const name = (id: string) => `deployment ${id.slice(-12)}`
  expect(
    lines.map(({ text, deploymentId }) => [text.replace(/Container \S+ of /, ''), deploymentId]),
  ).toEqual([
    [`${name(first.id)} started.`, first.id],
    ['first is up', first.id],
    ['first says goodbye', first.id],
    [`${name(first.id)} ended: exit code 0.`, first.id],
    [`${name(second.id)} started.`, second.id],
    ['second is up', second.id],
  ])
  const page = await ada.page(output)
  expect(page.text).toContain(`href="../../deployments/${first.id}"`)
})

test('a worker that is replaced ends cleanly, and a failed one leaves its last words', async () => {
  const { t, ada } = withAda(testApp())
  collect(t)
  const worker = (text: string) =>
    aCommand(`trap 'seq 1 50000; echo ${text} ends; exit 0' TERM; echo ${text}; sleep 9999 & wait`)
  const project = await aProject(t, ada, worker('one'), { port: 0 })
  const output = `/projects/${project.id}/envs/${project.environmentId}/output`
  await project.deploy()
  await linesUntil(ada, output, ({ text }) => text === 'one')
  project.repository.commit(aCommand('echo broken; exit 7'))
  Object.assign(t.config, { settleTime: 60_000 }) // which one that ends never waits for
  expect((await project.deploy()).status).toBe('failed')
  Object.assign(t.config, { settleTime: 0 })
  project.repository.commit(worker('two'))
  await project.deploy()
  await t.jobs.idle()
  const lines = await linesUntil(ada, output, ({ text }) => text === 'one ends')
  const texts = lines.map(({ text }) => text)
  expect(texts.filter((text) => /^\d+$/.test(text))).toHaveLength(50_000)
  expect(texts).toContain('broken')
  expect(texts.some((text) => text.endsWith('ended: exit code 7.'))).toBe(true)
})
