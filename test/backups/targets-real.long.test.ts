import { afterAll, expect, test } from 'bun:test'
import { openRestic } from '../../src/backups/restic/restic.ts'
import { testApp } from '../support/app.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { s3Keys, startS3 } from '../support/s3-server.ts'
import { hostAddress, login, startRest } from './restic/servers.ts'
import { path } from './target-scene.ts'

const [rest, address] = await Promise.all([startRest(), hostAddress()])
const s3 = startS3({ hostname: address })
afterAll(() => s3.stop())
const env = { DAVIT_RESTIC_IMAGE: await ensureRestic(), DAVIT_ALLOW_HOSTS: address }
const t = testApp(env, {
  atEnd: afterAll,
  tryOut: (target, options) => openRestic(t.deps, target).tryOut(options),
})
const ada = t.logIn('ada@example.com')

const bucket = { kind: 's3', name: 's3', endpoint: s3.url, bucket: 'backups', region: 'us-east-1' }
const server = { kind: 'rest', name: 'rest', url: `http://${rest.address}/mine` }

test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
  ['s3', { ...bucket, ...s3Keys }, { secretKey: 'wrong' }, 'secretKey'],
  ['s3', { ...bucket, ...s3Keys }, { endpoint: `http://${address}:1` }, 'endpoint'],
  [
    'rest',
    { ...server, user: login.user, userPassword: login.password },
    { userPassword: 'wrong' },
    'userPassword',
  ],
  [
    'rest',
    { ...server, user: login.user, userPassword: login.password },
    { password: 'not the key' },
    'password',
  ],
])(
  'a target of kind %s with one wrong field is refused at it, and taken without',
  async (_, body, wrong, field) => {
    const refused = await ada.post(path, { ...body, ...wrong })
    expect(refused.json, refused.text).toMatchObject({ status: 422, errors: [{ field }] })
    const added = await ada.post(path, body)
    expect(added.status, added.text).toBe(201)
    const one = `${path}/${added.json.id}`
    expect((await ada.post(`${one}/test`, {})).status).toBe(200)
    expect((await ada.delete(one)).status).toBe(200)
  },
)
