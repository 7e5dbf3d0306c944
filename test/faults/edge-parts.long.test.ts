import { expect, test } from 'bun:test'
import { newInstanceDies, socketGone } from './edge-odd.ts'
import { caddyUnderLoad, hostsUnderLoad, instancesUnderLoad } from './edge-parts.ts'
import { engineUnderEdge } from './edge-engine.ts'
import { switchOnFullDisk } from './edge-disk.ts'

test('no visitor notices that hosts are added', async () => {
  expect((await hostsUnderLoad({ rounds: 5 })).bad).toBe(0)
}, 600_000)

test('of an app with two instances no visitor notices that one is killed', async () => {
  expect((await instancesUnderLoad({ rounds: 5 })).bad).toBe(0)
}, 600_000)

test('no visitor notices that one of two new instances dies about when the switch comes', async () => {
  expect((await newInstanceDies({ rounds: 5 })).bad).toBe(0)
}, 600_000)

test('Caddy comes back by itself when it is killed', async () => {
  expect((await caddyUnderLoad({ rounds: 3 })).bad).toBe(0)
}, 300_000)

test('Caddy is configured again when its admin socket is removed in the middle of a deploy', async () => {
  expect((await socketGone({ rounds: 2 })).bad).toBe(0)
}, 300_000)

test('no visitor notices that the disk is full when the switch comes, which comes when there is room', async () => {
  const { status, failed, cut, reasons } = await switchOnFullDisk()
  expect(reasons).toEqual([])
  expect([status, failed, cut]).toEqual(['running', 0, 0])
}, 300_000)

test('Caddy and the app come back with the engine', async () => {
  expect((await engineUnderEdge({ rounds: 2 })).bad).toBe(0)
}, 300_000)
