import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { AccessLog, aLine } from './access.ts'

type Traffic = { total: { requests: number; sent: number } }
type Output = { items: { text: string }[] }

test('each request counts once, and has one line, however often Davit is killed while it reads', async () => {
  const installation = anInstallation()
  onTestFinished(() => installation.leave())
  let { client } = await installation.start()
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const project = await client.post<{ id: string }>('/projects', { name: 'site', repositoryUrl })
  const { items } = await client.get<{ items: { id: string }[] }>(`/projects/${project.id}/envs`)
  const [{ id }] = items as [{ id: string }]
  await client.post(`/envs/${id}/domains`, { host: 'app.example.com' })
  const log = new AccessLog(join(installation.dataDir, 'edge'))
  const rows = (sql: string) =>
    installation.rows<{ count: number | null }>(sql, [], 'logs.db')[0]?.count ?? 0
  const counted = () => rows('SELECT sum(requests) AS count FROM traffic WHERE span = 60')

  let sent = 0
  const write = (count: number) => {
    const line = () => aLine('app.example.com', { uri: `/${sent++}`, duration: 0 })
    log.write(Array.from({ length: count }, line).join('\n'))
  }
  for (let kills = 0; kills < 4; kills++) {
    write(40)
    const before = counted()
    await until(() => counted() > before)
    write(40)
    if (kills % 2 === 0) log.roll()
    write(20)
    await installation.kill()
    write(20)
    ;({ client } = await installation.start())
  }
  await until(() => counted() >= sent)
  const { total } = await client.get<Traffic>(`/envs/${id}/traffic`)
  expect(total).toMatchObject({ requests: sent, sent: sent * 100 })
  const output = `/projects/${project.id}/envs/${id}/output?process=access&limit=1000`
  const texts = (await client.get<Output>(output)).items.map(({ text }) => text)
  expect(texts.map((text) => Number(/\/(\d+) /.exec(text)?.[1]))).toEqual(
    Array.from({ length: sent }, (_, at) => at),
  )
  expect(rows('SELECT requests AS count FROM traffic WHERE span = 0')).toBe(sent)
  expect(installation.errors()).toEqual([])
})
