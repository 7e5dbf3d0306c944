import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callsOf } from '../../src/api/calls.ts'
import { jsonSchemaOf } from '../../src/api/document.ts'
import { everything, fill } from '../support/everything.ts'
import type { Ids } from '../support/everything.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { token } from '../git/source.ts'
import { hasText, shapesOf, toldOf, trimmed, typesOf } from './field-shapes.ts'
import { injectionsOf } from './injections.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-fields-'))
const marker = join(dir, 'marker')
const injections = injectionsOf(marker)
const aFew = injections.filter((_, index) => index % 5 === 0)
const provider = startProviderServer('github')
provider.tokens.set(token, { login: 'ada', id: 42, scopes: ['repo'] })
afterAll(() => provider.stop())
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Body = Record<string, unknown>

type Form = {
  /** A body that is taken; a new one each time where names are not to be taken twice. */
  valid: () => Body
  id?: keyof Ids
  /** What is typed into a field and never told again. */
  untold?: string[]
  /** Each answer takes long, or another call has the same form: a few texts are enough. */
  brief?: boolean
  /** Fields of no schema: variables of a template. */
  more?: Record<string, string>
}

const repositoryUrl = 'https://git.example.com/team/site.git'
let port = 1000
const unique = () => Bun.randomUUIDv7()
const compose = 'services: {a: {image: busybox, environment: {GREETING: "${GREETING:-hello}"}}}'
const ownService = () => ({ name: unique(), compose })
const untoldOfServices = ['allowed', 'env', 'preview']
const password = 'correct horse battery staple'
const s3 = () => ({
  ...{ kind: 's3', endpoint: 'https://8.8.8.8', bucket: 'backups' },
  ...{ accessKey: 'AKIA', secretKey: 'x' },
})

/** Every call that takes a body. One that is missing here fails the first test. */
const forms: Record<string, Form> = {
  'POST /projects': { valid: () => ({ name: unique(), repositoryUrl }) },
  'PUT /projects/:id': { valid: () => ({}) },
  'PUT /projects/:id/settings': { valid: () => ({}) },
  'POST /projects/:id/envs': { valid: () => ({ name: unique() }) },
  'PUT /projects/:id/envs/:envId': { valid: () => ({}) },
  'POST /envs/:envId/variables': {
    valid: () => ({ key: `K_${unique().replaceAll('-', '_')}`, value: 'x' }),
    untold: ['dotenv'],
  },
  'PUT /envs/:envId/variables': { valid: () => ({ text: 'A=b' }), untold: ['text', 'shown'] },
  'PUT /envs/:envId/variables/:id': { id: 'variable', valid: () => ({}) },
  'POST /envs/:envId/links': {
    brief: true,
    valid: () => ({ name: unique(), template: 'redis' }),
    untold: [
      'name',
      'template',
      'serviceId',
      'variables',
      'version',
      'domains',
      ...untoldOfServices,
    ],
  },
  'PUT /envs/:envId/links/:id': { id: 'link', valid: () => ({}), untold: ['variables'] },
  'POST /envs/:envId/domains': {
    valid: () => ({ host: `${unique()}.example.com` }),
    untold: ['host', 'certificate', 'key', 'basicAuth'],
  },
  'POST /services/:id/domains': {
    brief: true,
    id: 'service',
    valid: () => ({ host: `${unique()}.example.com`, target: 'cache:80' }),
    untold: ['host', 'certificate', 'key', 'basicAuth'],
  },
  'PUT /domains/:id': {
    id: 'domain',
    valid: () => ({}),
    untold: ['host', 'certificate', 'key', 'basicAuth'],
  },
  'POST /envs/:envId/runs': { valid: () => ({ command: 'true' }) },
  'POST /projects/:id/deployments': { untold: ['tag', 'note'], valid: () => ({}) }, // its branch tells it
  'POST /projects/:id/deploy': { untold: ['note'], brief: true, valid: () => ({}) },
  'POST /projects/:id/deployments/:deploymentId/rollback': { brief: true, valid: () => ({}) },
  'POST /projects/:id/deployments/:deploymentId/promote': { untold: ['note'], valid: () => ({}) },
  'POST /projects/:id/envs/:envId/planned': {
    untold: ['tag'],
    valid: () => ({ at: new Date(Date.now() + 3_600_000).toISOString() }),
  },
  'POST /projects/:id/envs/:envId/promote': { untold: ['note'], brief: true, valid: () => ({}) },
  'PUT /projects/:id/previews': { valid: () => ({}) },
  'POST /projects/:id/envs/:envId/approve': {
    brief: true,
    valid: () => ({ commit: 'c'.repeat(40) }),
  },
  'POST /services/:template': {
    brief: true,
    valid: () => ({ name: unique() }),
    more: { REDIS_PASSWORD: 'string' },
    untold: untoldOfServices,
  },
  'POST /services': {
    brief: true,
    valid: () => ({ name: unique(), template: 'redis' }),
    untold: untoldOfServices,
  },
  'POST /services/deploy': {
    brief: true,
    valid: () => ({ name: unique(), template: 'redis' }),
    untold: untoldOfServices,
  },
  'POST /services/compose': {
    valid: ownService,
    more: { GREETING: 'string' },
    untold: ['GREETING', ...untoldOfServices],
  },
  'POST /services/compose/configure': {
    valid: () => ({ compose }),
    untold: ['name', 'compose', ...untoldOfServices],
  },
  'PUT /services/:id': { id: 'service', valid: () => ({}), untold: untoldOfServices },
  'POST /settings/registries': {
    valid: () => ({ host: `8.8.8.8:${++port}`, username: 'ada', password: 'x' }),
    untold: ['password'],
  },
  'POST /settings/channels': {
    valid: () => ({ kind: 'browser', name: unique(), events: ['unhealthy'] }),
  },
  'PUT /settings/channels/:id': {
    id: 'channel',
    valid: () => ({ name: unique(), events: ['unhealthy'] }),
  },
  'POST /envs/:envId/schedules': {
    valid: () => ({ name: unique(), command: 'true', schedule: '0 3 * * *', zone: 'UTC' }),
  },
  'PUT /envs/:envId/schedules/:id': {
    id: 'schedule',
    valid: () => ({ name: unique(), command: 'true', schedule: '0 3 * * *' }),
  },
  'POST /envs/:envId/freezes': {
    valid: () => ({ until: new Date(Date.now() + 3_600_000).toISOString(), reason: unique() }),
  },
  'PUT /envs/:envId/freezes/:id': { id: 'freeze', valid: () => ({ reason: unique() }) },
  'POST /envs/:envId/drains': {
    valid: () => ({
      ...{ kind: 'loki', name: unique(), url: 'http://127.0.0.1:3100', requests: true },
      ...{ username: 'ada', password: 'x', headers: 'X-Scope-OrgID: team' },
    }),
    untold: ['password', 'headers'],
  },
  'PUT /envs/:envId/drains/:id': {
    id: 'drain',
    valid: () => ({ name: unique(), host: '127.0.0.1', port: 514, tls: false }),
  },
  'PUT /settings/registries/:id': {
    id: 'registry',
    valid: () => ({ host: `8.8.8.8:${++port}`, username: 'ada', password: 'x' }),
    untold: ['password'],
  },
  'POST /settings/targets': {
    valid: () => ({ ...s3(), name: unique() }),
    untold: ['secretKey', 'key', 'userPassword', 'password'],
  },
  'PUT /settings/targets/:id': {
    id: 'target',
    valid: () => ({ name: unique() }),
    untold: ['secretKey', 'key', 'userPassword', 'password'],
  },
  'POST /backups/:id/restore': { id: 'backup', brief: true, valid: () => ({}) },
  'POST /services/:id/backups': { id: 'service', valid: () => ({}) },
  'POST /envs/:envId/backups': { brief: true, valid: () => ({}) },
  'POST /services/:id/move': { id: 'service', brief: true, valid: () => ({ server: 'two' }) },
  'POST /envs/:envId/move': { brief: true, valid: () => ({ server: 'two' }) },
  'POST /settings/backups': { brief: true, valid: () => ({}) },
  'PUT /services/:id/backups/plan': { id: 'service', valid: () => ({ schedule: '0 3 * * *' }) },
  'PUT /envs/:envId/backups/plan': { brief: true, valid: () => ({ schedule: '0 3 * * *' }) },
  'PUT /settings/backups/plan': { brief: true, valid: () => ({ schedule: '0 3 * * *' }) },
  'POST /settings/prune': { valid: () => ({ what: ['images'], dryRun: true }) },
  'PUT /settings/prune/schedule': { valid: () => ({}) },
  'PUT /settings/git/:id': { id: 'source', brief: true, valid: () => ({}) },
  'POST /settings/git': {
    valid: () => ({
      provider: 'github',
      name: unique(),
      baseUrl: provider.baseUrl,
      accessToken: token,
    }),
    untold: ['accessToken'],
  },
  'POST /auth/register': {
    brief: true,
    valid: () => ({ email: `${unique()}@example.com`, password }),
    untold: ['password', 'invite', 'setupCode'],
  },
  'POST /auth/login': { brief: true, valid: () => ({ email: 'ada@example.com', password }) },
  'POST /auth/forgotten': { brief: true, valid: () => ({ email: 'ada@example.com' }) },
  'POST /auth/device': { brief: true, valid: () => ({ name: 'laptop' }), untold: ['name'] },
  'POST /auth/device/token': { brief: true, valid: () => ({ secret: 'x' }) },
  'POST /settings/device': { valid: () => ({ code: 'ABCD-EFGH', answer: 'refuse' }) },
  'POST /auth/password': { brief: true, valid: () => ({ reset: 'x', password }) },
  'POST /settings/invites': { valid: () => ({}) },
  'PUT /settings/profile': { valid: () => ({}), untold: ['currentPassword'] },
  'PUT /settings/password': { brief: true, valid: () => ({ password, currentPassword: 'x' }) },
  'POST /settings/identities': { valid: () => ({}), untold: ['currentPassword'] },
  'POST /settings/tokens': { valid: () => ({ name: 'ci', scopes: ['read'] }) },
  'PUT /settings/users/:id': { id: 'user', valid: () => ({}) },
  // a session is refused there; its fields are those of a deployment
  'POST /hooks/deploy': { brief: true, valid: () => ({ environmentId: unique() }) },
  'PUT /settings/grants/:id': { id: 'service', valid: () => ({ granted: true }) },
}

/** What git hosts and registries send has attacks of its own, and so have servers that join. */
const ownAttacks = /^\/(webhooks|hooks\/registry|settings\/servers|auth\/join)/
const withBody = (t: TestApp) =>
  callsOf(t.app.routes).filter(({ body, path }) => body && !ownAttacks.test(path))
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

test('the attack below knows every call that takes a body', () => {
  expect(Object.keys(forms).toSorted()).toEqual(withBody(testApp()).map(nameOf).toSorted())
})

test('no field of any form runs what it is given: it is refused, or kept as it is', async () => {
  const env = { DAVIT_REGISTRATION: 'open', DAVIT_ALLOW_LOCAL_REPOS: '0' }
  const t = testApp(env, { jobsWait: true })
  t.faults.checkRegistry = () => Promise.resolve()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await everything(t, ada)
  const seen = { refused: 0, kept: 0 }

  for (const operation of withBody(t)) {
    const { method, path, body } = operation
    const { valid, id, untold = [], brief = false, more = {} } = forms[nameOf(operation)]!
    const send = method === 'POST' ? ada.post : ada.put
    const types = { ...typesOf(jsonSchemaOf(body!)), ...more }
    for (const [field, type] of Object.entries(types))
      for (const text of hasText(type) && !brief && !untold.includes(field) ? injections : aFew)
        for (const value of shapesOf(type, text)) {
          const answer = await send(fill(path, ids, id), { ...valid(), [field]: value })
          const sent = `${nameOf(operation)} with ${field} = ${JSON.stringify(value)}`
          if (answer.status >= 300) {
            expect([401, 403, 404, 409, 422, 429], `${sent}: ${answer.text}`).toContain(
              answer.status,
            )
            expect(answer.headers.get('Content-Type'), sent).toBe('application/problem+json')
            seen.refused++
          } else if (!untold.includes(field)) {
            expect(toldOf(answer, field), sent).toEqual(trimmed(value))
            seen.kept++
          }
        }
  }
  expect(seen.refused).toBeGreaterThan(1000)
  expect(seen.kept).toBeGreaterThan(50)
  expect(existsSync(marker)).toBe(false)
  expect(existsSync(join(process.cwd(), 'marker'))).toBe(false)
})
