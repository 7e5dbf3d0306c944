import { describe, expect, test } from 'bun:test'
import { LogWriter } from '../../src/logs/log-writer.ts'
import { insertRun } from '../../src/runs/store.ts'
import { testApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { aLiveEnvironment } from './runs.ts'

describe('a run', () => {
  test('is one command in a new container of the live image, with its log and exit code', async () => {
    const { ada, id, path, start, ended, linesOf, containers } = await aLiveEnvironment()
    await ada.post(`/envs/${id}/variables`, { key: 'GREETING', value: 'hello' })
    const begun = await start(['sh', '-c', 'echo $GREETING; echo trouble >&2; exit 3'])
    expect(begun).toEqual({
      id: expect.any(String),
      environmentId: id,
      scheduleId: null,
      command: ['sh', '-c', 'echo $GREETING; echo trouble >&2; exit 3'],
      status: 'pending',
      stdin: false,
      exitCode: null,
      error: null,
      createdAt: expect.any(String),
      finishedAt: null,
    } as never)
    expect(await ended(begun)).toMatchObject({
      status: 'failed',
      exitCode: 3,
      error: null,
      finishedAt: expect.any(String),
    })
    const lines = await linesOf(begun)
    expect(lines[0]).toStartWith('Running sh -c ')
    expect(lines.slice(1, -1).toSorted()).toEqual(['hello', 'trouble'])
    expect(lines.at(-1)).toBe('Exited with code 3.')
    expect(await containers()).toEqual([])
    expect((await ada.get(path)).json.items.map((run: { id: string }) => run.id)).toEqual([
      begun.id,
    ])
  })

  test('succeeds with code 0, and its command is split as a shell splits words', async () => {
    const { start, ended, linesOf } = await aLiveEnvironment()
    const run = await start(`echo "two words" 'and $more'`)
    expect(await ended(run)).toMatchObject({ status: 'succeeded', exitCode: 0 })
    expect(await linesOf(run)).toContain('two words and $more')
  })

  test('hides secrets in its log', async () => {
    const { ada, id, start, ended, linesOf } = await aLiveEnvironment()
    const secret = { key: 'PASSWORD', value: 'a-long-password', secret: true }
    await ada.post(`/envs/${id}/variables`, secret)
    const run = await start(['sh', '-c', 'echo it is $PASSWORD; echo a-long-password'])
    await ended(run)
    expect((await linesOf(run)).join('\n')).not.toContain('a-long-password')
  })

  test('of thousands of characters stands in its pages in short, and is run again in full', async () => {
    const { ada, path, start, ended } = await aLiveEnvironment()
    const run = await start(['sh', '-c', `echo ${'x'.repeat(5000)}\necho "it's done"`])
    await ended(run)
    const { text } = await ada.page(path)
    expect(text).toContain('xxx…')
    expect(text).not.toContain('x'.repeat(200))
    const page = (await ada.page(`${path}/${run.id}`)).text
    expect(/name="command" value="([^"]*)"/.exec(page)![1]).toContain('x'.repeat(5000))
  })

  test('is followed to its end', async () => {
    const { ada, path, start } = await aLiveEnvironment()
    const run = await start(['sh', '-c', 'echo one; sleep 1; echo two'])
    const headers = { Accept: 'text/event-stream' }
    const text = await (await ada.send(`${path}/${run.id}/logs?format=json`, { headers })).text()
    expect(text).toMatch(/"text":"one"[^]*"text":"two"[^]*event: done\ndata: succeeded/)
  })

  test('ends when its time is over, and says so', async () => {
    const { start, ended, containers } = await aLiveEnvironment()
    const { status, exitCode, error } = await ended(await start('sleep 999', { timeout: 1 }))
    expect([status, exitCode, error.code]).toEqual(['failed', null, 'timeout'])
    expect(await containers()).toEqual([])
  })

  test('that runs out of memory says so', async () => {
    const { ada, project, id, start, ended } = await aLiveEnvironment()
    await ada.put(`/projects/${project.id}/envs/${id}`, { memoryMb: 16 })
    const { status, error } = await ended(await start('sh -c "sleep 1; tail /dev/zero"'))
    expect([status, error.code]).toEqual(['failed', 'out_of_memory'])
    expect(error.message).toContain('its limit is 16 MiB')
  })

  test('is cancelled, with nothing left', async () => {
    const { ada, path, start, ended, isRunning, containers } = await aLiveEnvironment()
    const run = await start('sleep 999')
    await until(() => isRunning(run))
    expect((await ada.post(`${path}/${run.id}/cancel`)).json).toMatchObject({ status: 'cancelled' })
    expect(await ended(run)).toMatchObject({ status: 'cancelled', exitCode: null, error: null })
    expect(await containers()).toEqual([])
    const again = await ada.post(`${path}/${run.id}/cancel`)
    expect([again.status, again.json.detail]).toEqual([
      409,
      'This run has already ended (cancelled), so it can’t be cancelled.',
    ])
  })

  test('ends with its environment', async () => {
    const { ada, project, id, start, isRunning, containers, db } = await aLiveEnvironment()
    await ada.post(`/projects/${project.id}/envs`, { name: 'other' })
    const run = await start('sleep 999')
    await until(() => isRunning(run))
    const { status } = await ada.delete(`/projects/${project.id}/envs/${id}`)
    expect(status).toBe(200)
    expect(await containers()).toEqual([])
    expect(db.$client.query('SELECT count(*) AS n FROM jobs').get()).toEqual({ n: 0 })
  })
})

test.each([
  ['of the runs that ended', 'ada@example.com', 19],
  ['apart from them, of the runs of deleted schedules', 'schedule gone', 20],
])('%s the last 20 are kept, with their logs', async (_, startedBy, others) => {
  const { ada, path, db, logDb, id, live, start, ended, t } = await aLiveEnvironment()
  const old = Array.from({ length: 21 }, () => {
    const run = insertRun(db, {
      environmentId: id,
      deploymentId: live.id,
      startedBy,
      command: 'true',
      timeout: 60,
      status: 'succeeded',
      finishedAt: new Date(),
    })
    const log = new LogWriter(t, { sourceId: id, logId: run.id })
    log.write('a line')
    log.end()
    return run
  })
  const last = await start('true')
  await ended(last)
  const { items } = (await ada.get(path)).json
  const ids = [...old.slice(-others), last].map((run) => run.id).reverse()
  expect(items.map((run: { id: string }) => run.id)).toEqual(ids)
  const logs = logDb.$client.query('SELECT DISTINCT log_id AS id FROM output_blocks').all()
  expect(logs).toHaveLength(others + 1)
})

describe('a run is refused', () => {
  test('where nothing is live, or its image is gone, with what to do', async () => {
    const { ada, path, db } = await aLiveEnvironment()
    db.$client.run("UPDATE deployments SET image = 'davit-test/gone:1'")
    const gone = await ada.post(path, { command: 'true' })
    expect([gone.status, gone.json.detail]).toEqual([
      409,
      'The live image of production was removed. Deploy it again to rebuild it.',
    ])
    db.$client.run("UPDATE deployments SET status = 'failed'")
    const none = await ada.post(path, { command: 'true' })
    expect([none.status, none.json.detail]).toEqual([
      409,
      'Nothing is deployed in production, so there is no image to run a command in. Deploy it first.',
    ])
    expect((await ada.page(path)).text).toContain('Nothing is deployed in production')
  })

  test('where its environment is deleted at the same moment', async () => {
    const { t, ada, path, project, id, containers } = await aLiveEnvironment()
    await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })
    t.faults.hasImage = async (...args) => {
      await ada.delete(`/projects/${project.id}/envs/${id}`)
      return t.docker.hasImage(...args)
    }
    expect((await ada.post(path, { command: ['sleep', '99'] })).status).toBe(404)
    await t.jobs.idle()
    expect(await containers()).toEqual([])
  })

  test('with a command that can’t be read, or a timeout out of bounds', async () => {
    const { ada, path } = await aLiveEnvironment()
    for (const [body, field] of [
      [{ command: `echo "open` }, 'command'],
      [{ command: '  ' }, 'command'],
      [{ command: [] }, 'command'],
      [{}, 'command'],
      [{ command: 'true', timeout: 0 }, 'timeout'],
      [{ command: 'true', timeout: 1_000_000 }, 'timeout'],
    ] as const) {
      const { status, json } = await ada.post(path, body)
      expect([status, json.errors[0].field], JSON.stringify(body)).toEqual([422, field])
    }
  })

  test('beyond five at once of one user', async () => {
    const { ada, path, start } = await aLiveEnvironment({ t: testApp({}, { jobsWait: true }) })
    await Promise.all(Array.from({ length: 5 }, () => start('sleep 9')))
    const { status, json } = await ada.post(path, { command: 'true' })
    expect(status).toBe(429)
    expect(json.detail).toContain('You have 5 runs that haven’t ended')
  })

  test('to a token without the scope write', async () => {
    const { t, ada, path } = await aLiveEnvironment()
    for (const scope of ['read', 'deploy']) {
      const { token } = (await ada.post('/settings/tokens', { name: scope, scopes: [scope] })).json
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const init = { method: 'POST', headers, body: '{"command":"true"}' }
      expect((await t.app.request(path, init)).status, scope).toBe(403)
    }
  })
})
