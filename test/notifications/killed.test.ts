import { expect, onTestFinished, test } from 'bun:test'
import { account, anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { ok, receiver } from './scene.ts'

type Item = { title: string; deliveries: { status: string; uncertain: boolean }[] }

test('each token is told of, however often Davit is killed while the receiver hangs', async () => {
  const hung = Promise.withResolvers<void>()
  onTestFinished(() => hung.resolve())
  const { received, url, at } = receiver(() => hung.promise.then(ok))
  const installation = anInstallation()
  onTestFinished(() => installation.leave())
  let { client } = await installation.start()
  const hook = { kind: 'webhook', name: 'ops', url, events: ['token_created'] }
  await client.post('/settings/channels', hook)
  for (let kills = 0; kills < 3; kills++) {
    await client.post('/settings/tokens', {
      ...{ name: `token ${kills}`, scopes: ['read'], currentPassword: account.password },
    })
    await until(() => received.length > kills)
    await installation.kill()
    ;({ client } = await installation.start())
  }
  at.answer = ok
  const ids = () => new Set(received.map(({ id }) => id))
  await until(() => ids().size === 3)
  const events = async () => (await client.get<{ items: Item[] }>('/settings/events')).items
  await until(async () =>
    (await events()).every(({ deliveries }) => deliveries.every(({ status }) => status === 'sent')),
  )
  const told = (await events()).filter(({ deliveries }) => deliveries.length > 0)
  expect(told).toHaveLength(3)
  expect(told.at(-1)!.deliveries).toMatchObject([{ uncertain: true }])
  expect(installation.errors()).toEqual([])
}, 60_000)
