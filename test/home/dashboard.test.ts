import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { certificates, deployments, instances, services } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { noAddress } from '../../src/domains/dns-check.ts'
import { busyBetween, ticksIn } from '../../src/home/server.ts'
import { Failure } from '../../src/platform/errors.ts'
import { adoptRelease } from '../../src/runtime/store.ts'
import { anApp, aService, servedByCaddy } from '../map/owned.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

const attentionOf = ({ text }: { text: string }) =>
  Array.from(text.matchAll(/<li class="row attention-row">([^]*?)<\/li>/g), ([, row]) =>
    row!
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )

const namesOf = ({ text }: { text: string }) =>
  Array.from(
    text.matchAll(/<li class="row home-row"[^]*?<a class="row-link"[^>]*>([^]*?)<\/a>/g),
  ).map(([, link]) => link!.replaceAll(/<[^>]*>/g, ''))

/** Has it measure these, whatever the server of the tests is like. */
function measures({ deps }: TestApp, { free = 50, busy = null as number | null } = {}) {
  const disk = { folder: '/data', size: 100 * GiB, free: free * GiB, used: 100 - free }
  const memory = { used: 2 * GiB, size: 4 * GiB }
  deps.server.read = async () => ({ busy, load: 0.5, processors: 2, memory, disk })
}

const GiB = 2 ** 30

const fail = (t: TestApp, { user }: TestClient, app: { id: string; projectId: string }) =>
  insertDeployment(t.db, {
    ...{ projectId: app.projectId, environmentId: app.id, status: 'failed' },
    ...{ repositoryUrl: 'https://git.example.com/a.git', trigger: 'manual' },
    ...{ triggeredBy: user.email, errorStep: 'building', errorCode: 'no_dockerfile' },
    errorMessage: 'The repository has no Dockerfile.',
  })

describe('the dashboard', () => {
  test('says nothing of trouble while all is well, or stopped on purpose', async () => {
    const { t, ada } = withAda(testApp())
    await anApp(t, ada, { name: 'shop', hosts: ['shop.example.com'] })
    await anApp(t, ada, { name: 'off', processes: { web: ['stopped'] } })
    aService(t, ada, { name: 'db' })
    servedByCaddy(t)
    measures(t)
    const page = await ada.page('/dashboard')
    expect(page.text).not.toContain('Needs attention')
    expect(namesOf(page)).toEqual(['db', 'off / production', 'shop / production'])
  })

  test('moves a service up when its containers are created again', async () => {
    const { t, ada } = withAda(testApp())
    const service = aService(t, ada, { name: 'db' })
    await anApp(t, ada, { name: 'shop' })
    expect(namesOf(await ada.page('/dashboard'))).toEqual(['shop / production', 'db'])
    const workload = { id: service, kind: 'service' } as const
    adoptRelease(t.db, { workload, id: Bun.randomUUIDv7(), containers: [] })
    expect(namesOf(await ada.page('/dashboard'))).toEqual(['db', 'shop / production'])
  })

  test('begins with what is in trouble, each with why and what helps', async () => {
    const { t, ada } = withAda(testApp())
    const shop = await anApp(t, ada, { name: 'shop', hosts: ['shop.example.com'] })
    const loop = await anApp(t, ada, { name: 'loop' })
    const fresh = await anApp(t, ada, { name: 'fresh', processes: {} })
    aService(t, ada, { name: 'db', status: 'failed' })
    t.db.update(services).set({ errorMessage: 'Its password is wrong.' }).run()
    t.db
      .update(certificates)
      .set({ dnsOk: false, dnsFound: ['192.0.2.9'] })
      .run()
    await anApp(t, t.logIn('bob@example.com'), { name: 'not mine', processes: {} })
    fail(t, ada, shop)
    fail(t, ada, fresh)
    servedByCaddy(t)
    measures(t)
    const looping = t.db
      .select()
      .from(instances)
      .all()
      .find(({ workloadId }) => workloadId === loop.id)
    t.deps.observed.isLooping = (id) => id === looping!.containerId

    const page = await ada.page('/dashboard')
    expect(attentionOf(page)).toEqual([
      'Crash-looping loop / production It keeps crashing shortly after its start. View logs',
      'Failed fresh / production Deployment #1 failed. The repository has no Dockerfile. Open project settings',
      'Failed shop / production Deployment #2 failed. The repository has no Dockerfile. Open project settings',
      'Failed db Its password is wrong. Open service',
      expect.stringMatching(
        /^Wrong DNS shop\.example\.com shop\.example\.com.*192\.0\.2\.9.* Open domains$/,
      ),
    ])
    expect(page.text).toContain(`href="/envs/${shop.id}/domains"`)
    expect(page.text).toContain(`href="/projects/${loop.projectId}/envs/${loop.id}/output"`)
    expect(page.text.indexOf('Needs attention')).toBeLessThan(
      page.text.indexOf('Apps and services'),
    )

    const headers = { Accept: 'text/html', 'HX-Request': 'true', 'Davit-Live': '1' }
    const text = await (await ada.send('/dashboard', { headers })).text()
    expect(text).toContain('hx-target="#dashboard-trouble"')
    expect(text).not.toContain('listing-form')
  })

  test('says what is wrong with the server itself, with what an admin can do', async () => {
    const { t, ada } = withAda(testApp())
    const root = t.logInAsAdmin()
    servedByCaddy(t)
    const trouble = new Failure('edge_refused', 'Port 80 is taken.', 'Free it.')
    Object.defineProperty(t.edge, 'trouble', { get: () => trouble, configurable: true })
    measures(t, { free: 4 })
    const disk =
      'Almost full Disk of the server 4.0 GiB of 100 GiB are free. Builds need 2.0 GiB to start.'
    const edge = 'Not up to date Domains of this server'
    expect(attentionOf(await root.page('/dashboard'))).toEqual([
      `${disk} Clean up disk`,
      `${edge} Port 80 is taken. Free it. Open edge settings`,
    ])
    expect(attentionOf(await ada.page('/dashboard'))).toEqual([`${disk} Read more`])
    await anApp(t, ada, { name: 'shop' })
    const [, told] = attentionOf(await ada.page('/dashboard'))
    expect(told).toBe(`${edge} Caddy has a problem. Ask an admin to look at it. Read more`)
    servedByCaddy(t)
    measures(t, { free: 11 })
    expect(attentionOf(await root.page('/dashboard'))).toEqual([])
  })

  test('says when the names that apps have by themselves fail, once for all of them', async () => {
    const { t, ada } = withAda(testApp({ DAVIT_DOMAIN: 'apps.example.com' }))
    const shop = await anApp(t, ada, { name: 'shop' })
    for (const name of ['blog', 'mail']) await anApp(t, ada, { name })
    await anApp(t, t.logIn('bob@example.com'), { name: 'other' })
    servedByCaddy(t)
    measures(t)
    const unknown = { dnsOk: false, checkedAt: new Date(), status: 'waiting' as const }
    for (const name of ['shop', 'blog', 'other'])
      t.db
        .insert(certificates)
        .values({ host: `${name}.apps.example.com`, ...unknown })
        .run()
    const page = await ada.page('/dashboard')
    expect(attentionOf(page)).toEqual([
      `Waiting for DNS shop.apps.example.com ${noAddress('shop.apps.example.com')} Also failing under apps.example.com: 1 other address. Open domains`,
    ])
    expect(page.text).toContain(`href="/envs/${shop.id}/domains"`)
  })

  test('blames no health check for a service that failed before it had one', async () => {
    const { t, ada } = withAda(testApp())
    aService(t, ada, { name: 'db', template: 'redis', status: 'failed' })
    measures(t)
    expect(attentionOf(await ada.page('/dashboard'))).toEqual([
      'Failed db It isn’t running correctly. Open service',
    ])
  })

  test('says of an app that Davit stopped, also when its container is gone, why', async () => {
    const { t, ada } = withAda(testApp())
    await anApp(t, ada, { name: 'shop', processes: { web: ['stopped'] } })
    const gone = await anApp(t, ada, { name: 'gone', processes: { web: ['stopped'] } })
    const errorMessage = 'The app exited 5 times in a row. Davit stopped it.'
    t.db.update(deployments).set({ errorCode: 'crash_loop', errorMessage }).run()
    t.db.$client.run("UPDATE instances SET state = 'removed' WHERE workload_id = ?", [gone.id])
    measures(t)
    expect(attentionOf(await ada.page('/dashboard'))).toEqual([
      `Failed gone / production ${errorMessage} View logs`,
      `Failed shop / production ${errorMessage} View logs`,
    ])
  })

  test('leads to the rest where more than ten need attention', async () => {
    const { t, ada } = withAda(testApp())
    for (let at = 1; at <= 12; at++)
      fail(t, ada, await anApp(t, ada, { name: `app ${at}`, processes: {} }))
    measures(t)
    const first = await ada.page('/dashboard')
    expect(attentionOf(first)).toHaveLength(10)
    const rest = /href="([^"#]*)#attention-heading">And 2 more</.exec(first.text)![1]!
    const all = await ada.page(rest)
    expect(attentionOf(all)).toHaveLength(12)
    expect(all.text).not.toContain('more</a>')
  })

  test('shows how busy the processors are once that was measured', async () => {
    const { t, ada } = withAda(testApp())
    measures(t, { busy: 0.42 })
    const said = (await ada.page('/dashboard')).text.replaceAll(/<[^>]*>/g, ' ')
    expect(said).toMatch(/Processor\s+42 % of 2 cores/)
    const before = ticksIn('cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 1 2 3 4\n')!
    const now = ticksIn('cpu  130 5 60 840 55 5 5 0 9 0\n')!
    expect([before, now]).toEqual([
      { idle: 850, all: 1000 },
      { idle: 895, all: 1100 },
    ])
    expect(busyBetween(before, now)).toBeCloseTo(0.55)
    expect(busyBetween(now, now)).toBe(null)
    for (const other of ['', 'cpu  x', 'cpu  1 2\n', 'intr 1 2 3 4 5'])
      expect(ticksIn(other)).toBe(null)
  })

  test('shows the state of the server', async () => {
    const ada = testApp().logIn('ada@example.com')
    const { text } = await ada.page('/dashboard')
    const said = text.replaceAll(/<[^>]*>/g, ' ')
    expect(said).toMatch(/Load\s+\d+\.\d\d on \d+ core/)
    expect(said).toMatch(/Memory\s+[\d.]+ [GM]iB of [\d.]+ [GM]iB/)
    expect(said).toMatch(/Disk\s+[\d.]+ \wiB of [\d.]+ \wiB/)
    expect(said).toMatch(/Docker Engine \d+/)
    expect(text).toContain('/live?since=') // which says every few seconds that these are to be read again
    expect(text).toMatch(/every=10/)
  })

  test('takes names of any script and with markup in them for text', async () => {
    const { t, ada } = withAda(testApp())
    const name = '<b>متجر</b> 🚢 "x"'
    fail(t, ada, await anApp(t, ada, { name }))
    const { text } = await ada.page(`/dashboard?q=${encodeURIComponent('<b>متجر')}`)
    expect(text).not.toContain('<b>متجر')
    expect(text).toContain('<bdi>&lt;b&gt;متجر&lt;/b&gt; 🚢 &quot;x&quot;</bdi> / <bdi>production')
  })
})

describe.each([
  ['/dashboard', /<li class="row home-row"/g],
  ['/projects', /<li class="row project-row"/g],
])('among 112 projects %s', (path, row) => {
  const rowsIn = ({ text }: { text: string }) => text.match(row)?.length ?? 0

  async function many() {
    const { t, ada } = withAda(testApp())
    for (let at = 1; at <= 112; at++)
      await ada.post('/projects', {
        ...{ name: `project ${at}`, repositoryUrl: `https://git.example.com/a/${at}.git` },
      })
    return { t, ada }
  }

  test('shows each of them, in pages that say how many, found by any of its words', async () => {
    const { t, ada } = await many()
    const first = await ada.page(path)
    expect(first.text).toContain('1 to 25 of 112')
    expect(rowsIn(first)).toBe(25)
    expect(gzipSync(first.text).length).toBeLessThan(15_000)
    const seen = new Set<string>()
    let [next, pages] = [path, 0]
    for (; next; pages++) {
      const { text } = await ada.page(next)
      for (const [, name] of text.matchAll(/<bdi>(project \d+)<\/bdi>/g)) seen.add(name!)
      next = /href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    }
    expect([seen.size, pages]).toEqual([112, 5])
    expect((await ada.page(`${path}?page=5`)).text).toContain('101 to 112 of 112')
    expect((await ada.page(`${path}?page=900000`)).text).toContain('101 to 112 of 112')
    expect((await ada.page(`${path}?page=-1&sort=no`)).text).toContain('1 to 25 of 112')

    const found = await ada.page(`${path}?q=77+PROJECT`)
    expect(found.text).toContain('1 to 1 of 1 found, 112 in all')
    expect(rowsIn(found)).toBe(1)
    expect((await ada.page(`${path}?q=nothing+like+it`)).text).toContain('Nothing found')
    const byName = (await ada.page(`${path}?sort=name`)).text
    expect(byName.indexOf('>project 2<')).toBeLessThan(byName.indexOf('>project 10<'))
    expect(byName.indexOf('>project 2<')).toBeGreaterThan(0)

    const [{ id: projectId }] = (await ada.get('/projects?limit=1')).json.items
    const [{ id }] = (await ada.get(`/projects/${projectId}/envs`)).json.items
    fail(t, ada, { id, projectId })
    const byState = (await ada.page(`${path}?sort=state`)).text
    expect(byState.slice(byState.search(row))).toMatch(/^[^]*?<bdi>project 112<\/bdi>/)
    expect((await t.logIn('bob@example.com').page(path)).text).not.toContain('project 1')
  })

  test('asks the database as often as for fewer', async () => {
    const { t, ada } = await many()
    const count = async (question: string) => {
      let queries = 0
      const { $client } = t.db
      const { prepare } = $client
      $client.prepare = ((...asked: Parameters<typeof prepare>) => {
        queries++
        return prepare.apply($client, asked)
      }) as typeof prepare
      await ada.page(path + question)
      $client.prepare = prepare
      return queries
    }
    await count('')
    const [some, all] = [await count('?q=project+1'), await count('')]
    expect(some).toBeGreaterThan(0)
    expect(all).toBeLessThanOrEqual(some + 2)
  })
})
