import { describe, expect, test } from 'bun:test'
import { getTarget, openTarget } from '../../src/backups/targets/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import {
  directory,
  path,
  privateKey,
  rest,
  s3,
  scene,
  sftp,
  snake,
  stored,
} from './target-scene.ts'

describe('a target', () => {
  test.each([
    ['S3', s3, { endpoint: 'http://127.0.0.1:9000', secretKey: 'a secret key' }],
    ['SFTP', sftp, { host: '127.0.0.1:2222', key: privateKey }],
    [
      'REST',
      { ...rest, user: 'ada', userPassword: 'p@ss' },
      { url: 'http://ada:p%40ss@127.0.0.1:8000/repo' },
    ],
    ['a directory', directory, { path: '/mnt/backups' }],
  ])('by %s is tried out, stored sealed, and its key is shown once', async (_, body, used) => {
    const { t, root, tried } = scene()
    const added = await root.post(path, body)
    expect(added.status).toBe(201)
    expect(tried).toEqual([expect.objectContaining({ ...used, password: added.json.password })])
    expect(added.json.password).toHaveLength(64)
    const shown = [
      (await root.get(path)).text,
      (await root.page(path)).text,
      (await root.get(added.headers.get('Location')!)).text,
      (await root.page(`${path}/${added.json.id}/edit`)).text,
      JSON.stringify(stored(t)),
    ]
    for (const text of shown)
      for (const secret of [
        added.json.password,
        'a secret key',
        'p@ss',
        'p%40ss',
        'OPENSSH PRIVATE KEY-----\\nAAAA',
      ])
        expect(text).not.toContain(secret)
    const row = getTarget(t.db, { id: added.json.id, ownerId: root.user.id })!
    expect(tried[0]).toMatchObject({ id: row.id })
    expect(openTarget(t, row)).toMatchObject({ ...used, password: added.json.password })
  })

  test('keeps the key of a repository that exists', async () => {
    const { ada, tried, existing, answers } = scene()
    const added = await ada.post(path, { ...s3, password: 'the kept key' })
    expect(added.json.password).toBe('the kept key')
    expect(tried[0]!.password).toBe('the kept key')
    await ada.put(`${path}/${added.json.id}`, { bucket: 'moved' })
    await ada.put(`${path}/${added.json.id}`, { password: 'another key' })
    expect(existing).toEqual([true, false, true])
    answers.failure = new Failure('target_missing', 'None.', 'Correct it.')
    const none = await ada.post(path, { ...s3, name: 'none', password: 'the kept key' })
    expect(none.json.errors).toMatchObject([{ field: 'password' }])
  })

  test('that fails late can be added again, since its key is the same', async () => {
    const { ada, root, tried, answers } = scene()
    answers.failure = new Failure('target_denied', 'No deleting.', 'Allow it.')
    await ada.post(path, s3)
    delete answers.failure
    await ada.post(path, { ...s3, name: 'again' })
    await root.post(path, s3)
    await root.post(path, { ...s3, name: 'more', path: 'more' })
    const keys = tried.map(({ password }) => password)
    expect(keys[1]).toBe(keys[0]!)
    expect(new Set(keys).size).toBe(3)
  })

  test('shows its key in the dialog, whose link leaves it open, and in the list without a script', async () => {
    const { ada } = scene()
    const form = { kind: 'rest', name: 'a', url: rest.url, password: 'a kept key' }
    const dialog = await ada.htmx('POST', path, form)
    expect(dialog.text).toContain('a kept key')
    expect(dialog.text).toContain('hx-swap-oob')
    const links = dialog.text.match(/<a href="\/docs[^>]*>/g)!
    expect(links.filter((link) => !link.includes('target="_blank"'))).toEqual([])
    const page = await ada.form(path, { ...form, name: 'b', url: `${rest.url}/b` })
    expect(page.text).toContain('a kept key')
  })

  test.each([
    ['target_unauthorized', s3, 'secretKey'],
    ['target_bucket_missing', s3, 'bucket'],
    ['target_unreachable', s3, 'endpoint'],
    ['target_key', s3, 'password'],
    ['target_unauthorized', sftp, 'key'],
    ['target_host_key', sftp, 'hostKey'],
    ['target_denied', sftp, 'path'],
    ['target_slow', sftp, 'host'],
    ['target_unauthorized', rest, 'userPassword'],
    ['target_certificate', rest, 'url'],
    ['target_not_found', directory, 'path'],
    ['host_refused', rest, 'url'],
    ['host_unresolved', s3, 'endpoint'],
  ])('that fails with %s says so at its field, and isn’t stored', async (code, body, field) => {
    const { t, root, answers } = scene()
    answers.failure = new Failure(code, 'It failed.', 'Do this.')
    const refused = await root.post(path, body)
    expect(refused.status).toBe(422)
    expect(refused.json.errors).toEqual([{ field, message: 'It failed. Do this.' }])
    expect(stored(t)).toEqual([])
    const form = await root.htmx('POST', path, snake(body))
    expect(form.text).toContain('It failed.')
    expect(form.text).not.toContain('a secret key')
  })

  test.each([
    ['S3', s3, 'backups/davit'],
    ['SFTP', sftp, '/srv/backups'],
    ['a directory', directory, '/mnt/backups'],
  ])('by %s may have a slash at the end of its path, which is dropped', async (_, body, place) => {
    const { root, tried } = scene()
    const added = await root.post(path, { ...body, path: `${place}/` })
    expect([added.status, added.json.path, tried[0]?.path]).toEqual([201, place, place])
    const changed = await root.put(`${path}/${added.json.id}`, { path: `${place}-2/` })
    expect(changed.json.path).toBe(`${place}-2`)
  })

  test('that can’t be tried out because Docker fails is not stored', async () => {
    const { t, ada, answers } = scene()
    answers.failure = new Failure('image_not_found', 'The image can’t be pulled.', 'Try again.')
    const refused = await ada.post(path, s3)
    expect(refused.status).toBe(503)
    expect(refused.json.code).toBe('image_not_found')
    expect(stored(t)).toEqual([])
  })

  test('in a directory is for admins: not offered to others, and refused', async () => {
    const { ada, root, tried } = scene()
    const refused = await ada.post(path, directory)
    expect(refused.status).toBe(403)
    expect(refused.json.errors).toMatchObject([{ field: 'kind' }])
    expect(tried).toEqual([])
    expect((await ada.page(`${path}/new`)).text).not.toContain('kind=directory')
    expect((await root.page(`${path}/new`)).text).toContain('kind=directory')
  })

  test('in a directory can’t be used once its owner is no admin', async () => {
    const { t, root } = scene()
    const { json } = await root.post(path, directory)
    t.db.$client.query("UPDATE users SET role = 'member'").run()
    const tested = await root.post(`${path}/${json.id}/test`, {})
    expect(tested.json).toMatchObject({ status: 503, code: 'target_not_allowed' })
  })
})

describe('a form of one kind', () => {
  test('has its fields and not those of others, and stays at it when refused', async () => {
    const { ada } = scene()
    const dialog = (await ada.htmx('GET', `${path}/new?kind=sftp`)).text
    expect(dialog).toContain('name="host_key"')
    expect(dialog).not.toContain('name="bucket"')
    const refused = await ada.htmx('POST', path, { kind: 'sftp', name: 'nas', user: 'a b' })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('name="host_key"')
    expect(refused.text).toContain('value="a b"')
  })

  test('begins with the first kind, whatever is asked for', async () => {
    const { ada } = scene()
    for (const query of ['', '?kind=', '?kind=tape', '?kind=constructor'])
      expect((await ada.page(`${path}/new${query}`)).text).toContain('name="bucket"')
  })
})

describe('refused before anything is asked', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no kind', { ...s3, kind: undefined }, 'kind'],
    ['another kind', { ...s3, kind: 'ftp' }, 'kind'],
    ['a field of another kind', { ...s3, host: '127.0.0.1' }, 'host'],
    ['no bucket', { ...s3, bucket: '' }, 'bucket'],
    ['a bucket with a path', { ...s3, bucket: 'a/b' }, 'bucket'],
    ['an endpoint without a scheme', { ...s3, endpoint: '127.0.0.1:9000' }, 'endpoint'],
    ['an endpoint with a path', { ...s3, endpoint: 'http://127.0.0.1/x' }, 'endpoint'],
    ['an endpoint with a login', { ...s3, endpoint: 'http://a:b@127.0.0.1' }, 'endpoint'],
    ['a private endpoint', { ...s3, endpoint: 'http://10.0.0.1' }, 'endpoint'],
    ['the metadata address', { ...s3, endpoint: 'http://169.254.169.254' }, 'endpoint'],
    ['a directory that leaves the bucket', { ...s3, path: 'a/../../b' }, 'path'],
    ['a repository key that is short', { ...s3, password: 'short' }, 'password'],
    ['a number as a key', { ...s3, secretKey: 5 }, 'secretKey'],
    ['a private host', { ...sftp, host: '192.168.1.1' }, 'host'],
    ['port 0', { ...sftp, host: '127.0.0.1:0' }, 'host'],
    ['a port that is none', { ...sftp, host: '127.0.0.1:70000' }, 'host'],
    ['a host as an option', { ...sftp, host: '-oProxyCommand=id' }, 'host'],
    ['a user as an option', { ...sftp, user: '-l' }, 'user'],
    ['a public key', { ...sftp, key: 'ssh-ed25519 AAAA' }, 'key'],
    ['a key with a passphrase', { ...sftp, key: lockedKey() }, 'key'],
    ['half a key', { ...sftp, key: privateKey.slice(0, 40) }, 'key'],
    ['a host key with a line break', { ...sftp, hostKey: 'ssh-ed25519 AAAA\nx' }, 'hostKey'],
    ['a login in the URL', { ...rest, url: 'http://a:b@127.0.0.1:8000' }, 'url'],
    ['a query in the URL', { ...rest, url: 'http://127.0.0.1:8000/?a=b' }, 'url'],
    ['a password without a user', { ...rest, userPassword: 'x' }, 'user'],
    ['the root', { ...directory, path: '/' }, 'path'],
    ['a relative directory', { ...directory, path: 'mnt' }, 'path'],
    ['a directory with ..', { ...directory, path: '/mnt/../etc' }, 'path'],
    ['a directory with .. and a slash', { ...directory, path: '/mnt/../' }, 'path'],
    ['a directory with two slashes', { ...directory, path: '/mnt//' }, 'path'],
    ['a directory with a colon', { ...directory, path: '/mnt:/etc' }, 'path'],
  ])('is %s', async (_, body, field) => {
    const { root, tried } = scene()
    const refused = await root.post(path, body)
    expect(refused.status).toBe(422)
    expect(refused.json.errors.map((one: { field: string }) => one.field)).toContain(field)
    expect(tried).toEqual([])
  })

  test('is a second one of the same name', async () => {
    const { ada } = scene()
    await ada.post(path, s3)
    expect((await ada.post(path, { ...rest, name: s3.name })).json.errors[0].field).toBe('name')
  })
})

function lockedKey() {
  const body = Buffer.from('openssh-key-v1\0\0\0\0\naes256-ctr\0\0\0\x06bcrypt').toString('base64')
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`
}

test('two targets can’t share a repository', async () => {
  const { ada, root } = scene()
  expect((await ada.post(path, s3)).status).toBe(201)
  const again = { ...s3, name: 'twin', endpoint: s3.endpoint.replace(/\/$/, '') }
  const { status, json } = await ada.post(path, again)
  expect([status, json.errors[0].field]).toEqual([422, 'endpoint'])
  expect((await ada.post(path, { ...again, path: 'beside' })).status).toBe(201)
  expect((await root.post(path, again)).status).toBe(201)
})
