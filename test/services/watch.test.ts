import { expect, test } from 'bun:test'
import { watchWorkloads } from '../../src/runtime/observe.ts'
import { observe, services } from '../../src/services/observe.ts'
import type { EngineEvent, Health } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { idle, made, reaches } from './instances.ts'

test('the state follows what is stopped, killed and started elsewhere', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, `services: {a: {${idle}}, b: {${idle}, restart: "no"}}`)
  const stop = new AbortController()
  const { signal } = stop
  const watching = watchWorkloads(t.deps, services, { signal })
  const feeding = t.feed.run(t.docker, { signal })
  const [a, b] = ['a', 'b'].map(
    (part) => service.containers.find((c: { part: string }) => c.part === part).id as string,
  )

  await t.docker.stopContainer(a!)
  await reaches(t, service, 'unhealthy')
  await t.docker.stopContainer(b!)
  await reaches(t, service, 'stopped')
  expect((await ada.get(`/services/${service.id}`)).json.status).toBe('stopped')
  await t.docker.startContainer(a!)
  await reaches(t, service, 'unhealthy')
  await t.docker.startContainer(b!)
  await reaches(t, service, 'running')
  stop.abort()
  await Promise.all([watching, feeding])
})

test('a service that can’t be looked at holds up no other, and is looked at again', async () => {
  const { t, ada } = withAda(simulatedApp())
  const [odd, other] = [
    await made(t, ada, `services: {a: {${idle}}}`, { name: 'odd' }),
    await made(t, ada, `services: {a: {${idle}}}`, { name: 'other' }),
  ]
  const idOf = ({ containers }: typeof odd): string => containers[0].id
  t.faults.inspectContainer = (id, ...rest) =>
    id === idOf(odd)
      ? Promise.reject(new Failure('engine_timeout', 'No answer.', 'Wait.'))
      : t.docker.inspectContainer(id, ...rest)
  await Promise.all([odd, other].map((one) => t.docker.stopContainer(idOf(one))))
  const stop = new AbortController()
  const { signal } = stop
  const work = [watchWorkloads(t.deps, services, { signal }), t.feed.run(t.docker, { signal })]

  await reaches(t, other, 'stopped')
  expect((await ada.get(`/services/${odd.id}`)).json.status).toBe('running')
  delete t.faults.inspectContainer
  await reaches(t, odd, 'stopped')
  stop.abort()
  await Promise.all(work)
})

test('what happens while a service is looked at again is seen too', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  const stop = new AbortController()
  const { signal } = stop
  let tries = 0
  t.faults.inspectContainer = async (id, ...rest) => {
    tries++
    if (tries === 1) throw new Failure('engine_timeout', 'No answer.', 'Wait.')
    const found = await t.docker.inspectContainer(id, ...rest)
    if (tries === 2) {
      const heard = t.feed.listen(signal)[Symbol.asyncIterator]()
      await heard.next() // `resync`
      await t.docker.stopContainer(id)
      for (let event; event?.id !== id || event.action !== 'stop';)
        event = (await heard.next()).value as EngineEvent
    }
    return found
  }
  const work = [watchWorkloads(t.deps, services, { signal }), t.feed.run(t.docker, { signal })]

  await reaches(t, service, 'stopped')
  stop.abort()
  await Promise.all(work)
}, 60_000)

test('a health check that has yet to pass does not make a service unhealthy; one that fails does', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  const look = async (health: string) => {
    const options = { orphans: false, signal: new AbortController().signal }
    t.faults.inspectContainer = async (...args) => {
      const found = await t.docker.inspectContainer(...args)
      return found && { ...found, health: health as Health }
    }
    await observe(t.deps, service.id, options)
    return (await ada.get(`/services/${service.id}`)).json.status
  }
  expect(await look('starting')).toBe('running')
  expect(await look('unhealthy')).toBe('unhealthy')
  expect(await look('starting')).toBe('unhealthy')
  expect(await look('healthy')).toBe('running')
})
