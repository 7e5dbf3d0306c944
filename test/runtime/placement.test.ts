import { describe, expect, test } from 'bun:test'
import { chooseServers } from '../../src/runtime/placement.ts'
import type { Placement } from '../../src/db/schema.ts'
import type { Candidate } from '../../src/runtime/placement.ts'
import { aComponent } from './workload.ts'

const GiB = 2 ** 30

const aServer = (name: string, changes: Partial<Candidate> = {}): Candidate => ({
  ...{ id: name, name, address: `198.51.100.${name.at(-1)}`, roles: ['apps'], state: 'ready' },
  labels: { zone: name === 'c3' ? 'west' : 'east' },
  machine: { arch: 'amd64', memoryBytes: 4 * GiB },
  containers: 0,
  ...changes,
})

const all = [aServer('a1'), aServer('b2'), aServer('c3')]
const but = (name: string, changes: Partial<Candidate>) =>
  all.map((one) => (one.name === name ? { ...one, ...changes } : one))
const east: Placement = { labels: { zone: 'east' }, spread: 'servers' }
const everywhere: Placement = { labels: {}, spread: 'servers' }
const web = aComponent('web', {})
const times = (count: number) => Array.from({ length: count }, () => web)
const onVolume = aComponent('web', { volume: 'data' })

describe('servers are chosen', () => {
  const cases: [string, Candidate[], Placement, (typeof web)[], string[]][] = [
    ['the one that is named', all, { server: 'b2' }, times(2), ['b2', 'b2']],
    ['evenly', all, everywhere, times(4), ['a1', 'b2', 'c3', 'a1']],
    ['by label', all, east, times(3), ['a1', 'b2', 'a1']],
    ['the emptier first', but('a1', { containers: 9 }), east, times(1), ['b2']],
    ['without one that is drained', but('b2', { state: 'draining' }), east, times(2), ['a1', 'a1']],
    ['without one that is away', but('a1', { state: 'away' }), east, times(1), ['b2']],
    ['without one that doesn’t respond', but('a1', { machine: null }), east, times(1), ['b2']],
    ['without one for the edge alone', but('a1', { roles: ['edge'] }), east, times(1), ['b2']],
    [
      'of the same architecture',
      but('c3', { machine: { arch: 'arm64', memoryBytes: GiB } }),
      everywhere,
      times(3),
      ['a1', 'b2', 'a1'],
    ],
    [
      'with enough memory',
      but('a1', { machine: { arch: 'amd64', memoryBytes: 2 ** 20 } }),
      east,
      times(1),
      ['b2'],
    ],
  ]
  test.each(cases)('%s', (_, candidates, placement, components, expected) => {
    expect(chooseServers(candidates, { placement, components })).toEqual(expected)
  })
})

test('what is whole is on one server, and what has volumes where these are', () => {
  const wanted = { placement: east, components: [onVolume, web], isWhole: true }
  const emptier = but('a1', { containers: 1 })
  expect(chooseServers(emptier, wanted)).toEqual(['b2', 'b2'])
  const pinned = { ...wanted, pinned: 'c3' }
  expect(chooseServers(all, pinned)).toEqual(['c3', 'c3'])
  expect(chooseServers(but('c3', { state: 'draining', roles: [] }), pinned)).toEqual(['c3', 'c3'])
  expect(() => chooseServers(but('c3', { state: 'away' }), pinned)).toThrow('it waits for c3')
  expect(() => chooseServers(all.slice(0, 2), pinned)).toThrow('was removed')
})

test('images that a server pulls are those of its architecture', () => {
  const others = but('c3', { machine: { arch: 'arm64', memoryBytes: GiB } })
  const wanted = { placement: { server: 'c3' }, components: [web] }
  expect(() => chooseServers(others, wanted)).toThrow('c3 is arm64')
  expect(chooseServers(others, { ...wanted, isPulled: true })).toEqual(['c3'])
})

describe('without a server, each is named with its reason', () => {
  const memory = { arch: 'amd64', memoryBytes: 2 ** 20 }
  const cases: [string, Candidate[], Placement, typeof web, string[]][] = [
    ['one that was removed', all, { server: 'd4' }, web, ['was removed']],
    ['no label', all, { labels: { zone: 'south' }, spread: 'servers' }, web, ['a1', 'b2', 'c3']],
    ['memory', but('b2', { machine: memory }), { server: 'b2' }, web, ['1 MiB', '32 MiB']],
    ['drained', but('b2', { state: 'draining' }), { server: 'b2' }, web, ['b2 is being drained']],
  ]
  test.each(cases)('%s', (_, candidates, placement, component, reasons) => {
    const choose = () => chooseServers(candidates, { placement, components: [component] })
    expect(choose).toThrow(expect.objectContaining({ code: 'no_server' }))
    for (const reason of reasons) expect(choose).toThrow(reason)
  })
})
