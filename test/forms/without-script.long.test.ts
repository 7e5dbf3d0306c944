import { expect, onTestFinished, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { deployments, users } from '../../src/db/schema.ts'
import { oauthSettings, startOAuthProvider } from '../accounts/oauth-provider.ts'
import { addressOf, routesOf } from '../attacks/walk.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { startDeviceLogin } from '../../src/accounts/device-login-store.ts'
import { everything } from '../support/everything.ts'
import type { Ids } from '../support/everything.ts'
import { contentsOf } from '../support/refusals.ts'
import { aSession } from '../support/session.ts'
import { formsOf } from './page-forms.ts'
import type { PageForm } from './page-forms.ts'

const passwordHash = Bun.password.hashSync('the passphrase of now', 'argon2id')

/** What is typed into fields by their name; what is secret must be in no address. */
const secrets = {
  password: 'a secret passphrase',
  current_password: 'the passphrase of now',
  access_token: 'a-secret-access-token',
  value: 'a-secret-value',
  text: 'KEY_OF_LINES=a-secret-line',
}
const typed: Record<string, string> = {
  ...secrets,
  email: 'changed@example.com',
  name: 'changed',
  key: 'CHANGED',
  host: 'registry.example.com',
  username: 'ada',
  repository_url: 'https://git.example.com/team/other.git',
  compose: 'services: {a: {image: "busybox:latest", command: [sleep, "9"]}}',
  threshold: '50',
  at: inHours(1),
  until: inHours(1),
  reason: 'Christmas',
}

/** As a field of date and time has it, without a zone. */
function inHours(count: number) {
  return new Date(Date.now() + count * 3_600_000).toISOString().slice(0, 16)
}

/** Where a name means something else: the key of a domain is its certificate's. */
const typedThere: Record<string, Record<string, string>> = {
  '/envs/:id/domains': { key: '', host: 'other.example.com' },
  '/services/:id/domains': { key: '', host: 'other.example.com' },
  '/domains/:id': { key: '' },
  '/settings/invites': { email: '' },
  '/envs/:id/runs': { command: 'true' },
  '/envs/:id/freezes/:id': { until: inHours(301 * 24) },
  '/envs/:id/schedules': { command: 'true', schedule: '0 4 * * *' },
}

/** Forms that put what is looked for into the address, on purpose. */
const searches = ['/settings/audit', '/projects/new']

const isSearch = ({ attributes, action }: PageForm) =>
  attributes['role'] === 'search' || searches.includes(action)

/** Pages that other servers or the state of something would have to be right for: tested where they are. */
const asksOthers = [
  'POST /settings/git',
  'PUT /settings/git/:id',
  'PUT /settings/registries/:id',
  'POST /settings/registries',
  'POST /settings/servers',
  'POST /services/:id/domains',
  'POST /envs/:id/drains/:id/test',
  'DELETE /backups/:id',
  'POST /settings/targets',
  'DELETE /settings/targets/:id', // backups are on it
]

/** Forms of several kinds, of which the first page found has not the one that is filled in here. */
const pagesOf: Record<string, string> = {
  'POST /projects': '/projects/new?from=address',
  'POST /settings/device': '/settings/device',
  'POST /settings/channels': '/settings/channels/new?kind=browser',
}

/** What a form without rows to change does instead. */
const effects: Record<string, (t: TestApp, browser: Browser, ids: Ids) => Promise<boolean>> = {
  'POST /auth/logout': async (_, browser) => (await browser.open('/dashboard')).status === 303,
  'POST /settings/device': async (_, browser) => browser.text.includes('ada@laptop'),
  'POST /theme': async (_, browser) => browser.text.includes('data-theme="light"'),
  'POST /settings/prune': async (_, browser) => /can go|Remove selected/.test(browser.text),
  'POST /services/compose/configure': async (_, browser) => /busybox/.test(browser.text),
  'PUT /envs/:id/variables': async (_, browser) =>
    /KEY_OF_LINES[^]*Save changes/.test(browser.text),
  'DELETE /settings/sessions': async (t) => countSessions(t) === 1,
  'DELETE /settings/sessions/:id': async (t) => countSessions(t) === 1,
  'POST /containers/:id/restart': async (t, _, ids) =>
    (await t.docker.inspectContainer(ids.container))!.state === 'running',
  'POST /containers/:id/stop': async (t, _, ids) =>
    (await t.docker.inspectContainer(ids.container))!.state === 'exited',
}

/** What has to be so before a form has something to do, or is there at all. */
const needs: Record<string, (t: TestApp, ids: Ids) => Promise<unknown>> = {
  'POST /containers/:id/stop': (t, ids) => t.docker.startContainer(ids.container),
  'POST /settings/device': async (t) => {
    const { code } = startDeviceLogin(t.db, { name: 'ada@laptop', address: '' })
    typedThere['/settings/device'] = { code }
  },
  'POST /envs/:id/restart': runs,
  'POST /envs/:id/stop': runs,
  'POST /envs/:id/runs': runs,
  'POST /envs/:id/schedules/:id/run': runs,
  'POST /projects/:id/deployments/:id/rollback': runs,
}

/** Its environment has something to restart, and an image to run commands in. */
async function runs(t: TestApp, ids: Ids) {
  const current = eq(deployments.id, ids.deployment)
  t.db.update(deployments).set({ status: 'running', image: 'busybox' }).where(current).run()
}

const countSessions = (t: TestApp) =>
  t.db.$client.query<{ n: number }, []>('SELECT count(*) n FROM sessions').get()!.n

/** A browser that runs no script, logged in. */
class Browser {
  readonly addresses: string[] = []
  text = ''
  readonly #cookies: Map<string, string>

  constructor(
    readonly t: TestApp,
    userId: string,
  ) {
    this.#cookies = new Map([['svc_session', aSession(t, userId)]])
  }

  open = (path: string) => this.#ask(path, {})

  /** Sends the form with its first button, answers the question if one is asked, and goes where it leads. */
  async submit(form: PageForm): Promise<number> {
    const body = new URLSearchParams()
    for (const { name, value } of [...form.fields, ...form.buttons.slice(0, 1)])
      if (name) body.append(name, value)
    let { status, headers } = await this.#ask(form.action, { method: 'POST', body })
    const asked = (await formsOf(this.text, form.action)).find(
      (one) => one.attributes['class'] === 'form narrow' && one.action === form.action,
    )
    if (status === 200 && asked) return this.submit(asked)
    for (let hops = 0; status === 303 && hops < 3; hops++) {
      const to = headers.get('Location')!
      if (!to.startsWith('/')) {
        this.addresses.push(to)
        return 200 // a provider's own page
      }
      ;({ status, headers } = await this.open(to))
    }
    return status
  }

  async #ask(path: string, init: RequestInit) {
    this.addresses.push(path)
    const Cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin', Cookie }
    const answer = await this.t.app.request(path, { ...init, headers })
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      this.#cookies.set(name!, value!)
    }
    this.text = await answer.text()
    return answer
  }
}

/** An owner of everything, with another session, and a browser of theirs. */
async function owner() {
  const provider = startOAuthProvider()
  onTestFinished(() => provider.stop())
  const t = testApp({ ...oauthSettings(provider), DAVIT_REGISTRATION: 'invite' })
  const root = t.logInAsAdmin('owner@example.com')
  const ids = await everything(t, root)
  ids.user = t.logIn('bob@example.com').user.id
  await root.post('/settings/invites')
  t.db.update(users).set({ passwordHash }).where(eq(users.id, root.user.id)).run()
  t.db.$client.run(`DELETE FROM sessions WHERE id <> '${ids.session}'`)
  return { t, ids, browser: new Browser(t, root.user.id) }
}

/** Every page with its forms, but for the dialog that only scripts open and those of others' containers. */
async function* pages(t: TestApp, browser: Browser, ids: Ids) {
  const readable = routesOf(t).filter(
    ({ method, path }) =>
      method === 'GET' && !/static|stats|stream|events|^\/live|logs$|oauth|api\/git/.test(path),
  )
  for (const route of readable) {
    const path = addressOf(route, ids)
    const { status, headers } = await browser.open(path)
    if (status !== 200 || !headers.get('Content-Type')?.includes('html')) continue
    const forms = await formsOf(browser.text, path)
    yield { path, html: browser.text, forms: forms.filter((form) => isMeant(form, ids)) }
  }
}

/** The list shows an administrator all containers of the engine, and those of other tests aren't ours to stop. */
const isMeant = ({ method, action }: PageForm, ids: Ids) =>
  method !== 'dialog' &&
  (!/^\/containers\/[0-9a-f]{64}\//.test(action) || action.includes(ids.container))

const methodOf = ({ fields }: PageForm) =>
  fields.find(({ name }) => name === '_method')?.value ?? 'POST'

/** As a route: the method it means, and the address without ids. */
const routeOf = (form: PageForm) =>
  `${methodOf(form)} ${form.action.replace(/\?.*/, '').replace(/\/([a-f0-9-]{36}|[a-f0-9]{64})(?=\/|$)/g, '/:id')}`

test('every form of every page posts, with the token, to a route that its script sends it to as well', async () => {
  const { t, ids, browser } = await owner()
  const found = new Set<string>()
  for await (const { path, html, forms } of pages(t, browser, ids)) {
    expect(html, path).not.toMatch(/hx-(put|delete|patch)=/)
    // what a browser refuses without its rule, or cuts without a word
    expect(html, path).not.toMatch(/<input(?![^>]*\btitle=)[^>]*\spattern=/)
    expect(html, path).not.toMatch(/<textarea[^>]*\bmaxlength=/)
    for (const form of forms) {
      const what = `${path}: ${routeOf(form)}`
      if (isSearch(form) || 'data-scripted' in form.attributes) {
        const names = form.fields.map(({ name, type }) => (type === 'password' ? 'password' : name))
        expect(
          names.filter((name) => name in secrets || name === 'csrf_token'),
          what,
        ).toEqual([])
        continue
      }
      found.add(routeOf(form))
      expect(form.method, what).toBe('post')
      const token = form.fields.find(({ name }) => name === 'csrf_token')?.value
      expect(token, what).toMatch(/^[\w-]{171}$/)
      if ('hx-post' in form.attributes)
        expect(form.attributes['hx-post'], what).toBe(form.attributes['action']!)
    }
  }
  expect([...found].filter((route) => /^(PUT|DELETE)/.test(route)).length).toBeGreaterThan(18)
})

test('each of them does what it says when it is sent without script, and no secret is in an address', async () => {
  const first = await owner()
  for (const need of Object.values(needs)) await need(first.t, first.ids)
  const todo = new Map<string, string>()
  for await (const { path, forms } of pages(first.t, first.browser, first.ids))
    for (const form of forms)
      if (form.method === 'post' && !todo.has(routeOf(form)))
        todo.set(routeOf(form), generic(path, first.ids))
  expect(todo.size).toBeGreaterThan(35)

  for (const [route, page] of todo) {
    const { t, ids, browser } = await owner()
    await needs[route]?.(t, ids)
    await browser.open(pagesOf[route] ?? specific(page, ids))
    const forms = (await formsOf(browser.text, page)).filter((one) => isMeant(one, ids))
    const form = forms.find((one) => one.method === 'post' && routeOf(one) === route)!
    expect(form, route).toBeDefined()
    const values: Record<string, string> = { ...typed, ...typedThere[route.split(' ')[1]!] }
    for (const field of form.fields)
      if (field.name in values && field.type !== 'hidden') field.value = values[field.name]!
    const before = contentsOf(t)
    let status = await browser.submit(form)
    while (status === 504) status = await browser.submit(form) // Docker is busy: “Try again in a moment.”
    if (asksOthers.includes(route)) expect([409, 422, 502, 503], route).toContain(status)
    else {
      expect(status, `${route}: ${/<main[^]*/.exec(browser.text)?.[0].slice(0, 800)}`).toBe(200)
      const effect = effects[route]
      if (effect) expect(await effect(t, browser, ids), route).toBe(true)
      else expect(contentsOf(t), route).not.toEqual(before)
    }
    for (const secret of Object.values(secrets))
      expect(browser.addresses.join('\n'), route).not.toContain(encodeURIComponent(secret))
  }
}, 300_000)

/** A page by what its ids stand for, so that it is found among other ids. */
const generic = (path: string, ids: Ids) =>
  Object.entries(ids).reduce((text, [kind, id]) => text.replaceAll(id, `{${kind}}`), path)

const specific = (path: string, ids: Ids) =>
  path.replace(/\{(\w+)\}/g, (_, kind: keyof Ids) => ids[kind])
