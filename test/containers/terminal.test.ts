import { afterAll, expect, test } from 'bun:test'
import { deleteSessionsOf } from '../../src/accounts/store.ts'
import { connectEngine } from '../../src/docker/engine.ts'
import { openTerminal } from '../../src/docker/terminal.ts'
import { execIn } from '../support/exec.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { listening } from '../support/listening.ts'
import { until } from '../support/until.ts'
import { anOwn, aRunning, aStranger } from './engine.ts'
import { openShell } from './shell.ts'

const { t, ada } = withAda(testApp({}, { atEnd: afterAll }))
const { id } = await aRunning(t, ada)

const upgrade = { Upgrade: 'websocket', Connection: 'Upgrade' }

const programsIn = async (id: string) => (await execIn(id, ['ps'])).output

test('a shell runs in the container, as wide as the page says, and leaves nothing behind', async () => {
  const shell = openShell(t, ada, id)
  await shell.shows('/ #')
  await shell.resize(132, 43)
  shell.type('echo $TERM\n')
  await shell.shows('xterm-256color')
  shell.type("trap '' HUP; sleep 1111 & sleep 2222\n")
  await until(async () => (await programsIn(id)).includes('sleep 2222'))
  shell.close()
  await until(() => t.streams.size === 0)
  const left = await programsIn(id)
  expect(left).toContain('sleep 999')
  expect(left).not.toMatch(/sleep \d{4}|\bsh$/m)
})

test('a shell that someone leaves while it opens is ended', async () => {
  const engine = connectEngine(process.env.DOCKER_HOST)
  const left = new AbortController()
  const hijack: typeof engine.hijack = async (...asked) => {
    const connection = await engine.hijack(...asked)
    left.abort()
    return connection
  }
  const terminal = await openTerminal({ ...engine, hijack }, id, { signal: left.signal })
  expect(await programsIn(id)).toMatch(/\bsh$/m)
  for await (const _ of terminal.output) continue
  await terminal.close()
  expect(await programsIn(id)).not.toMatch(/\bsh$/m)
})

test('the shell’s own end is reported with its exit code, and ends what it left', async () => {
  const shell = openShell(t, ada, id)
  await shell.shows('/ #')
  shell.type('sleep 1111 &\nexit 3\n')
  expect(await shell.ends()).toBe('The shell has ended with exit code 3.')
  await until(() => t.streams.size === 0)
  expect(await programsIn(id)).not.toContain('sleep 1111')
})

test('a container that stops or restarts ends its terminals, and they say so', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  for (const verb of ['restart', 'stop']) {
    const shell = openShell(t, ada, id)
    await shell.shows('/ #')
    expect((await ada.post(`/containers/${id}/${verb}`)).status).toBe(200)
    expect(await shell.ends()).toBe('The container has stopped.')
  }
})

test('a terminal ends with its session', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  const shell = openShell(t, ada, id)
  await shell.shows('/ #')
  deleteSessionsOf(t.db, ada.user.id)
  expect(await shell.ends()).toBe('Your access has ended.')
  expect(shell.closed).toBe(1008)
  await until(() => t.streams.size === 0)
  expect(await programsIn(id)).not.toMatch(/\bsh$/m)
})

test('Davit waits for what its terminals run when it stops', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  const shell = openShell(t, ada, id)
  await shell.shows('/ #')
  await t.streams.endAll()
  expect(await programsIn(id)).not.toMatch(/\bsh$/m)
  expect(await shell.ends()).toBe('Davit restarts.')
})

test('who opened a terminal where and for how long is recorded, but not what was typed', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  const shell = openShell(t, ada, id)
  await shell.shows('/ #')
  shell.type('echo hush\n')
  shell.close()
  await until(() => t.streams.size === 0)
  const rows = t.db.$client.query('SELECT * FROM audit_events').all() as Record<string, string>[]
  const about = { actor: 'ada@example.com', object_kind: 'container', object_id: id }
  expect(rows.slice(1)).toMatchObject([
    { action: 'terminal.opened', ...about },
    { action: 'terminal.closed', ...about, details: expect.stringMatching(/"seconds":"\d+"/) },
  ])
  expect(JSON.stringify(rows)).not.toContain('hush')
})

test('a client that does not draw is sent no more than a window, and may still interrupt', async () => {
  const shell = openShell(t, ada, id)
  await shell.shows('/ #')
  shell.say({ drawn: 0 })
  shell.type('while :; do cat /bin/busybox; done | od -x\n')
  await until(() => shell.received > 256 * 1024)
  await Bun.sleep(500) // a program that isn't held up would write megabytes more
  expect(shell.received).toBeLessThan(300 * 1024)
  shell.say({ drawn: shell.received })
  await until(() => shell.received > 300 * 1024)
  shell.type('\x03')
  shell.say({ drawn: Number.MAX_SAFE_INTEGER })
  shell.type('echo $((6 * 7))\n')
  await shell.shows(/\n42\r\n/)
})

test('what no program reads is buffered up to a limit, then the terminal ends', async () => {
  const shell = openShell(t, ada, id)
  await shell.shows('/ #')
  shell.type('stty raw -echo; sleep 1111\n')
  await until(async () => (await programsIn(id)).includes('sleep 1111'))
  while (shell.closed === null) {
    if (shell.isOpen) shell.type('x'.repeat(60_000))
    await Bun.sleep(5)
  }
  expect(shell.ended).toContain('program in this terminal doesn’t read input')
})

test('what isn’t a message ends the terminal with what one looks like', async () => {
  const server = listening(t)
  for (const message of [{ resize: [0, 1] }, { resize: ['a', 1] }, { resize: [1] }, [], 7]) {
    const shell = openShell(t, ada, id, { server })
    await shell.shows('/ #')
    shell.say(message as object)
    expect(await shell.ends()).toContain('{"resize":[80,24]}')
  }
})

test('a terminal is refused where none can be, each with its own answer', async () => {
  const stopped = await anOwn(t, ada, 'exit')
  const ask = async (path: string, headers = {}, by = ada) => {
    const answer = await by.send(path, { headers: { ...upgrade, ...headers } })
    return `${answer.status} ${((await answer.json()) as { detail: string }).detail}`
  }
  const path = `/containers/${id}/terminal`
  expect((await t.app.request(path, { headers: upgrade })).status).toBe(401)
  expect(await ask(path, {}, t.logIn('bob@example.com'))).toStartWith(
    '404 This container doesn’t exist',
  )
  const ofStopped = await ask(`/containers/${stopped.id}/terminal`)
  expect(ofStopped).toMatch(/^409 .* isn’t running: it is created/)
  for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'same-site' }])
    expect(await ask(path, headers)).toStartWith('403 A page of another site')
  for (const [scope, status] of [
    ['read', 403],
    ['deploy', 403],
    ['write', 200],
  ] as const) {
    const { token } = (await ada.post('/settings/tokens', { name: scope, scopes: [scope] })).json
    const headers = { Authorization: `Bearer ${token}` }
    expect((await t.app.request(path, { headers })).status, scope).toBe(status)
  }
})

test('an admin opens terminals in containers of others only where the settings say so', async () => {
  for (const [setting, own, other] of [
    ['own', 200, 403],
    ['all', 200, 200],
    ['off', 403, 403],
  ] as const) {
    const t = simulatedApp({ DAVIT_TERMINAL: setting })
    const [root, ada] = [t.logInAsAdmin(), t.logIn('ada@example.com')]
    const { id } = await aRunning(t, ada)
    const stranger = await aStranger(t, 'sleep 99')
    await t.docker.startContainer(stranger)
    expect((await ada.get(`/containers/${id}/terminal`)).status, setting).toBe(own)
    const page = (await ada.page(`/containers/${id}`)).text
    expect(page.includes(`/containers/${id}/terminal`), setting).toBe(own === 200)
    for (const asked of [id, stranger])
      expect((await root.get(`/containers/${asked}/terminal`)).status, setting).toBe(other)
  }
})

test('a hundred at once: as many as one user may have, the others are told', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_STREAMS_PER_USER: '4' }))
  const { id } = await aRunning(t, ada)
  const server = listening(t)
  const shells = Array.from({ length: 100 }, () => openShell(t, ada, id, { server }))
  await until(() => shells.filter(({ closed }) => closed === null).length === 4)
  const open = shells.filter(({ closed }) => closed === null)
  await Promise.all(open.map((shell) => shell.shows('/ #')))
  const refused = await ada.get(`/containers/${id}/terminal`)
  expect([refused.status, refused.json.detail]).toEqual([429, expect.stringContaining('4 live')])
  for (const shell of open) shell.close()
  await until(() => t.streams.size === 0)
  expect(await programsIn(id)).not.toMatch(/\bsh$/m)
})

test('a container without a shell says that it has none', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada, 'rm /bin/sh; sleep 999')
  expect(await openShell(t, ada, id).ends()).toContain('its image has no shell (sh).')
})
