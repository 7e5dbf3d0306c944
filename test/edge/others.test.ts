import { expect, onTestFinished, setSystemTime, test } from 'bun:test'
import { Failure } from '../../src/platform/errors.ts'
import { until } from '../support/until.ts'
import { aHost } from './caddy.ts'
import { anInstallation, over } from './simulated-others.ts'

test('while no other server has an edge nothing is asked of any, and Davit’s own is as it was', async () => {
  const s = anInstallation()
  await s.look()
  expect(s.there.made).toBe(0)
  expect(s.plans.at(-1)).not.toHaveProperty('tokens')
})

test('one that is to serve gets all that is served, and where it finds it', async () => {
  const s = anInstallation()
  await s.look()
  s.server.isServing = true
  await s.look()
  expect(s.there.slot('app')).toBe('10.0.0.1:20000')
  expect(s.there.slot('service')).toBe('unix//edge/pages/home.sock') // through Davit’s own
  expect(s.there.slot('davit')).toBe('unix//edge/pages/home.sock')
  expect(s.there.slot('stopped')).toBe('unix//edge/pages/stopped.sock')
  expect(s.there.files.get('/edge/health')).toBe('200')
  const [token] = s.plans.at(-1)!.tokens!
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect(s.loaded()).toContain(token!)
  expect(s.loaded()).toContain('app.test')
  expect(s.loaded()).toContain('"output":"stdout"')
})

test('Davit’s own believes each by a secret of its own, and none that was removed', async () => {
  const s = anInstallation()
  s.server.isServing = true
  s.servers.push({ id: 'three', name: 'three', isServing: true })
  await s.look()
  const [two, three] = s.plans.at(-1)!.tokens!
  expect(three).not.toBe(two)
  s.servers.shift()
  await s.look()
  expect(s.plans.at(-1)!.tokens).toEqual([three!])
})

test('a switch writes the files of that app alone, and loads nothing', async () => {
  const s = anInstallation()
  s.server.isServing = true
  await s.look()
  const loads = s.there.loads.length
  s.there.writes.length = 0
  s.edge.route('app', ['172.18.0.9:80'], ['10.0.0.1:20001'])
  await s.others.settled({ signal: over.signal })
  expect(s.there.slot('app')).toBe('10.0.0.1:20001')
  s.edge.routeShare(
    'app',
    { slot: 0, percent: 10, isSticky: false },
    { new: ['172.18.0.9:80'], before: ['172.18.0.2:80'] },
  )
  await s.others.settled({ signal: over.signal })
  expect(s.there.slot('app')).toBe('unix//edge/pages/home.sock') // only Davit’s own shares requests
  await s.look()
  expect(s.there.writes).toEqual(['slots/app', 'slots/app'])
  expect(s.there.loads).toHaveLength(loads)
  s.edge.forget('service')
  await s.look()
  expect(s.there.slot('service')).toBeNull()
})

test('what changed while it was away is there as soon as it is back, and holds up no one', async () => {
  const s = anInstallation()
  s.server.isServing = true
  await s.look()
  s.there.isAway = true
  s.edge.route('app', ['172.18.0.9:80'], ['10.0.0.1:20001'])
  await s.others.settled({ signal: over.signal })
  expect(s.others.troubles()).toEqual([{ message: 'two: Away.', hint: 'Wait.' }])
  s.there.isAway = false
  await s.look()
  expect(s.there.slot('app')).toBe('10.0.0.1:20001')
  expect(s.others.troubles()).toEqual([])
})

test('what its Caddy refuses is said, and tried again', async () => {
  const s = anInstallation()
  s.there.refusal = new Failure('edge_refused', 'Port 80 is taken.', 'Free it.')
  s.server.isServing = true
  await s.look()
  expect(s.others.troubles()).toEqual([{ message: 'two: Port 80 is taken.', hint: 'Free it.' }])
  s.there.refusal = null
  await s.look()
  expect(s.there.loads).toHaveLength(1)
  expect(s.others.troubles()).toEqual([])
})

test('a new container has everything again', async () => {
  const s = anInstallation()
  s.server.isServing = true
  await s.look()
  s.there.id = null
  s.there.files.clear()
  s.edge.invalidate()
  await s.look()
  await s.look()
  expect(s.there.made).toBe(2)
  expect(s.there.slot('app')).toBe('10.0.0.1:20000')
  expect(s.there.loads).toHaveLength(2)
})

test('certificates are there before a configuration names them, and again when they were renewed', async () => {
  const host = aHost('app.test', {}, { https: { kind: 'auto', mayAsk: true, redirect: true } })
  const s = anInstallation({ hosts: [host] })
  s.server.isServing = true
  await s.look()
  expect(s.loaded()).not.toContain('load_files')
  expect(s.loaded()).not.toContain('Location')
  for (const end of [1000, 2000]) {
    s.issued.set('app.test', end)
    await s.look()
    expect(s.there.files.get(`/data/certificates/app.test-${end}.key`)).toBe('k')
    expect(s.loaded()).toContain(`/data/certificates/app.test-${end}.crt`)
    expect(s.loaded()).toContain('Location') // of the redirect to HTTPS
  }
  expect(s.there.writes.filter((path) => path.startsWith('certificates/'))).toHaveLength(4)
  expect(s.loaded()).not.toContain('acme"')
})

test('one that can’t be removed goes on, and has what is new', async () => {
  const s = anInstallation()
  s.server.isServing = true
  await s.look()
  s.there.refusal = new Failure('engine_refused', 'In use.', 'Try again.')
  const { signal } = over
  await expect(s.others.end('two', { signal })).rejects.toBe(s.there.refusal)
  s.there.refusal = null
  s.edge.route('app', ['172.18.0.9:80'], ['10.0.0.1:20001'])
  await s.look()
  expect(s.there.slot('app')).toBe('10.0.0.1:20001')
  expect(s.there.made).toBe(1)
})

test('visitors are told to leave before it ends, and it has what is new until then', async () => {
  const s = anInstallation()
  await s.look()
  await until(() => s.there.calls.includes('remove')) // of a server that had none
  s.server.isServing = true
  await s.look()
  s.server.isServing = false
  await s.look()
  await until(async () => (await s.look(), s.there.id === null))
  expect(s.there.writes.at(-1)).toBe('health')
  await s.look()
  expect(s.plans.at(-1)).not.toHaveProperty('tokens')
  expect(s.there.made).toBe(1)
})

test('no clock that is set ends it before visitors have left it', async () => {
  const s = anInstallation({ quietTime: 60_000 })
  s.server.isServing = true
  await s.look()
  s.server.isServing = false
  await s.look()
  onTestFinished(() => void setSystemTime())
  setSystemTime(Date.now() + 3_600_000)
  await s.look()
  expect(s.there.id).not.toBeNull()
})

test('without anything to serve it ends at once', async () => {
  const s = anInstallation()
  s.server.isServing = true
  await s.look()
  expect(s.there.id).not.toBeNull()
  s.wanted.hosts = []
  await s.look()
  await until(() => s.there.id === null)
})

test('an engine that doesn’t answer is said, and asked again; the edge then has what is new', async () => {
  const s = anInstallation({ callTime: 50 })
  s.server.isServing = true
  await s.look()
  const hung = Promise.withResolvers<void>()
  s.there.hangs = hung.promise
  s.edge.route('app', ['172.18.0.9:80'], ['10.0.0.1:20001'])
  await s.others.settled({ signal: over.signal })
  expect(s.others.troubles()).toMatchObject([{ message: expect.stringContaining('in time') }])
  expect(s.there.slot('app')).toBe('10.0.0.1:20000')
  s.there.hangs = null
  await s.look()
  expect(s.there.slot('app')).toBe('10.0.0.1:20001')
  expect(s.others.troubles()).toEqual([])
})

test('one is removed only after what its engine was asked before has ended, and nothing of it is left', async () => {
  const s = anInstallation()
  s.server.isServing = true
  const hung = Promise.withResolvers<void>()
  s.there.hangs = hung.promise
  await s.edge.sync()
  expect(s.there.calls).toEqual(['ensure'])
  const ended = s.others.end('two', { signal: over.signal })
  await s.edge.sync()
  expect(s.there.calls).toEqual(['ensure'])
  s.there.hangs = null
  hung.resolve()
  await ended
  expect([s.there.id, s.there.files.size, s.there.volumes.size]).toEqual([null, 0, 0])
  expect(s.there.calls.at(-1)).toBe('remove')
})

test('a removal that its engine doesn’t let end in time fails, and the edge goes on', async () => {
  const s = anInstallation()
  s.server.isServing = true
  await s.look()
  const hung = Promise.withResolvers<void>()
  s.there.hangs = hung.promise
  s.edge.route('app', ['172.18.0.9:80'], ['10.0.0.1:20001'])
  const signal = AbortSignal.timeout(20)
  await expect(s.others.end('two', { signal })).rejects.toMatchObject({ code: 'edge_timeout' })
  s.there.hangs = null
  hung.resolve()
  await s.look()
  expect(s.there.slot('app')).toBe('10.0.0.1:20001')
})

test('what a removal left that was cut off is removed, also the keys of certificates', async () => {
  const s = anInstallation()
  s.there.volumes.add('keys')
  s.servers.push({ id: 'three', name: 'three', isServing: false })
  await s.look()
  await until(() => s.there.volumes.size === 0)
})

test('what is known of an edge is said, and nothing of a server that has none', async () => {
  const s = anInstallation({ quietTime: 100_000 })
  const state = () => s.others.stateOf('two').state
  const becomes = (wanted: string) => until(async () => (await s.look(), state() === wanted))
  const hung = Promise.withResolvers<void>()
  s.there.hangs = hung.promise
  s.server.isServing = true
  await s.edge.sync()
  expect(state()).toBe('starting')
  s.there.hangs = null
  hung.resolve()
  await becomes('serving')
  s.there.isAway = true
  s.edge.route('app', ['172.18.0.9:80'], ['10.0.0.1:20001'])
  await becomes('outdated')
  expect(s.others.stateOf('two').trouble).toMatchObject({ message: 'Away.' })
  s.there.isAway = false
  s.server.isServing = false
  await becomes('leaving')
  s.wanted.hosts = []
  await becomes('off')
  s.there.isAway = true
  s.there.calls.length = 0
  s.edge.invalidate()
  await until(async () => (await s.look(), s.there.calls.length > 0))
  expect(s.others.stateOf('two')).toEqual({ state: 'off', trouble: null })
})
