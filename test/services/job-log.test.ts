import { describe, expect, test } from 'bun:test'
import { insertServiceJob } from '../../src/services/service-jobs.ts'
import { getService, updateService } from '../../src/services/store.ts'
import { readEvents } from '../demo/events.ts'
import type { ServerEvent } from '../demo/events.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { made } from './instances.ts'

const compose = (command: string) =>
  `services: {a: {image: busybox, command: [sh, -c, '${command}'], init: true, stop_grace_period: 1s}}`

const textsOf = async (client: TestClient, id: string): Promise<string[]> =>
  (await client.get(`/services/${id}/logs`)).json.items.map(({ text }: { text: string }) => text)

test('the page of a service shows what its last start did, and a restart takes its place', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id } = await made(t, ada, compose('sleep 999'))
  const started = await textsOf(ada, id)
  expect(started[0]).toBe('The start began.')
  expect(started).toContain('Creating the network, the volumes and the containers.')
  expect(started.at(-1)).toBe('The service is running.')
  expect((await ada.page(`/services/${id}`)).text).toContain('The start began.')

  const stream = await ada.send(`/services/${id}/logs?format=json`, {
    headers: { Accept: 'text/event-stream' },
  })
  expect((await stream.text()).trim()).toEndWith('event: done\ndata: ended')

  await ada.post(`/services/${id}/restart`)
  const page = await ada.page(`/services/${id}`)
  expect(page.text, 'the log of a job that has just begun').not.toContain('The start began.')
  expect(page.text).toContain('Last start, change or stop')
  await t.jobs.idle()
  const restarted = await textsOf(ada, id)
  expect(restarted[0]).toBe('The restart began.')
  expect(restarted).not.toContain('The start began.')
  const bob = t.logIn('bob@example.com')
  expect((await bob.get(`/services/${id}/logs`)).status).toBe(404)
})

describe('a reader of the last change', () => {
  /** A service that was started, what its reader had of that, and then stopped, which has fewer lines. */
  async function stopped() {
    const { t, ada } = withAda(simulatedApp())
    const { id } = await made(t, ada, compose('sleep 999'))
    const read = async (query = '', lastEventId?: string) => {
      const response = await ada.send(`/services/${id}/logs?format=json${query}`, {
        headers: {
          Accept: 'text/event-stream',
          ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
        },
      })
      return (await Array.fromAsync(readEvents(response.body!))).filter((event) => event.id)
    }
    const before = await read()
    await ada.post(`/services/${id}/stop`)
    await t.jobs.idle()
    return { t, ada, id, read, before, now: await read() }
  }

  test('goes on in the next one from its start, by what it had of the one before', async () => {
    const { read, before, now } = await stopped()
    expect(before.length).toBeGreaterThan(now.length)
    expect(now).toHaveLength(2)
    const [job, last] = before.at(-1)!.id!.split(':') as [string, string]
    expect(last).toBe(String(before.length))
    expect(await read('', before.at(-1)!.id!)).toEqual(now)
    expect(await read(`&after=${last}&log=${job}`)).toEqual(now)
    expect(await read(`&after=${last}&log=${job}`, before.at(-1)!.id!)).toEqual(now)
  })

  test('goes on in the same one after the line it had', async () => {
    const { read, now } = await stopped()
    const [first, last] = now as [ServerEvent, ServerEvent]
    const [job] = first.id!.split(':')
    expect(await read('', first.id!)).toEqual([last])
    expect(await read(`&after=1&log=${job}`)).toEqual([last])
    expect(await read('&after=1')).toEqual([last])
    expect(await read('', '1')).toEqual([last])
    expect(await read('&cursor=1')).toEqual([last])
    expect(await read('&cursor=1&log=another')).toEqual(now)
    expect(await read('&after=1&log=another', last.id!)).toEqual([])
  })

  test('on its page says which one it shows', async () => {
    const { t, ada, id } = await stopped()
    const job = insertServiceJob(t.deps, getService(t.db, id)!, 'restart')
    expect((await ada.page(`/services/${id}`)).text).toContain(`&amp;log=${job.id}`)
    t.jobs.wake()
    await t.jobs.idle()
  })
})

test('a stop has a log too, in the place of that of the start', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id } = await made(t, ada, compose('sleep 999'))
  await ada.post(`/services/${id}/stop`)
  await t.jobs.idle()
  expect(await textsOf(ada, id)).toEqual(['The stop began.', 'The service is stopped.'])
})

test('why a start failed is the end of its log', async () => {
  const t = simulatedApp({}, { config: { settleTime: 60_000 } }) // else it may count as running before it ends
  const ada = t.logIn('ada@example.com')
  const { id, error } = await made(t, ada, 'services: {a: {image: busybox, command: [/nothing]}}')
  const texts = await textsOf(ada, id)
  expect(texts.at(-1)).toBe('The service is failed.')
  expect(texts.at(-2)).toBe(`${error.message} ${error.hint}`)
})

test('that a service’s values can’t be decrypted is no secret of it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { json } = await ada.post('/services/compose', {
    name: 'thing',
    compose: compose('sleep 9'),
  })
  await t.jobs.idle()
  const service = updateService(t.db, json.id, { values: 'sealed', secretValues: 'sealed' })
  insertServiceJob(t.deps, service, 'restart')
  t.jobs.wake()
  await t.jobs.idle()
  const { errorCode, errorMessage } = getService(t.db, json.id)!
  expect(errorCode).toBe('values_unreadable')
  expect(errorMessage).toContain('thing')
})
