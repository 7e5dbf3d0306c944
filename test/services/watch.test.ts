import { expect, test } from 'bun:test'
import type { ServiceEvent } from '../../src/services/events.ts'
import { watchServices } from '../../src/services/watch.ts'
import { testApp } from '../support/app.ts'
import { idle, made } from './instances.ts'

test('the state follows what is stopped, killed and started elsewhere', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const service = await made(t, ada, `services: {a: {${idle}}, b: {${idle}, restart: "no"}}`)
  const stop = new AbortController()
  const { signal } = stop
  const watching = watchServices(t.deps, { signal })
  const feeding = t.feed.run(t.docker, { signal })
  const events = t.serviceEvents.subscribe(service.id, signal)[Symbol.asyncIterator]()
  const next = async () => ((await events.next()).value as ServiceEvent & { status: string }).status
  const [a, b] = ['a', 'b'].map(
    (part) => service.containers.find((c: { part: string }) => c.part === part).id as string,
  )

  await t.docker.stopContainer(a!)
  expect(await next()).toBe('unhealthy')
  await t.docker.stopContainer(b!)
  expect(await next()).toBe('stopped')
  expect((await ada.get(`/services/${service.id}`)).json.status).toBe('stopped')
  await t.docker.startContainer(a!)
  expect(await next()).toBe('unhealthy')
  await t.docker.startContainer(b!)
  expect(await next()).toBe('running')
  stop.abort()
  await Promise.all([watching, feeding])
})
