import { expect, spyOn, test } from 'bun:test'
import { createApp } from '../src/app.tsx'
import { lazyApp } from '../src/front.ts'
import { journal } from '../src/platform/journal.ts'
import { testApp } from './support/app.ts'

test('the application is loaded once, by the first request for more than the health check', async () => {
  const { deps } = testApp()
  let loads = 0
  const respond = lazyApp(deps, async () => {
    loads++
    return createApp(deps)
  })
  const get = (path: string) => respond(new Request(`http://127.0.0.1${path}`), {})

  const [alive, ready] = [await get('/health'), await get('/health/ready')]
  expect([alive.status, ready.status, loads]).toEqual([200, 200, 0])

  const [login, nothing] = await Promise.all([get('/auth/login'), get('/health/none')])
  expect([login.status, nothing.status, loads]).toEqual([303, 404, 1])

  const later = await get('/health/ready')
  const names = (response: Response) => [...response.headers.keys()].sort()
  expect(await later.json()).toEqual(await ready.json())
  expect(names(later)).toEqual(names(ready))
  expect(loads).toBe(1)
})

test('a request for which the application can’t be loaded gets the error, and the next tries again', async () => {
  const { deps } = testApp()
  let isBroken = true
  const respond = lazyApp(deps, async () => {
    if (isBroken) throw new Error('too many open files')
    return createApp(deps)
  })
  const get = (path: string) => {
    const headers = { Accept: 'application/json' }
    return respond(new Request(`http://127.0.0.1${path}`, { headers }), {})
  }
  using logged = spyOn(journal, 'error').mockImplementation(() => {})

  const failed = await get('/docs')
  expect([failed.status, await failed.json()]).toMatchObject([500, { title: 'Internal error' }])
  expect(String(logged.mock.calls)).toContain('too many open files')
  expect((await get('/health/ready')).status).toBe(200)

  isBroken = false
  expect((await get('/docs')).status).toBe(200)
})
