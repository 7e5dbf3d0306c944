import { expect, onTestFinished, test } from 'bun:test'
import { execIn } from '../support/exec.ts'
import { anInstallation } from '../support/installation.ts'
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
  const davit = anInstallation({}, { DAVIT_SETTLE_TIME: '1' })
  onTestFinished(() => davit.leave())
  const { url, client } = await davit.start()
  const { id } = await client.post<{ id: string }>('/services/compose', { name: 'box', compose })
  const see = () => client.get<{ status: string; containers: { id: string }[] }>(`/services/${id}`)
  await until(async () => (await see()).status === 'running')
  const container = (await see()).containers[0]!.id
  const programs = async () => (await execIn(container, ['ps'])).output

  const shell = new Shell(`${url.replace('http', 'ws')}/containers/${container}/terminal`, {
    Cookie: `svc_session=${client.cookie('svc_session')}`,
  })
  await shell.shows('/ #')
  shell.type('setsid sleep 3333 & sleep 1111 & sleep 2222\n')
  await until(async () => (await programs()).includes('sleep 2222'))
  void execIn(container, ['sleep', '4444'])
  await until(async () => (await programs()).includes('sleep 4444'))
  await davit.kill()
  expect(await programs()).toContain('sleep 2222')

  await davit.start()
  let left = ''
  await until(async () => !/sleep (1111|2222)|\bsh$/m.test((left = await programs())))
  for (const kept of ['sleep 999', 'sleep 3333', 'sleep 4444']) expect(left).toContain(kept)
})
