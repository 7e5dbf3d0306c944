import { afterAll, describe, expect, test } from 'bun:test'
import { gzipSync, zstdCompressSync } from 'bun'
import { makeToken } from '../../src/accounts/token-store.ts'
import { auditEvents, deployments } from '../../src/db/schema.ts'
import { asToken } from '../accounts/visitor.ts'
import { aRecord, aTar, manyFiles, tarOf } from '../git/tars.ts'
import type { TarItem } from '../git/tars.ts'
import type { TestApp } from '../support/app.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/until.ts'
import { anApp, aProject, finished } from './apps.ts'
import { app, tokenOf, withProject } from './uploading.ts'

const json = { Accept: 'application/json' }

/** The paths that arrive at the engine, from now on. */
function seenBy({ faults, docker }: TestApp) {
  const paths: string[][] = []
  faults.buildImage = async function* (options) {
    const tar = new Uint8Array(await new Response(options.context).arrayBuffer())
    const listing = Bun.spawnSync(['tar', '-t'], { stdin: tar })
    paths.push(listing.stdout.toString().split('\n').filter(Boolean))
    yield* docker.buildImage({ ...options, context: new Response(tar).body! })
  }
  return paths
}

test('an upload is deployed like a commit, says where it is from, and goes when it has ended', async () => {
  const { t, ada, project, upload, kept } = await withProject()
  const seen = seenBy(t)
  const commit = 'c0ffee'.padEnd(40, '0')
  const query = `?commit=${commit}&dirty=1&branch=main&message=A%20change`
  const { status, json, headers } = await upload(gzipSync(tarOf(app)), query)

  const about = { commit, message: 'A change', dirty: true, files: 2 }
  expect([status, json.status, json.trigger]).toEqual([201, 'pending', 'api'])
  expect(json).toMatchObject({ upload: about, repositoryUrl: null, branch: 'main' })
  expect(headers.get('Location')).toBe(`/projects/${project.id}/deployments/${json.id}`)
  const ended = await finished(ada, json)
  expect(ended).toMatchObject({ status: 'running', upload: about, commit: { hash: null } })
  expect(seen).toEqual([['Dockerfile', 'www/', 'www/index.html']])
  await until(() => kept().length === 0)

  const [event] = t.db.select().from(auditEvents).all().slice(-1)
  expect(event).toMatchObject({ action: 'deployment.triggered', details: { token: 'laptop' } })
  for (const path of ['', '/deployments', `/deployments/${json.id}`]) {
    const { text } = await ada.page(`/projects/${project.id}${path}`)
    expect([text.includes('dirty'), text.includes('A change')], path).toEqual([true, true])
  }
})

test('a session uploads, too', async () => {
  const { t, ada, project } = await withProject()
  const path = `/projects/${project.id}/uploads`
  const answer = await ada.send(path, { method: 'POST', body: tarOf(app), headers: json })
  const made: any = await answer.json()
  expect([answer.status, made.trigger]).toEqual([201, 'manual'])
  expect((await finished(ada, made)).status).toBe('running')
  const [event] = t.db.select().from(auditEvents).all().slice(-1)
  expect(event?.details).toEqual({ files: 'uploaded' })
  const page = { Accept: 'text/html' }
  const browser = await ada.send(path, { method: 'POST', body: tarOf(app), headers: page })
  expect([browser.status, browser.headers.get('Location')]).toEqual([
    303,
    expect.stringContaining(`/projects/${project.id}/deployments/`),
  ])
})

test('zstd and no compression are taken as well, and names of every length', async () => {
  const { t, ada, upload } = await withProject()
  const seen = seenBy(t)
  const long = `${'d'.repeat(150)}/${'ü'.repeat(60)}`
  const pax = { path: 'pax', type: 'x', content: aRecord('path', long) }
  const gnu = { path: '././@LongLink', type: 'L', content: `${long}.gnu\0` }
  const files = Object.entries(app).map(([path, content]): TarItem => ({
    path: `./${path}`,
    content,
  }))
  const tar = aTar([...files, pax, { path: 'x', content: '1' }, gnu, { path: 'y', content: '2' }])
  for (const body of [tar, zstdCompressSync(tar)]) {
    const { json } = await upload(body)
    expect((await finished(ada, json)).status).toBe('running')
  }
  for (const paths of seen) {
    const [one, other] = paths.filter((path) => path.startsWith('ddd') && !path.endsWith('/'))
    expect([one?.length, other?.length]).toEqual([one!.length, one!.length + 4])
  }
})

test('links stay links, hard ones become files, and a .git is left out', async () => {
  const { t, ada, upload } = await withProject()
  const seen = seenBy(t)
  const files = Object.entries(app).map(([path, content]): TarItem => ({ path, content }))
  const more: TarItem[] = [
    { path: 'passwd', type: '2', target: '/etc/passwd' },
    { path: 'up', type: '2', target: '../../../davit.db' },
    { path: 'copy', type: '1', target: 'Dockerfile' },
    { path: '.git/config', content: 'x' },
    { path: 'sub/.GIT/config', content: 'x' },
  ]
  const { json } = await upload(aTar([...files, ...more]))
  expect((await finished(ada, json)).status).toBe('running')
  expect(seen).toEqual([['Dockerfile', 'copy', 'passwd', 'up', 'www/', 'www/index.html']])
})

test('a rollback to its image needs no files, and says what it was', async () => {
  const { ada, project, upload, kept } = await withProject()
  const { json: first } = await upload(tarOf(app), '?message=First')
  await finished(ada, first)
  await finished(ada, (await upload(tarOf({ ...app, more: '' }))).json)
  const path = `/projects/${project.id}/deployments/${first.id}`
  const { json: back } = await ada.post(`${path}/rollback`)
  expect(await finished(ada, back)).toMatchObject({
    status: 'running',
    upload: { message: 'First' },
  })
  expect((await ada.get(`${path}/compare`)).json.commit).toMatchObject({
    from: { upload: { message: 'First' } },
  })
  await until(() => kept().length === 0)
})

test('one that waits survives a stop; without its files it fails with the reason', async () => {
  const { t, ada, upload, kept } = await withProject({ jobsWait: true })
  const { json } = await upload(tarOf(app))
  await t.uploads.sweep()
  expect(kept()).toHaveLength(1)

  const { json: newer } = await upload(tarOf(app))
  expect((await ada.get(`/projects/${json.projectId}/deployments`)).json.items).toMatchObject([
    { id: newer.id, status: 'pending' },
    { id: json.id, status: 'superseded' },
  ])
  expect(kept()).toHaveLength(1)
  t.db
    .update(deployments)
    .set({ upload: { ...newer.upload, id: 'gone' } })
    .run()
  await t.uploads.sweep()
  expect(kept()).toEqual([])
})

const shared = { jobsWait: true, atEnd: afterAll }
const usual = await withProject(shared)
const small = await withProject(shared, { DAVIT_REPOSITORY_SIZE: '2' })

describe('refused, with nothing deployed and nothing kept, is', () => {
  const file: TarItem = { path: 'Dockerfile', content: 'FROM busybox' }
  const wrong: [string, () => Uint8Array, number][] = [
    ['nothing', () => Buffer.alloc(0), 422],
    ['what is no archive', () => Buffer.from('<html>'.repeat(200)), 422],
    ['no file', () => aTar([]), 422],
    ['a body that is cut short', () => gzipSync(tarOf(app)).subarray(0, 100), 422],
    ['zstd that is cut short', () => zstdCompressSync(tarOf(app)).subarray(0, 100), 422],
    ['an archive that is cut short', () => aTar([file], { end: false }), 422],
    ['a name that leads up', () => aTar([file, { path: 'a/../../b' }]), 422],
    ['an absolute name', () => aTar([file, { path: '/etc/passwd' }]), 422],
    [
      'a hard link out of it',
      () => aTar([file, { path: 'x', type: '1', target: '/etc/passwd' }]),
      422,
    ],
    ['a hard link up', () => aTar([file, { path: 'x', type: '1', target: '../Dockerfile' }]), 422],
    [
      'a file that is a folder too',
      () => aTar([file, { path: 'a', content: '1' }, { path: 'a/b' }]),
      422,
    ],
    ['a device', () => aTar([file, { path: 'null', type: '3' }]), 422],
    ['a named pipe', () => aTar([file, { path: 'pipe', type: '6' }]), 422],
    ['a sparse file', () => aTar([file, { path: 'sparse', type: 'S' }]), 422],
    [
      'a name without end',
      () => aTar([file, { path: 'x'.repeat(99), type: 'L', size: 2 ** 30 }]),
      422,
    ],
    ['a size that isn’t there', () => aTar([{ ...file, size: 2 ** 32 }]), 422],
    ['100,001 files', () => gzipSync(manyFiles(100_001)), 413],
    [
      '100,001 files of one name',
      () => gzipSync(Buffer.alloc(100_001 * 512, aTar([{ path: 'x' }], { end: false }))),
      413,
    ],
    [
      'more than is allowed, well compressed',
      () => gzipSync(aTar([{ path: 'zeros', content: new Uint8Array(3 * 2 ** 20) }])),
      413,
    ],
  ]
  test.each(wrong)('%s', async (_, body, expected) => {
    const { ada, project, upload, kept } = _.startsWith('100') ? usual : small
    const { status, json } = await upload(body())
    expect([status, typeof json.detail]).toEqual([expected, 'string'])
    const whole = [{ field: '', message: json.detail }]
    expect(json.errors).toEqual(expected === 422 ? whole : undefined)
    expect(kept()).toEqual([])
    expect((await ada.get(`/projects/${project.id}/deployments`)).json.items).toEqual([])
  })

  test('that of a session without its CSRF token in the header, whatever its body says', async () => {
    const { t, ada, project, kept } = await withProject({ jobsWait: true })
    const headers = { Cookie: `svc_session=${aSession(t, ada.user.id)}; svc_csrf=` }
    const given = await t.app.request('/health', { headers })
    const csrf = /svc_csrf=([^;]+)/.exec(given.headers.getSetCookie().join())![1]!
    headers.Cookie += csrf
    for (const body of [tarOf(app), new URLSearchParams({ csrf_token: csrf })]) {
      const path = `/projects/${project.id}/uploads`
      const { status } = await t.app.request(path, { method: 'POST', headers, body })
      expect(status).toBe(403)
    }
    expect(kept()).toEqual([])
  })

  test('that of a token for less, and to a project of someone else', async () => {
    const { t, ada, project, upload, kept } = await withProject({ jobsWait: true })
    const body = tarOf(app)
    const path = `/projects/${project.id}/uploads`
    const deploy = asToken(t.app, tokenOf(t, ada.user.id, 'deploy'))
    expect((await deploy('POST', path, { body })).status).toBe(403)
    const limited = makeToken(t.db, {
      ...{ userId: ada.user.id, name: 'ci', scopes: ['deploy'], expiresInDays: null },
      projectId: project.id,
    })
    expect((await asToken(t.app, limited.token)('POST', path, { body })).status).toBe(403)
    const bob = asToken(t.app, tokenOf(t, t.logIn('bob@example.com').user.id))
    expect((await bob('POST', path, { body })).status).toBe(404)
    expect((await upload(body, '', Bun.randomUUIDv7())).status).toBe(404)
    expect(kept()).toEqual([])
  })

  test('what a query says wrongly', async () => {
    const { upload, kept } = await withProject({ jobsWait: true })
    for (const query of ['?commit=main', '?dirty=perhaps', `?message=${'x'.repeat(301)}`])
      expect((await upload(tarOf(app), query)).status, query).toBe(422)
    expect((await upload(tarOf(app), `?environment_id=${Bun.randomUUIDv7()}`)).status).toBe(422)
    expect(kept()).toEqual([])
  })

  test('a project that deploys an image', async () => {
    const { ada, upload } = await withProject({ jobsWait: true })
    const { json } = await ada.post('/projects', { name: 'image', image: 'busybox' })
    expect((await upload(tarOf(app), '', json.id)).status).toBe(409)
  })

  test('more than five that wait, while another user’s are taken', async () => {
    const { t, ada, project, upload } = await withProject({ jobsWait: true })
    const never = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    for (let open = 0; open < 5; open++) {
      const { json } = await ada.post(`/projects/${project.id}/envs`, { name: `env-${open}` })
      expect((await upload(tarOf(app), `?environment_id=${json.id}`)).status).toBe(201)
    }
    expect((await upload(never)).status).toBe(429)
    const bob = t.logIn('bob@example.com')
    const other = await aProject(t, bob, anApp('x'), { name: 'other' })
    const call = asToken(t.app, tokenOf(t, bob.user.id))
    const body = tarOf(app)
    expect((await call('POST', `/projects/${other.id}/uploads`, { body })).status).toBe(201)
  })
})
