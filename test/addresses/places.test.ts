import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { ConfigError, parseConfig } from '../../src/config.ts'
import { users } from '../../src/db/schema.ts'
import { checkPublishing } from '../../src/doctor/publishing.ts'
import { placesOf } from '../../src/addresses/places.ts'
import { aProject, answerOf, anApp, logOf } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import { openPage } from '../support/browser.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'

const apart = '127.0.0.2'
const beyond = { DAVIT_HOST: '0.0.0.0' }
const named = { DAVIT_URL: 'http://davit.lan' }
const secure = { DAVIT_URL: 'https://davit.example.com' }
const to = (DAVIT_PUBLISH_ADDRESS: string) => ({ DAVIT_PUBLISH_ADDRESS })

test.each([
  [{}, apart, apart],
  [beyond, apart, apart],
  [secure, apart, apart],
  [to('127.0.0.1'), apart, '127.0.0.1'],
  [to('0.0.0.0'), apart, '0.0.0.0'],
  [to('::'), apart, '::'],
  [to('::1'), apart, '::1'],
  [to('127.0.0.3'), '127.0.0.3', '127.0.0.3'],
  [to('192.168.1.7'), '192.168.1.7', '192.168.1.7'],
  [{ ...beyond, ...to('0.0.0.0') }, apart, '0.0.0.0'],
  [{ ...beyond, ...to('192.168.1.7') }, apart, '192.168.1.7'],
  [{ ...named, ...to('0.0.0.0') }, apart, '0.0.0.0'],
  [{ ...named, ...to('192.168.1.7') }, apart, '192.168.1.7'],
  [{ ...secure, ...to('0.0.0.0') }, '0.0.0.0', '0.0.0.0'],
  [{ ...secure, ...beyond, ...to('192.168.1.7') }, '192.168.1.7', '192.168.1.7'],
] as const)('with %p a member’s apps are on %s, an admin’s on %s', (env, member, admin) => {
  const t = testApp(env)
  const addressOf = (id: string) => placesOf(t, id).publishAddress
  expect(addressOf(t.logIn('ada@example.com').user.id)).toBe(member)
  expect(addressOf(t.logInAsAdmin().user.id)).toBe(admin)
  expect(addressOf('of someone deleted')).toBe(member)
})

test.each([{ DAVIT_HOST: apart }, { DAVIT_URL: `http://${apart}:3000` }])(
  'the panel itself does not go there: %p',
  (env) => expect(() => parseConfig(env as Record<string, string>)).toThrow(ConfigError),
)

test('a member’s app stays on this machine where the panel is plain HTTP, and says why', async () => {
  const { t, ada } = withAda(testApp({ ...beyond, ...to('0.0.0.0') }))
  const project = await aProject(t, ada, anApp('hers'))
  const first = await project.deploy()
  expect(first.url).toBe(`http://${apart}:${project.hostPort}`)
  expect(await answerOf(first)).toBe('hers')
  expect((await t.docker.inspectContainer(first.containerId))!.ports).toMatchObject([
    { address: apart, host: project.hostPort },
  ])
  expect((await logOf(ada, first)).join('\n')).toMatch(
    /Published on 127\.0\.0\.2.*HTTPS.*DAVIT_URL/,
  )
  expect((await ada.page(`/projects/${project.id}`)).text).toContain('Published on 127.0.0.2')

  // an admin is trusted with the panel's host, from the next deployment on
  t.db.update(users).set({ role: 'admin' }).where(eq(users.id, ada.user.id)).run()
  const { url } = (await ada.get(`/projects/${project.id}/envs/${project.environmentId}`)).json
  expect(url).toBe(first.url)
  const second = await project.deploy({ commit: project.repository.head })
  expect((await t.docker.inspectContainer(second.containerId))!.ports).toContainEqual(
    expect.objectContaining({ address: '0.0.0.0', host: project.hostPort }),
  )
  expect((await ada.page(`/projects/${project.id}`)).text).not.toContain('Published on')
})

test('the doctor names containers that are where they no longer would be', async () => {
  const t = testApp(to('127.0.0.1'))
  const root = t.logInAsAdmin()
  const project = await aProject(t, root, anApp('old'))
  const { containerId } = await project.deploy()
  const { name } = (await t.docker.inspectContainer(containerId))!
  const find = async (env: Record<string, string>) => {
    const DAVIT_DATA_DIR = mkdtempSync(`${t.dataDir}/copy-`)
    await Bun.write(`${DAVIT_DATA_DIR}/davit.db`, t.db.$client.serialize())
    return checkPublishing(parseConfig({ DAVIT_DATA_DIR, ...env }), t.docker)
  }

  expect(await find({})).toEqual([
    { what: 'apps', is: `apps are published on ${apart}`, todo: null },
    {
      what: 'apps',
      is: `still published on an old address: ${name} on 127.0.0.1`,
      todo: 'Deploy these apps again, and restart these services.',
    },
  ])
  expect(await find(to('127.0.0.1'))).toMatchObject([{ todo: expect.stringContaining('https://') }])
  t.db.$client.run("UPDATE users SET role = 'member'")
  expect(await find(to('127.0.0.1'))).toMatchObject([{}, { is: expect.stringContaining(name) }])
})

test('a browser gives an app none of the panel’s cookies, and the panel none of the app’s', async () => {
  const seen: string[] = []
  const app = Bun.serve({
    hostname: parseConfig({}).publishAddress,
    port: 0,
    fetch(request) {
      seen.push(request.headers.get('Cookie') ?? '')
      const headers = new Headers({ 'Content-Type': 'text/html' })
      for (const name of ['svc_session', 'svc_csrf', 'svc_next', 'svc_oauth', 'svc_visitor'])
        for (const path of ['/', '/settings', '/auth'])
          headers.append('Set-Cookie', `${name}=planted; Path=${path}`)
      return new Response('<h1>An app</h1>', { headers })
    },
  })
  const t = testApp()
  const { origin: url } = listening(t).url
  const { page } = await openPage(url)
  const value = aSession(t, t.logIn('ada@example.com').user.id)
  await page.context().addCookies([{ name: 'svc_session', value, url }])
  await page.goto('/settings/profile')
  await page.goto(app.url.href)
  await page.getByText('An app').waitFor()
  expect(seen[0]).toBe('')
  expect(seen.join()).not.toContain(value)
  const back = await page.goto(`${url}/settings/profile`)
  expect(back!.request().headers()['cookie'] ?? '').not.toContain('planted')
  expect(await page.inputValue('#field-email')).toBe('ada@example.com')
  await app.stop(true)
})
