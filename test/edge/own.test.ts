import { afterAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../src/edge/slots.ts'
import { ownCaddy } from '../../src/edge/own.ts'
import type { Engine } from '../../src/edge/own.ts'
import { Failure } from '../../src/platform/errors.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/free-port.ts'
import { signal } from './caddy.ts'

const folder = mkdtempSync(join(tmpdir(), 'davit-edge-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ports = { http: freePort(), https: freePort() }
const plan = { folder: '/edge', ports, hosts: [], listeners: [], authority: null }

test('an image that can’t be pulled is the reason, asked for once in a while, and used once it is there', async () => {
  const here = { apart: null, isContained: false, isRunning: false, hasImage: false }
  const asked: string[] = []
  const ensured = new Failure('test', 'It was created.', '')
  const engine: Engine = {
    look: async () => here,
    async pull() {
      asked.push('pull')
      throw new Failure('pull_failed', 'The registry can’t be reached.', '')
    },
    ensure: () => Promise.reject(ensured),
    remove: async () => {},
  }
  const caddy = ownCaddy({ folder, ports, engine })
  const reason = {
    code: 'edge_direct',
    hint: expect.stringContaining('docker pull caddy:2'),
  }
  await expect(caddy.start(plan, { signal })).rejects.toMatchObject(reason)
  await expect(caddy.start(plan, { signal })).rejects.toMatchObject(reason)
  expect(asked).toEqual(['pull'])
  here.hasImage = true
  makeFolder(folder)
  await expect(caddy.start(plan, { signal })).rejects.toBe(ensured)
})

test('no one else enters the folder, whoever was let in before', async () => {
  chmodSync(folder, 0o711)
  const look = () => Promise.reject(new Failure('test', 'Enough.', ''))
  const engine = { look, pull: look, ensure: look, remove: look }
  await expect(ownCaddy({ folder, ports, engine }).start(plan, { signal })).rejects.toThrow(
    'Enough.',
  )
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('what a load has left in Caddy’s memory is collected, and one that doesn’t do that serves as well', async () => {
  for (const status of [200, 404, 500]) {
    const own = mkdtempSync(join(tmpdir(), 'davit-edge-'))
    const asked: string[] = []
    await using server = Bun.serve({
      unix: join(own, 'admin.sock'),
      fetch({ url }) {
        const path = new URL(url).pathname
        asked.push(path)
        return path.startsWith('/debug') ? new Response('', { status }) : new Response('null')
      },
    })
    const none = () => Promise.reject(new Failure('test', 'Not asked.', ''))
    const engine = { look: none, pull: none, ensure: none, remove: none }
    const served = await ownCaddy({ folder: own, ports, engine }).serve(plan, { signal })
    expect(served.state).toBe('in force')
    const after = () => asked.slice(asked.indexOf('/load') + 1)
    await until(() => after().length === 2)
    expect(after()).toEqual(['/debug/pprof/heap', '/debug/pprof/heap'])
    rmSync(own, { recursive: true })
    server.stop(true)
  }
})
