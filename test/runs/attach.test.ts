import { describe, expect, test } from 'bun:test'
import { listening } from '../support/listening.ts'
import { until } from '../support/until.ts'
import { aLiveEnvironment } from './runs.ts'

const upgrade = { Upgrade: 'websocket', Connection: 'Upgrade' }

describe('a run with attach', () => {
  test('starts when its client is here, which sees all of it, types, and hears the exit code', async () => {
    const { db, start, attach, ended, linesOf, containers } = await aLiveEnvironment()
    const run = await start('sh', { attach: true })
    await until(async () => (await containers()).length === 1)
    expect((await containers())[0]!.state).toBe('created')
    const shell = attach(run)
    await shell.shows('/ #')
    await shell.resize(132, 43)
    shell.type('echo $TERM\n')
    await shell.shows('xterm-256color')
    shell.type('exit 7\n')
    expect(await shell.ends()).toBe('The command has ended with exit code 7.')
    expect(shell.exitCode).toBe(7)
    expect(await ended(run)).toMatchObject({ status: 'failed', exitCode: 7 })
    expect((await linesOf(run)).join('\n')).toContain('it-is-so')
    const actions = db.$client
      .query("SELECT action FROM audit_events WHERE action LIKE 'run.%' ORDER BY id")
      .all()
    expect(actions).toEqual(
      ['run.started', 'run.attached', 'run.detached'].map((action) => ({ action })),
    )
  })

  test('shows its first output, however soon it comes', async () => {
    const { start, attach } = await aLiveEnvironment()
    const shell = attach(await start('echo first words', { attach: true }))
    await shell.ends()
    expect(shell.exitCode).toBe(0)
    expect(shell.text).toContain('first words')
  })

  test('runs on when its client leaves, and can be attached to again', async () => {
    const { ada, path, start, attach, isRunning, t, containers } = await aLiveEnvironment()
    const run = await start('sh', { attach: true })
    const server = listening(t)
    const first = attach(run, { server })
    await first.shows('/ #')
    first.close()
    await until(() => t.streams.size === 0)
    const second = attach(run, { server })
    await until(() => second.isOpen)
    second.type('echo $((6 * 7))\n')
    await second.shows('42')
    expect(await isRunning(run)).toBe(true)
    await ada.post(`${path}/${run.id}/cancel`)
    expect(await second.ends()).toBe('The run was cancelled.')
    expect(await containers()).toEqual([])
  })

  test('that is cancelled before anyone attached leaves nothing', async () => {
    const { ada, path, start, containers } = await aLiveEnvironment()
    const run = await start('sh', { attach: true })
    await until(async () => (await containers()).length === 1)
    expect((await ada.post(`${path}/${run.id}/cancel`)).json.status).toBe('cancelled')
    expect(await containers()).toEqual([])
  })

  test('is refused where terminals are turned off', async () => {
    const { ada, path } = await aLiveEnvironment({ env: { DAVIT_TERMINAL: 'off' } })
    const { status, json } = await ada.post(path, { command: 'sh', attach: true })
    expect([status, json.detail]).toEqual([403, expect.stringContaining('DAVIT_TERMINAL=off')])
  })

  test('can’t be attached to once terminals are turned off', async () => {
    const { t, ada, path, start } = await aLiveEnvironment()
    const run = await start('sh', { attach: true })
    Object.assign(t.deps.config, { terminal: 'off' }) // as after a restart, which it outlives
    const answer = await ada.send(`${path}/${run.id}/attach`, { headers: upgrade })
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('DAVIT_TERMINAL=off')
  })
})

test('a run with stdin reads what its first client sends, whoever else looks at it and leaves', async () => {
  const { t, start, attach } = await aLiveEnvironment()
  const run = await start(['sh', '-c', 'cat; exit 5'], { stdin: true })
  const server = listening(t)
  const first = attach(run, { server })
  await until(() => first.isOpen)
  first.type('one\n')
  await first.shows('one')
  const second = attach(run, { server })
  await until(() => second.isOpen)
  second.type('theirs\n')
  second.say({ end: true })
  second.close()
  await until(() => t.streams.size === 1)
  first.type('two\n')
  first.say({ end: true })
  await first.ends()
  expect(first).toMatchObject({ text: 'one\ntwo\n', exitCode: 5 })
})

test('a run whose client leaves with its input before it starts is cancelled', async () => {
  const { t, id, start, attach, ended, linesOf } = await aLiveEnvironment()
  const held = Promise.withResolvers<void>()
  const { signal } = new AbortController()
  const holding = t.deps.locks.beforeRuns({ id }, signal, () => held.promise)
  const run = await start(['sh', '-c', 'cat > /all'], { stdin: true })
  const client = attach(run)
  await until(async () => (await linesOf(run)).length === 2)
  client.close()
  await until(() => t.streams.size === 0)
  held.resolve()
  await holding
  expect((await ended(run)).status).toBe('cancelled')
})

describe('attaching', () => {
  test('to a run without attach shows what it writes from then on, and its end', async () => {
    const { start, attach, isRunning } = await aLiveEnvironment()
    const run = await start(['sh', '-c', 'sleep 2; echo out; echo err >&2; exit 4'])
    await until(() => isRunning(run))
    const shell = attach(run)
    await until(() => shell.isOpen)
    shell.type('what no one reads\n')
    await shell.ends()
    expect(shell.exitCode).toBe(4)
    expect([...shell.text.trim().split('\n')].toSorted()).toEqual(['err', 'out'])
  })

  test('to a run that ends meanwhile says how it ended', async () => {
    const { t, start, attach, isRunning, ended } = await aLiveEnvironment()
    const run = await start(['sh', '-c', 'sleep 1; exit 3'])
    await until(() => isRunning(run))
    t.faults.attachContainer = async (...args) => {
      const attached = await t.docker.attachContainer(...args)
      await ended(run)
      return attached
    }
    const shell = attach(run)
    await shell.ends()
    expect(shell.exitCode).toBe(3)
  })

  test('is refused from another site, without a login, to others, and once it has ended', async () => {
    const { t, ada, path, start, ended } = await aLiveEnvironment()
    const run = await start('sleep 99', { attach: true })
    const at = `${path}/${run.id}/attach`
    const ask = async (headers = {}, by = ada) => {
      const answer = await by.send(at, { headers: { ...upgrade, ...headers } })
      return `${answer.status} ${((await answer.json()) as { detail: string }).detail}`
    }
    expect((await t.app.request(at, { headers: upgrade })).status).toBe(401)
    expect(await ask({}, t.logIn('bob@example.com'))).toStartWith('404')
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'same-site' }])
      expect(await ask(headers)).toStartWith('403 A page of another site')
    for (const [scope, status] of [
      ['read', 403],
      ['deploy', 403],
      ['write', 200],
    ] as const) {
      const { token } = (await ada.post('/settings/tokens', { name: scope, scopes: [scope] })).json
      const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' }
      expect((await t.app.request(at, { headers })).status, scope).toBe(status)
    }
    await ada.post(`${path}/${run.id}/cancel`)
    await ended(run)
    expect(await ask()).toStartWith('409 This run has ended (cancelled).')
  })

  test('more often than a user may have streams is refused, and leaves nothing', async () => {
    const { t, start, attach, ada, path, containers } = await aLiveEnvironment({
      env: { DAVIT_STREAMS_PER_USER: '3' },
    })
    const run = await start('sh', { attach: true })
    const server = listening(t)
    const shells = Array.from({ length: 20 }, () => attach(run, { server }))
    await until(() => shells.filter(({ closed }) => closed === null).length === 3)
    const refused = await ada.get(`${path}/${run.id}/attach`)
    expect([refused.status, refused.json.detail]).toEqual([429, expect.stringContaining('3 live')])
    await ada.post(`${path}/${run.id}/cancel`)
    await until(() => t.streams.size === 0)
    expect(await containers()).toEqual([])
  })

  test('with a token of scope write is for programs', async () => {
    const { ada, start, attach } = await aLiveEnvironment()
    const { token } = (await ada.post('/settings/tokens', { name: 'cli', scopes: ['write'] })).json
    const run = await start('cat', { attach: true })
    const shell = attach(run, { headers: { Cookie: '', Authorization: `Bearer ${token}` } })
    await until(() => shell.isOpen)
    shell.type('hello\n')
    await shell.shows('hello\r\nhello')
    shell.type('\x04')
    await shell.ends()
    expect(shell.exitCode).toBe(0)
  })
})
