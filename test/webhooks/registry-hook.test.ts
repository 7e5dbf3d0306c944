import { describe, expect, onTestFinished, spyOn, test } from 'bun:test'
import { journal } from '../../src/platform/journal.ts'
import { readNotice } from '../../src/webhooks/registry-notice.ts'
import { aProject } from '../deployments/image-projects.ts'
import { deployed } from '../deployments/apps.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { fakeRegistry } from '../support/fake-registry.ts'
import { bodies } from './registry-bodies.ts'

describe('what a registry sends', () => {
  const own = { path: 'team/app', tag: '1.1' }
  test.each([
    ['docker_hub', 'docker_hub', { ...own, registry: 'docker.io' }],
    ['ghcr', 'ghcr', { ...own, registry: 'ghcr.io' }],
    ['gitea', 'gitea', { ...own, registry: null }],
    ['harbor', 'harbor', { ...own, registry: null }],
    ['harborEvent', 'harbor', { ...own, registry: null }],
    ['quay', 'quay', { ...own, registry: 'quay.io' }],
    ['distribution', 'distribution', { ...own, registry: null }],
    ['azure', 'distribution', { ...own, registry: null }],
  ] as const)('%s is recognised', (body, sender, tag) => {
    expect(readNotice(JSON.stringify(bodies[body]))).toMatchObject({ sender, tags: [tag] })
  })

  test('an older event of GitHub Packages is, too', () => {
    const { package: registry_package, ...rest } = bodies.ghcr
    const notice = readNotice(JSON.stringify({ ...rest, registry_package }))
    expect(notice?.tags).toMatchObject([own])
  })

  test.each([
    ['a deletion at Gitea', { ...bodies.gitea, action: 'deleted' }],
    ['a package of npm', { ...bodies.gitea, package: { ...bodies.gitea.package, type: 'npm' } }],
    [
      'a manifest without a tag',
      { ...bodies.gitea, package: { ...bodies.gitea.package, version: 'sha256:a' } },
    ],
    ['a scan of Harbor', { ...bodies.harbor, type: 'SCANNING_COMPLETED' }],
    ['pulls', { events: [bodies.distribution.events[2]] }],
    ['a ping', { zen: 'Keep it logically awesome.', hook_id: 1 }],
    [
      'a container of npm at GitHub',
      { ...bodies.ghcr, package: { ...bodies.ghcr.package, package_type: 'NPM' } },
    ],
  ])('%s is no new image', (_, body) => {
    expect(readNotice(JSON.stringify(body))?.tags).toEqual([])
  })

  test.each([
    '',
    'hello',
    'null',
    '[]',
    '{}',
    '{"events":[]}',
    '{"events":"all"}',
    '['.repeat(100_000),
    JSON.stringify({ ...bodies.docker_hub, push_data: { tag: 'x'.repeat(1000) } }),
    JSON.stringify({ push_data: { tag: 1 }, repository: { repo_name: {} } }),
    JSON.stringify({ __proto__: { events: [] }, action: 'push', target: null }),
  ])('%# of another kind is not', (body) => {
    expect(readNotice(body)).toBeNull()
  })
})

const sent = `sha256:${'b'.repeat(64)}`

/** A project on the registry that follows the pattern or the tag, and has been deployed once. */
async function following(tag = '1.*') {
  const { t, ada } = withAda(simulatedApp())
  const registry = fakeRegistry()
  onTestFinished(() => registry.stop())
  registry.push('1.0')
  const project = await aProject(ada, `${registry.image}:${tag}`)
  await deployed(ada, project.id, { image: `${registry.image}:1.0` })
  /** The bodies' digest is the one that the registry has. */
  const send = (body: unknown) =>
    post(t, project.hook, JSON.stringify(body).replaceAll(sent, registry.tags.get('1.1') ?? sent))
  const inbox = async () => (await ada.get(`${project.path}/deliveries`)).json.items
  return { t, ada, registry, send, inbox, ...project }
}

async function post(t: TestApp, hook: string, body: unknown, type = 'application/json') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'Content-Type': type }
  const init = { method: 'POST', headers, body: text }
  const response = await t.app.request(new URL(hook).pathname, init)
  return { status: response.status, json: (await response.json()) as any }
}

describe('the address of a project', () => {
  test.each(['gitea', 'harbor', 'harborEvent', 'distribution', 'azure'] as const)(
    'deploys what %s reports, by the digest that the registry itself has',
    async (name) => {
      const { t, registry, send, list, inbox } = await following()
      const digest = registry.push('1.1')
      const { status, json } = await send(bodies[name])
      expect([status, json.deployments.length]).toEqual([202, 1])
      expect(json.deployments[0].pulled).toEqual({ reference: `${registry.image}:1.1`, digest })
      await t.jobs.idle()
      expect((await list())[0]).toEqual(['webhook', 'running', '1.1', digest])
      expect((await inbox())[0]).toMatchObject({
        decision: 'deployed',
        ref: 'team/app:1.1',
        deploymentIds: [json.deployments[0].id],
        canReplay: true,
      })
    },
  )

  test('takes a form, as GitHub sends it', async () => {
    const { t, registry, hook } = await following()
    registry.push('1.1')
    const form = new URLSearchParams({ payload: JSON.stringify(bodies.harbor) }).toString()
    const type = 'application/x-www-form-urlencoded'
    expect((await post(t, hook, form, type)).status).toBe(202)
  })

  test('does nothing for the same image again, from the registry or by a replay', async () => {
    const { t, ada, registry, send, list, inbox, path } = await following()
    registry.push('1.1')
    await send(bodies.harbor)
    await t.jobs.idle()
    const again = await send(bodies.harbor)
    expect([again.status, again.json.deployments]).toEqual([200, []])
    expect(again.json.reason).toContain('Nothing to do')
    const [newest] = await inbox()
    expect(newest).toMatchObject({ decision: 'ignored', reason: again.json.reason })
    const replayed = await ada.post(`${path}/deliveries/${newest.id}/replay`)
    expect([replayed.status, (await list()).length]).toEqual([409, 2])

    registry.push('1.1', { version: 2 })
    expect((await ada.post(`${path}/deliveries/${newest.id}/replay`)).status).toBe(201)
    await t.jobs.idle()
    expect((await inbox())[0]).toMatchObject({ id: newest.id, decision: 'deployed' })
  })

  test('asks again where the registry moves the tag a moment after it reported it', async () => {
    const { t, registry, hook, send } = await following()
    const old = registry.push('1.1')
    await send(bodies.harbor)
    await t.jobs.idle()
    const newer = registry.push('1.1', { version: 2 })
    registry.tags.set('1.1', old)
    let asked = 0
    registry.fault.answer = ({ method }) => {
      if (method === 'HEAD' && ++asked === 2) registry.tags.set('1.1', newer)
      return undefined
    }
    const { json } = await post(t, hook, JSON.stringify(bodies.harbor).replaceAll(sent, newer))
    expect([asked, json.deployments[0].pulled.digest]).toEqual([2, newer])
  })

  test('is not about another image, and says so in the log', async () => {
    const { ada, registry, inbox, send, path } = await following()
    const before = registry.requests.length
    for (const repository of ['evil/app', 'team/app2', 'team', 'library/team/app'])
      expect(
        (await send({ ...bodies.azure, target: { ...bodies.azure.target, repository } })).status,
      ).toBe(200)
    expect((await send(bodies.docker_hub)).json.reason).toContain('another image')
    expect((await inbox()).map(({ decision }: any) => decision)).toEqual(Array(5).fill('refused'))
    expect(registry.requests.length).toBe(before)
    const page = (await ada.page(`${path}/deliveries`)).text
    expect(page).toContain('evil/app:1.1')
    expect(page).toContain('Docker Hub')
  })

  test('ignores a tag that the project does not follow, and an older one', async () => {
    const { t, registry, inbox, send } = await following()
    const push = (tag: string) => send({ ...bodies.azure, target: { repository: 'team/app', tag } })
    for (const tag of ['2.0', 'latest', '1.2-rc.1', '1.2.x', '../../etc']) {
      registry.push(tag)
      expect([tag, (await push(tag)).status]).toEqual([tag, 200])
    }
    registry.push('1.2')
    expect((await push('1.2')).status).toBe(202)
    await t.jobs.idle()
    registry.push('1.1')
    expect((await push('1.1')).json.reason).toContain('older than 1.2')
    expect((await inbox()).filter(({ decision }: any) => decision === 'deployed')).toHaveLength(1)
  })

  test('chooses the newest of several tags of one push', async () => {
    const { registry, send } = await following()
    for (const tag of ['1.1', '1.10', '1.9']) registry.push(tag)
    const { json } = await send({
      ...bodies.quay,
      docker_url: 'r/team/app',
      updated_tags: ['1.1', '1.10', '1.9'],
    })
    expect(json.deployments[0].pulled.reference).toEndWith(':1.10')
  })

  test('keeps what failed at the registry, so that it can be replayed', async () => {
    const { ada, registry, send, inbox, path } = await following()
    registry.push('1.1')
    registry.fault.answer = () => new Response(null, { status: 500 })
    expect((await send(bodies.harbor)).status).toBe(503)
    const [delivery] = await inbox()
    expect(delivery).toMatchObject({ decision: 'failed', canReplay: true })
    expect((await ada.post(`${path}/deliveries/${delivery.id}/replay`)).status).toBe(503)
    delete registry.fault.answer
    expect((await ada.post(`${path}/deliveries/${delivery.id}/replay`)).status).toBe(201)
  })

  test('deploys nowhere where that is off, and no image of a project that builds', async () => {
    const { ada, registry, send, path } = await following()
    registry.push('1.1')
    await ada.put(`${path}/settings`, { autoDeploy: false })
    expect((await send(bodies.harbor)).json.reason).toContain('off')
    await ada.put(path, { repositoryUrl: 'https://git.example.com/a/b.git' })
    expect((await send(bodies.harbor)).status).toBe(409)
  })

  test('refuses an unknown body, one that is too large, and pulls without a line in the log', async () => {
    const { send, inbox } = await following()
    expect((await send({ hello: 'world' })).status).toBe(400)
    expect((await send('x'.repeat(2 ** 20 + 1))).status).toBe(413)
    const many = Array(900).fill(bodies.distribution.events[2])
    expect((await send({ events: many })).status).toBe(200)
    expect(await inbox()).toHaveLength(1)
  })
})

describe('the secret in the address', () => {
  test('is in no log, no audit event and no error', async () => {
    const written = spyOn(journal, 'info')
    onTestFinished(() => written.mockRestore())
    const { t, registry, send, hook, inbox } = await following()
    registry.push('1.1')
    await send(bodies.harbor)
    await send({ hello: 'world' })
    const lines = JSON.stringify(written.mock.calls)
    const secret = hook.split('/').at(-1)!.split('.')[1]!
    expect(secret.length).toBeGreaterThan(60)
    expect(lines).toContain('/hooks/registry/…')
    expect(lines).not.toContain(secret)
    const shown = JSON.stringify([
      await inbox(),
      (await t.logInAsAdmin().get('/settings/audit')).json,
      t.db.$client.query('SELECT * FROM deliveries').all(),
      t.db.$client.query('SELECT * FROM projects').all(),
    ])
    expect(shown).not.toContain(secret)
  })

  test('must be the one of the project, and is another one once it was renewed', async () => {
    const { t, ada, hook, path } = await following()
    const [, id, secret] = /\/([0-9a-f-]{36})\.([^/]+)$/.exec(hook)!
    const other = await aProject(ada, 'nginx:1')
    const origin = hook.slice(0, hook.indexOf('/hooks/'))
    for (const wrong of [
      `${id}.${secret!.slice(1)}`,
      `${id}.`,
      `${id}.${'0'.repeat(64)}`,
      `${other.id}.${secret}`,
      `${Bun.randomUUIDv7()}.${secret}`,
      'x',
      `${id}.${secret}%00`,
      `${id}.${secret}.`,
    ])
      expect((await post(t, `${origin}/hooks/registry/${wrong}`, bodies.harbor)).status).toBe(401)

    const { registryHook } = (await ada.post(`${path}/webhook-secret`)).json
    expect(registryHook).not.toBe(hook)
    expect((await post(t, hook, bodies.harbor)).status).toBe(401)
    expect((await post(t, registryHook, { zen: 'x', hook_id: 1 })).status).toBe(200)
    expect((await t.logIn('bob@example.com').post(`${path}/webhook-secret`)).status).toBe(404)
  })

  test('is shown once, on the page with the steps', async () => {
    const { ada } = withAda(simulatedApp())
    const created = await ada.form('/projects', { image: 'nginx:1', name: 'site' })
    const path = created.headers.get('Location')!
    const before = (await ada.page(`${path}/deliveries`)).text
    expect(before).toContain('Show address')
    expect(before).not.toContain('/hooks/registry/')
    const shown = await ada.htmx('POST', `${path}/webhook-secret/show`)
    expect(shown.text).toContain('/hooks/registry/')
    expect(shown.headers.get('Cache-Control')).toContain('no-store')
    expect((await ada.htmx('POST', `${path}/webhook-secret/show`)).status).toBe(409)
  })
})

test('many at once wait for each other, up to a limit, and cost the registry one request each', async () => {
  const { registry, send } = await following()
  registry.push('1.1')
  const before = registry.requests.length
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(bodies.harbor)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 202)).toHaveLength(1)
  expect(statuses.filter((status) => status === 429).length).toBe(15)
  expect(registry.requests.slice(before).filter((one) => one.startsWith('HEAD')).length).toBe(5)
})
