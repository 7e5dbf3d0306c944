import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { aHost, anEdge } from '../edge/caddy.ts'
import { bareEnvironment } from '../support/davit.ts'
import { gitExample } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { startLoad } from './load.ts'
import { kinds } from './tally.ts'
import type { Kind } from './tally.ts'

const edge = await anEdge()
const own = { kind: 'own', redirect: false, certificate: gitExample.cert, key: gitExample.key }
const place = {
  ...{ address: '127.0.0.1', http: edge.ports.http, https: edge.ports.https },
  ...{ plainHost: 'app.test', secureHost: 'git.example', ca: gitExample.cert },
}

/** The app as a process of its own; its address. */
async function anApp(version: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'app.ts')], {
    env: { ...bareEnvironment(), PORT: '0', APP_VERSION: version, APP_INSTANCE: version },
    stdout: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  let text = ''
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk)
    const port = /listens on (\d+)/.exec(text)?.[1]
    if (port) return { address: `127.0.0.1:${port}`, kill: () => child.kill('SIGKILL') }
  }
  throw new Error('The app doesn’t start.')
}

async function aLoad(options: Partial<Parameters<typeof startLoad>[1]> = {}) {
  const [one, two] = [await anApp('one'), await anApp('two')]
  edge.slots('app', one.address)
  await edge.serve([aHost('app.test'), aHost('git.example', {}, { https: own as never })])
  const load = await startLoad(place, { versions: ['one'], ...options })
  onTestFinished(() => load[Symbol.dispose]())
  return { load, one, two }
}

const untilDone = (load: Awaited<ReturnType<typeof startLoad>>, least: number) =>
  until(async () => {
    const { done, failed, cut } = await load.look()
    return failed + cut > 0 || kinds.every((kind: Kind) => done[kind] >= least)
  })

test('every kind of visit counts, and none is lost by a switch', async () => {
  const { load, two } = await aLoad()
  await untilDone(load, 1)
  await load.allow('one', 'two')
  edge.slots('app', two.address)
  await load.allow('two')
  await untilDone(load, 3)
  const { failed, cut, lost, reasons } = await load.stop()
  expect(reasons).toEqual([])
  expect([failed, cut, lost]).toEqual([0, 0, 0])
})

test('a version that may not answer any more is a failure', async () => {
  const { load } = await aLoad()
  await untilDone(load, 1)
  await load.allow('two')
  await until(async () => (await load.look()).failed > 10)
  expect((await load.stop()).reasons.join()).toContain('one answers, not two')
})

test('an app that dies fails requests and cuts its streams', async () => {
  const streams = ['websocket', 'events', 'download'] as const
  const { load, one } = await aLoad({ without: ['upload'], ticks: 1200 }) // none ends before its app does
  await until(async () => {
    const { begun, done } = await load.look()
    return done.kept > 0 && streams.every((kind) => begun[kind] > 0)
  })
  one.kill()
  await until(async () => {
    const { failed, reasons } = await load.look()
    return failed > 0 && streams.every((kind) => reasons.join().includes(`${kind} cut`))
  })
  expect((await load.stop()).cut).toBeGreaterThanOrEqual(streams.length)
})
