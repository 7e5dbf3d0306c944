import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Edge } from '../../src/edge/edge.ts'
import type { Caddy, Host } from '../../src/edge/plan.ts'
import { Failure } from '../../src/platform/errors.ts'
import { aHost, signal } from './caddy.ts'
import { aCaddy } from './told-caddy.ts'

const place = mkdtempSync(join(tmpdir(), 'davit-edge-'))
const over = new AbortController()
afterAll(() => {
  over.abort()
  rmSync(place, { recursive: true })
})

describe('where Davit has no edge', () => {
  const folder = join(place, 'none')
  const edge = new Edge({ folder, caddy: null, isOptional: true, plan: none, fill() {} })

  test('nothing is waited for, and slots cost nothing', async () => {
    await edge.ready({ signal })
    await edge.run({ signal })
    await edge.sync()
    edge.route('app', ['10.0.0.1:80'])
    edge.forget('app')
    edge.keep(new Set())
    expect(edge.upstreamsOf('app')).toBeNull()
    expect(await edge.drained(['127.0.0.1:1'], { seconds: 60, signal })).toBe(true)
    expect(edge).toMatchObject({ mode: 'direct', isOn: false, trouble: null, caddy: null })
    expect(existsSync(folder)).toBe(false)
  })
})

describe('an edge that isn’t always needed', () => {
  const folder = join(place, 'auto')
  const caddy = aCaddy()
  let hosts: Host[] = []
  let fills = 0
  const edge: Edge = new Edge({
    folder,
    caddy,
    isOptional: true,
    plan: () => ({ ...none(), hosts }),
    fill() {
      fills++
      edge.route('filled', ['10.0.0.1:80'])
    },
  })

  test('stays off until something is to be served', async () => {
    let isKnown = false
    const ready = edge.ready({ signal }).then(() => (isKnown = true))
    expect(isKnown).toBe(false)
    void edge.run({ signal: over.signal })
    await ready
    edge.route('app', ['10.0.0.1:80'])
    expect(edge.upstreamsOf('app')).toBeNull()
    await edge.sync()
    expect(edge.mode).toBe('direct')
    expect(caddy.told).toEqual(['stop']) // one that an earlier Davit left
  })

  test('says why it stays off, and looks again', async () => {
    hosts = [aHost('app.test')]
    caddy.refusal = new Failure('edge_direct', 'No.', 'Do.')
    await edge.sync()
    expect(edge).toMatchObject({ mode: 'direct', trouble: caddy.refusal })
    caddy.refusal = null
    await edge.sync()
    expect(edge).toMatchObject({ mode: 'caddy', isOn: true, trouble: null })
    expect(fills).toBe(1)
    expect(edge.upstreamsOf('filled')).toEqual(['10.0.0.1:80'])
    expect(caddy.told).toEqual(['stop', 'serve app.test'])
  })

  test('leads a key to addresses or to a page, until it is forgotten', () => {
    edge.route('app', ['10.0.0.1:80', '10.0.0.2:80'])
    expect(edge.upstreamsOf('app')).toEqual(['10.0.0.1:80', '10.0.0.2:80'])
    edge.route('app', 'starting')
    expect(edge.upstreamsOf('app')).toBe('starting')
    edge.keep(new Set(['app']))
    expect(edge.upstreamsOf('filled')).toBeNull()
    expect(edge.upstreamsOf('app')).toBe('starting')
    edge.forget('app')
    expect(edge.upstreamsOf('app')).toBeNull()
  })

  test('isn’t known before the engine is', async () => {
    const away = aCaddy()
    away.refusal = new Failure('engine_unreachable', 'Away.', 'Start it.')
    const unknown = new Edge({
      ...{ folder: join(place, 'away'), caddy: away, isOptional: false, plan: none, fill() {} },
    })
    void unknown.run({ signal: over.signal })
    await unknown.sync()
    expect(unknown).toMatchObject({ mode: 'direct', trouble: away.refusal })
    let isKnown = false
    const ready = unknown.ready({ signal }).then(() => (isKnown = true))
    await unknown.sync()
    expect(isKnown).toBe(false)
    away.refusal = null
    await unknown.sync()
    await ready
    expect(unknown.mode).toBe('caddy')
  })

  test('stays on in trouble, and is off when nothing needs it', async () => {
    caddy.refusal = new Failure('edge_direct', 'No.', 'Do.')
    await edge.sync()
    expect(edge).toMatchObject({ mode: 'caddy', trouble: caddy.refusal })
    hosts = []
    await edge.sync()
    expect(edge).toMatchObject({ mode: 'direct', isOn: false, trouble: null })
    expect(caddy.told.at(-1)).toBe('stop')
  })
})

describe('until it is known how apps are reached, a Davit that starts says what the last one did', () => {
  const folder = join(place, 'again')
  const begin = (caddy: Caddy, isEnding = false) =>
    new Edge({ folder, caddy, isOptional: false, isEnding, plan: none, fill() {} })
  const modeOf = async (edge: Edge) => {
    const end = new AbortController()
    const running = edge.run({ signal: end.signal })
    await edge.sync()
    end.abort()
    await running
    return edge.mode
  }
  const away = new Failure('engine_unreachable', 'Away.', 'Start it.')
  const taken = new Failure('edge_direct', 'No.', 'Do.')

  test('that is off after one that never had an edge, and on after one that had', async () => {
    expect(begin(aCaddy()).mode).toBe('direct')
    expect(await modeOf(begin(aCaddy()))).toBe('caddy')
    const unknown = begin(Object.assign(aCaddy(), { refusal: away }))
    expect(unknown).toMatchObject({ mode: 'caddy', isOn: true, trouble: null })
    expect(await modeOf(unknown)).toBe('caddy')
    expect(unknown.isKnown()).toBe(false)
    expect(begin(aCaddy()).mode).toBe('caddy') // the one before never knew
    expect(begin(aCaddy('external')).mode).toBe('external')
    expect(begin(aCaddy(), true).mode).toBe('direct')
  })

  test('but an edge that can’t start any more is off, also for the next', async () => {
    const refused = begin(Object.assign(aCaddy(), { refusal: taken }))
    expect(refused.mode).toBe('caddy')
    expect(await modeOf(refused)).toBe('direct')
    expect(refused.isKnown()).toBe(true)
    expect(begin(aCaddy()).mode).toBe('direct')
  })
})

function none() {
  return { hosts: [], listeners: [], authority: null }
}
