import { describe, expect, onTestFinished, test } from 'bun:test'
import { Failure } from '../../src/platform/errors.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { fakeRegistry } from '../support/fake-registry.ts'
import { deployed, finished, logOf, rollBack } from './apps.ts'
import { aProject } from './image-projects.ts'

const { signal } = new AbortController()

/** A project that follows the image of a registry; what is deployed does nothing. */
async function following(tag: string, settings: Record<string, unknown> = {}) {
  const { t, ada } = withAda(simulatedApp())
  const registry = fakeRegistry()
  onTestFinished(() => registry.stop())
  const project = await aProject(ada, `${registry.image}:${tag}`, settings)
  const look = async (now?: number) => {
    await t.deps.images.look({ signal }, now)
    await t.jobs.idle()
  }
  return { t, ada, registry, look, ...project }
}

describe('a pattern', () => {
  test('deploys its newest version by hand, and each newer one by itself', async () => {
    const { ada, registry, look, id, list, state } = await following('1.*')
    const old = registry.push('1.2.0')
    registry.push('2.0.0')
    registry.push('latest')
    await look()
    expect(await list()).toEqual([]) // what was never deployed waits for its owner
    const first = await deployed(ada, id)
    expect([first.status, first.pulled]).toEqual([
      'running',
      { reference: `${registry.image}:1.2.0`, digest: old },
    ])
    await look()
    expect(await list()).toHaveLength(1)

    const newer = registry.push('1.10.0')
    registry.push('1.11.0-rc.1')
    await look()
    expect(await list()).toEqual([
      ['image', 'running', '1.10.0', newer],
      ['manual', 'superseded', '1.2.0', old],
    ])
    expect(await state()).toMatchObject({
      follows: 'pattern',
      last: { found: { tag: '1.10.0', digest: newer }, hasFailed: false },
      environments: [{ name: 'production', pulled: { digest: newer } }],
    })
    await look()
    expect(await list()).toHaveLength(2)
  })

  test('never goes back by itself, whatever is deleted', async () => {
    const { ada, registry, look, id, list, state } = await following('*')
    registry.push('1.0')
    registry.push('1.1')
    await deployed(ada, id)
    registry.tags.delete('1.1')
    await look()
    expect((await list()).map(([, , tag]: string[]) => tag)).toEqual(['1.1'])
    expect((await state()).last.outcome).toContain('older than 1.1')
    registry.tags.clear()
    await look()
    expect((await state()).last).toMatchObject({ hasFailed: true, found: { tag: '1.0' } })
  })

  test('keeps a rollback, an older version by hand, and what failed, until there is a newer one', async () => {
    const { t, ada, registry, look, id, list } = await following('1.*')
    registry.push('1.0')
    const first = await deployed(ada, id)
    registry.push('1.1')
    await look()
    await finished(ada, (await rollBack(ada, first)).json)
    await look()
    await deployed(ada, id, { image: `${registry.image}:1.0` })
    await look()
    expect((await list()).map(([trigger]: string[]) => trigger)).toEqual([
      'manual',
      'rollback',
      'image',
      'manual',
    ])

    t.faults.createContainer = () => Promise.reject(new Failure('exited', 'It ended.', 'See.'))
    registry.push('1.2')
    await look()
    delete t.faults.createContainer
    await look()
    expect((await list())[0].slice(0, 3)).toEqual(['image', 'failed', '1.2'])
    registry.push('1.3')
    await look()
    expect((await list())[0].slice(0, 3)).toEqual(['image', 'running', '1.3'])
  })

  test('deploys a version again that was pushed again', async () => {
    const { ada, registry, look, id, list } = await following('1.*')
    registry.push('1.0')
    await deployed(ada, id)
    const rebuilt = registry.push('1.0', { version: 2 })
    await look()
    expect((await list())[0]).toEqual(['image', 'running', '1.0', rebuilt])
  })

  test('that no tag matches fails its deployment with a code', async () => {
    const { ada, registry, id } = await following('7.*')
    registry.push('1.0')
    const { error } = await deployed(ada, id)
    expect(error).toMatchObject({ step: 'pulling', code: 'no_matching_tag' })
  })
})

describe('a tag', () => {
  test('is asked for its digest where that is set, and deployed each time that it moves', async () => {
    const { ada, registry, look, id, path, list, state } = await following('latest')
    const one = registry.push('latest')
    await deployed(ada, id)
    const two = registry.push('latest', { version: 2 })
    const before = registry.requests.length
    await look()
    expect([registry.requests.length, (await state()).follows]).toEqual([before, 'nothing'])
    expect((await ada.put(`${path}/settings`, { checkTag: true })).json.checkTag).toBe(true)
    await look()
    expect(registry.requests.slice(before)[0]).toBe('HEAD /v2/team/app/manifests/latest')
    registry.push('latest')
    await look()
    expect((await list()).map((row: string[]) => row[3])).toEqual([one, two, one])
  })

  test('that is named by its digest is never asked for', async () => {
    const { t, ada } = withAda(simulatedApp())
    const registry = fakeRegistry()
    onTestFinished(() => registry.stop())
    const digest = registry.push('1')
    const { path } = await aProject(ada, `${registry.image}:1@${digest}`)
    const refused = await ada.put(`${path}/settings`, { checkTag: true })
    expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'checkTag'])
    await ada.put(path, { image: `${registry.image}:1` })
    await ada.put(`${path}/settings`, { checkTag: true })
    await ada.put(path, { image: `${registry.image}:1@${digest}` })
    await t.deps.images.look({ signal })
    expect(registry.requests).toEqual([])
    expect((await ada.post(`${path}/image/check`)).status).toBe(409)
  })
})

describe('a registry', () => {
  test('that fails is asked again later and later, and the reason is shown', async () => {
    const { ada, registry, look, id, state } = await following('1.*')
    registry.push('1.0')
    await deployed(ada, id)
    registry.fault.answer = () => new Response('<html>', { status: 502 })
    const asked = async (now: number) => {
      const before = registry.requests.length
      await look(now)
      return registry.requests.length - before
    }
    const now = Date.now()
    expect(await asked(now)).toBe(1)
    expect((await state()).last).toMatchObject({ hasFailed: true })
    expect(await asked(now + 5 * 60_000)).toBe(0)
    expect(await asked(now + 11 * 60_000)).toBe(1)
    delete registry.fault.answer
    expect(await asked(now + 3 * 3_600_000)).toBeGreaterThan(0)
    expect((await state()).last).toMatchObject({ hasFailed: false })
  })

  test('that is busy is left alone for the time that it names, for all projects of its user', async () => {
    const { ada, registry, look, id } = await following('1.*')
    const other = await aProject(ada, `${registry.image}:2.*`)
    registry.push('1.0')
    registry.push('2.0')
    await deployed(ada, id)
    await deployed(ada, other.id)
    registry.fault.answer = () =>
      new Response(null, { status: 429, headers: { 'Retry-After': '1800' } })
    const before = registry.requests.length
    const now = Date.now()
    await look(now)
    expect(registry.requests.length - before).toBe(1)
    await look(now + 20 * 60_000)
    expect(registry.requests.length - before).toBe(1)
    await look(now + 31 * 60_000)
    expect(registry.requests.length - before).toBeGreaterThan(1)
  })

  test.each([
    ['answered', null],
    ['failed', { status: 502 }],
    ['was busy', { status: 429, headers: { 'Retry-After': '1800' } }],
  ])('that %s is asked again at once where the clock was put back since', async (_, fault) => {
    const { ada, registry, look, id, list } = await following('1.*')
    registry.push('1.0')
    await deployed(ada, id)
    if (fault) registry.fault.answer = () => new Response(null, fault)
    await look()
    delete registry.fault.answer
    const newer = registry.push('1.1')
    await look(Date.now() - 3_600_000)
    expect((await list())[0]).toEqual(['image', 'running', '1.1', newer])
  })

  test('is asked by no one where nothing follows it, or nothing would be deployed', async () => {
    const { ada, registry, look, id, path } = await following('1.*')
    registry.push('1.0')
    await deployed(ada, id)
    const before = registry.requests.length
    await ada.put(`${path}/settings`, { autoDeploy: false })
    await look()
    await ada.put(path, { image: `${registry.image}:1.0` })
    await ada.put(`${path}/settings`, { autoDeploy: true })
    await look()
    expect(registry.requests.length).toBe(before)
  })

  test('is asked now by its owner, who sees what was found; by no one else', async () => {
    const { t, ada, registry, id, path } = await following('1.*')
    registry.push('1.0')
    await deployed(ada, id)
    registry.push('1.1')
    const { status, json } = await ada.post(`${path}/image/check`)
    expect([status, json.last.found.tag, json.deployments.length]).toEqual([200, '1.1', 1])
    await finished(ada, json.deployments[0])
    const again = await ada.post(`${path}/image/check`)
    expect([again.json.deployments, again.json.last.outcome]).toEqual([
      [],
      expect.stringContaining('Nothing to do'),
    ])
    const shown = await ada.htmx('POST', `${path}/image/check`)
    expect([shown.status, shown.text.match(/id="image-panel"/g)]).toEqual([
      200,
      ['id="image-panel"'],
    ])
    expect(shown.text).toContain('Nothing to do')
    const events = (await t.logInAsAdmin().get('/settings/audit')).json.items
    expect(events.map(({ action }: { action: string }) => action)).toContain('image.checked')
    const bob = t.logIn('bob@example.com')
    expect([
      (await bob.get(`${path}/image`)).status,
      (await bob.post(`${path}/image/check`)).status,
    ]).toEqual([404, 404])
    registry.fault.answer = () => new Response(null, { status: 500 })
    expect((await ada.post(`${path}/image/check`)).status).toBe(503)
  })
})

describe('an image is not pulled', () => {
  test.each([
    [['linux/arm64', 'linux/arm/v7', 'unknown/unknown'], 'linux/arm64, linux/arm/v7'],
    [['linux/s390x'], 'linux/s390x'],
    [['windows/amd64', 'windows/arm64'], 'windows/amd64, windows/arm64'],
  ])('that is for %p only, which is said', async (platforms, named) => {
    const { ada, registry, id } = await following('1')
    registry.push('1', { platforms })
    const { error } = await deployed(ada, id)
    expect(error).toMatchObject({ step: 'pulling', code: 'image_platform' })
    expect(error.message).toContain(`It is for ${named}.`)
  })

  test.each([
    [20 * 2 ** 30, 'image_too_large'],
    [2 ** 52, 'image_too_large'],
  ])('of %p bytes', async (bytes, code) => {
    const { ada, registry, id } = await following('1')
    registry.push('1', { bytes, platforms: ['linux/arm64', 'linux/amd64'] })
    expect((await deployed(ada, id)).error).toMatchObject({ step: 'pulling', code })
  })

  test('for which the disk has too little room', async () => {
    const { t, ada } = withAda(simulatedApp({ DAVIT_IMAGE_SIZE: '1048576' }))
    const registry = fakeRegistry()
    onTestFinished(() => registry.stop())
    t.faults.machine = async () => ({ ...(await t.docker.machine()), folder: '/' })
    Object.assign(t.deps.docker, { remote: false })
    registry.push('1', { bytes: 2 ** 39 })
    const { id } = await aProject(ada, `${registry.image}:1`)
    expect((await deployed(ada, id)).error).toMatchObject({ step: 'pulling', code: 'low_disk' })
  })

  test('but one whose registry only Docker can read is, and the log says that', async () => {
    const { ada, registry, id } = await following('1')
    registry.push('1')
    registry.fault.answer = () => new Response('<html>', { status: 500 })
    const deployment = await deployed(ada, id)
    expect(deployment.status).toBe('running')
    expect((await logOf(ada, deployment)).join('\n')).toContain('The size of the image isn’t known')
  })
})
