import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { AccessLog, aLine } from '../traffic/access.ts'
import { httpReceiver } from './receivers.ts'

type Shown = { waiting: number; dropped: number }

test('each line is sent at least once, and twice only as the same, however often Davit is killed', async () => {
  const loki = httpReceiver()
  const installation = anInstallation()
  onTestFinished(() => installation.leave())
  let { client } = await installation.start()
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const project = await client.post<{ id: string }>('/projects', { name: 'site', repositoryUrl })
  const { items } = await client.get<{ items: { id: string }[] }>(`/projects/${project.id}/envs`)
  const [{ id }] = items as [{ id: string }]
  await client.post(`/envs/${id}/domains`, { host: 'app.example.com' })
  const body = { kind: 'loki', name: 'central', url: loki.url }
  const drain = await client.post<{ id: string }>(`/envs/${id}/drains`, body)
  const log = new AccessLog(join(installation.dataDir, 'edge'))
  let written = 0
  const write = (count: number) => {
    const line = () => aLine('app.example.com', { uri: `/${written++}`, duration: 0 })
    log.write(Array.from({ length: count }, line).join('\n'))
  }
  const received = () =>
    [...loki.accepted, ...loki.refused].flatMap(({ body: { streams } }) =>
      streams.flatMap(({ values }: { values: [string, string][] }) => values),
    ) as [string, string][]
  const numbered = () => received().map(([, text]) => Number(/\/(\d+) /.exec(text)?.[1]))

  for (let kills = 0; kills < 5; kills++) {
    const asked = Promise.withResolvers<void>()
    // it has the lines; of its answer Davit hears only in every other round
    loki.next(async () => {
      asked.resolve()
      if (kills % 2 === 0) await installation.kill()
      return new Response(null, { status: 204 })
    })
    write(300)
    await asked.promise
    if (kills % 2 === 1) await installation.kill()
    write(50)
    ;({ client } = await installation.start())
  }
  const shown = () => client.get<Shown>(`/envs/${id}/drains/${drain.id}`)
  await until(async () => new Set(numbered()).size >= written && (await shown()).waiting === 0)
  expect([...new Set(numbered())].sort((a, b) => a - b)).toEqual(
    Array.from({ length: written }, (_, at) => at),
  )
  const distinct = new Set(received().map((value) => value.join(' ')))
  expect(distinct.size).toBe(written)
  expect(received().length).toBeGreaterThan(written)
  expect(await shown()).toMatchObject({ dropped: 0 })
  expect(installation.errors()).toEqual([])
}, 240_000)
