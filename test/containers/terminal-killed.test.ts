import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { execIn } from '../support/exec.ts'
import { until } from '../support/until.ts'
import { Shell } from './shell.ts'

const compose = `
services:
  box:
    image: busybox
    command: [sleep, "999"]
    stop_grace_period: 1s
`

test('what a killed Davit left in its terminals is ended by the next one, and nothing else is', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'davit-terminals-'))
  const env = { DAVIT_DATA_DIR: join(directory, 'data'), DAVIT_RATE_BURST: '10000' }
  const account = { email: 'ada@example.com', password: crypto.randomUUID() }
  const enter = async (url: string, path: '/auth/register' | '/auth/login') => {
    const client = new DavitClient({ url, signal: AbortSignal.timeout(60_000) })
    await client.enter(path, account)
    return client
  }
  const first = await startDavit({ directory, env })
  const ada = await enter(first.url, '/auth/register')
  const { id } = await ada.post<{ id: string }>('/services/compose', { name: 'box', compose })
  const see = () => ada.get<{ status: string; containers: { id: string }[] }>(`/services/${id}`)
  await until(async () => (await see()).status === 'running')
  const container = (await see()).containers[0]!.id
  const programs = async () => (await execIn(container, ['ps'])).output

  const shell = new Shell(`${first.url.replace('http', 'ws')}/containers/${container}/terminal`, {
    Cookie: `svc_session=${ada.cookie('svc_session')}`,
  })
  await shell.shows('/ #')
  shell.type('setsid sleep 3333 & sleep 1111 & sleep 2222\n')
  await until(async () => (await programs()).includes('sleep 2222'))
  void execIn(container, ['sleep', '4444'])
  await until(async () => (await programs()).includes('sleep 4444'))
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  expect(await programs()).toContain('sleep 2222')

  const second = await startDavit({ directory, env })
  onTestFinished(async () => {
    await (await enter(second.url, '/auth/login')).removeAll()
    await second.stop()
    rmSync(directory, { recursive: true })
  })
  let left = ''
  await until(async () => !/sleep (1111|2222)|\bsh$/m.test((left = await programs())))
  for (const kept of ['sleep 999', 'sleep 3333', 'sleep 4444']) expect(left).toContain(kept)
})
