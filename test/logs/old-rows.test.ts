import { expect, test } from 'bun:test'
import { insertDeployment, logOf } from '../../src/deployments/store.ts'
import { LogWriter } from '../../src/logs/log-writer.ts'
import { moveSomeRows } from '../../src/logs/old-rows-store.ts'
import { testApp } from '../support/app.ts'
import { anEnvironment } from './collecting.ts'

type Line = { seq: number; time: string; stream: string; text: string }

/** A deployment whose log an earlier version stored, line by line. */
async function anOldLog(count: number) {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { projectId, id: environmentId } = await anEnvironment(t, ada)
  const deployment = insertDeployment(t.db, {
    ...{ projectId, environmentId, status: 'failed', trigger: 'manual' },
    ...{ triggeredBy: 'ada@example.com', repositoryUrl: 'https://git.example.com/team/site.git' },
  })
  const insert = t.logDb.$client.query('INSERT INTO deployment_logs VALUES (?, ?, ?, ?, ?)')
  for (let n = 1; n <= count; n++)
    insert.run(deployment.id, n, n * 1000, n % 7 === 0 ? 'stderr' : 'stdout', `line ${n}`)
  insert.run(deployment.id, count + 1, 0, 'system', 'of two\nlines')
  const path = `/projects/${projectId}/deployments/${deployment.id}/logs`
  const read = async (query: string): Promise<Line[]> =>
    (await ada.get(`${path}?${query}`)).json.items
  const rows = () =>
    t.logDb.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM deployment_logs').get()!.n
  return { t, ada, deployment, path, read, rows }
}

test('a log of an earlier version reads the same before, while and after its rows are moved', async () => {
  const { t, ada, path, read, rows } = await anOldLog(3500)
  const said = async () => ({
    all: await read('limit=10000'),
    page: await read('after=995&limit=10'),
    hits: await read('search=line+35'),
    first: (await ada.get(`${path}?search=line+35`)).json.found,
    whole: (await ada.get(`${path}?download=1`)).text,
    tail: (await ada.page(path.replace(/\/logs$/, ''))).text.match(/id="L\d+"/g),
  })
  const before = await said()
  expect(before.all.map(({ seq }) => seq)).toEqual(Array.from({ length: 3501 }, (_, at) => at + 1))
  expect(before.all.at(-1)).toEqual({
    ...{ seq: 3501, time: '1970-01-01T00:00:00.000Z', stream: 'system', text: 'of two\nlines' },
  })
  expect(before.tail).toHaveLength(100)
  while (rows() > 0) {
    expect(moveSomeRows(t)).toBe(true)
    expect(await said()).toEqual(before)
  }
  expect(moveSomeRows(t)).toBe(false)
})

test('a deployment that an earlier version began has its lines go on after those', async () => {
  const { t, deployment, read, rows } = await anOldLog(1500)
  const log = new LogWriter(t.deps, logOf(deployment))
  const write = (text: string) => {
    log.write(text)
    log.flush()
  }
  write('taken up again')
  expect(moveSomeRows(t)).toBe(true)
  write('and gone on')
  const seen = async () => (await read('after=1500')).map(({ seq, text }) => [seq, text])
  const expected = [
    [1501, 'of two\nlines'],
    [1502, 'taken up again'],
    [1503, 'and gone on'],
  ]
  expect(await seen()).toEqual(expected)
  while (rows() > 0) moveSomeRows(t)
  expect(await seen()).toEqual(expected)
})

test('rows of a deployment that is gone are not moved, but removed', async () => {
  const { t, rows } = await anOldLog(10)
  t.db.$client.run('DELETE FROM projects')
  expect(moveSomeRows(t)).toBe(true)
  expect(rows()).toBe(0)
  expect(t.logDb.$client.query('SELECT 1 FROM output_blocks').get()).toBeNull()
})
