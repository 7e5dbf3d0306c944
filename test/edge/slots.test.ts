import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setHosts } from '../../src/edge/hosts.ts'
import { keepSlots, readSlots, setSlots } from '../../src/edge/slots.ts'
import { aHost } from './caddy.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'davit-slots-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const namesIn = () => readdirSync(join(folder, 'slots')).toSorted()

test('a key’s addresses get equally many slots', () => {
  expect(readSlots(folder, 'app')).toBeNull()
  setSlots(folder, 'app', ['a:1', 'b:1', 'c:1'])
  expect(readSlots(folder, 'app')).toEqual(Array(4).fill(['a:1', 'b:1', 'c:1']).flat())
  expect(readFileSync(join(folder, 'slots/app/11'), 'utf8')).toBe('c:1')
})

test('a change keeps the slots before until the next one, and nothing else', () => {
  for (const address of ['a:1', 'b:1', 'c:1', 'c:1']) setSlots(folder, 'app', [address])
  expect(namesIn()).toEqual(['.app.1', '.app.2', 'app'])
  expect(readSlots(folder, 'app')).toEqual(Array(12).fill('c:1'))
})

test('what was there before is there again after one rename', () => {
  for (const address of ['a:1', 'b:1']) setSlots(folder, 'app', [address])
  const { ino } = statSync(join(folder, 'slots/.app.0/11'))
  setSlots(folder, 'app', ['a:1'])
  expect(readlinkSync(join(folder, 'slots/app'))).toBe('.app.0')
  expect(statSync(join(folder, 'slots/app/11')).ino).toBe(ino)
  setSlots(folder, 'app', ['c:1'])
  expect(namesIn()).toEqual(['.app.0', '.app.2', 'app'])
})

test('a change that was broken off is no obstacle', () => {
  setSlots(folder, 'app', ['a:1'])
  mkdirSync(join(folder, 'slots/.app.1/3'), { recursive: true })
  symlinkSync('.app.1', join(folder, 'slots/.app.link'))
  setSlots(folder, 'app', ['b:1'])
  expect(readSlots(folder, 'app')).toEqual(Array(12).fill('b:1'))
})

test('slots of keys that no one has are removed', () => {
  for (const key of ['app', 'app-2', 'old']) setSlots(folder, key, ['a:1'])
  keepSlots(folder, new Set(['app']))
  expect(namesIn()).toEqual(['.app.0', 'app'])
})

test('a host with options has its address once they are in force, one that Caddy refuses has none', () => {
  const strict = aHost('strict.test', { maxBody: 1 })
  const hosts = [aHost('app.test'), strict, aHost('bad.test')]
  const given = { folderInside: '/edge', rejected: ['bad.test'] }
  const leads = () => readdirSync(join(folder, 'hosts')).toSorted()
  expect(setHosts(folder, hosts, { ...given, isInForce: false })).toBe(false)
  expect(leads()).toEqual(['app.test'])
  expect(setHosts(folder, hosts, given)).toBe(true)
  expect(leads()).toEqual(['app.test', 'strict.test'])
  // a change of a host that is served doesn't interrupt it
  expect(setHosts(folder, hosts, { ...given, isInForce: false })).toBe(true)
  setHosts(folder, hosts, { ...given, rejected: ['strict.test'] })
  expect(readlinkSync(join(folder, 'hosts/strict.test'))).toBe('../slots/nobody')
})

test('a name with options that changes hands leads to no one until they are in force', () => {
  const led = () => readlinkSync(join(folder, 'hosts/shop.test'))
  const shop = (slots: string, options = {}) =>
    aHost('shop.test', { target: { slots }, ...options })
  const login = { maxBody: 1 }
  const given = { folderInside: '/edge' }
  for (const before of [shop('old'), shop('old', login)]) {
    setHosts(folder, [before], given)
    expect(led()).toBe('../slots/old')
    expect(setHosts(folder, [shop('new', login)], { ...given, isInForce: false })).toBe(false)
    expect(led()).toBe('../slots/nobody')
    expect(setHosts(folder, [shop('new', login)], given)).toBe(true)
    expect(led()).toBe('../slots/new')
  }
})

test('a key can’t lead out of the folder', () => {
  for (const key of ['../x', 'a/b', '.', ''])
    expect(() => setSlots(folder, key, ['a:1'])).toThrow('isn’t a key')
})
