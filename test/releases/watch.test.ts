import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { events } from '../../src/db/schema.ts'
import { ReleaseWatch } from '../../src/releases/watch.ts'
import { testApp } from '../support/app.ts'

const signal = new AbortController().signal
const day = 24 * 3_600_000

let server: Bun.Server<unknown>
let asked = 0
let answer = (): Response => Response.json({ version: '99.1.0', files: {} })
const address = () => `http://127.0.0.1:${server.port}/release.json`

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    fetch() {
      asked++
      return answer()
    },
  })
})
afterAll(() => server.stop(true))
beforeEach(() => {
  asked = 0
  answer = () => Response.json({ version: '99.1.0', files: { 'linux-x64': 'davit-99.1.0' } })
})

describe('a newer version', () => {
  test('is looked for nowhere, unless the operator says where', async () => {
    const t = testApp()
    await t.releases.look({ signal })
    await t.releases.run(t.scheduler, { signal })
    expect(asked).toBe(0)
    expect((await t.logInAsAdmin().page('/dashboard')).text).not.toContain('is available')
  })

  test('is shown to admins, and to no one else', async () => {
    const t = testApp({ DAVIT_RELEASES: address() })
    await t.releases.look({ signal })
    expect((await t.logInAsAdmin().page('/dashboard')).text).toContain('99.1.0 is available')
    expect((await t.logIn('ada@example.com').page('/dashboard')).text).not.toContain('99.1.0')
  })

  test('is told to admins once', async () => {
    const t = testApp({ DAVIT_RELEASES: address() })
    const now = Date.now()
    await t.releases.look({ signal }, now)
    await t.releases.look({ signal }, now + day)
    const told = t.db.select().from(events).all()
    expect(told).toMatchObject([{ kind: 'davit_version', ownerId: null, href: '/docs/upgrade' }])
    expect(told[0]!.title).toContain('99.1.0')
  })

  test('is asked for once a day, also after a restart and when nothing responds', async () => {
    const t = testApp({ DAVIT_RELEASES: address() })
    const now = Date.now() - day
    answer = () => new Response('down', { status: 500 })
    await t.releases.look({ signal }, now).catch(() => {})
    await t.releases.look({ signal }, now + day - 1)
    expect(asked).toBe(1)
    answer = () => Response.json({ version: '99.1.0', files: {} })
    await t.releases.look({ signal }, now + day)
    expect(asked).toBe(2)
    const stop = new AbortController()
    const restarted = new ReleaseWatch(t.deps.config)
    const running = restarted.run(t.scheduler, { signal: stop.signal })
    expect(restarted.newer).toBe('99.1.0')
    stop.abort()
    await running
    expect(asked).toBe(2)
  })

  test('is none when it is the same, older, or before a release', async () => {
    const t = testApp({ DAVIT_RELEASES: address() })
    let now = Date.now()
    for (const version of ['0.1.0', '0.0.9', '0.1.0-rc.1']) {
      answer = () => Response.json({ version, files: {} })
      await t.releases.look({ signal }, (now += day))
      expect(t.releases.newer).toBe(null)
    }
  })

  test.each([
    ['no JSON', () => new Response('<html>')],
    ['markup for a version', () => Response.json({ version: '<b>9</b>', files: {} })],
    ['a version that is an object', () => Response.json({ version: {}, files: {} })],
    ['too much', () => new Response('x'.repeat(2_000_000))],
    ['a redirect to another protocol', () => Response.redirect('ftp://127.0.0.1/release.json')],
  ])('is none when the server sends %s', async (_, hostile) => {
    const t = testApp({ DAVIT_RELEASES: address() })
    answer = hostile
    await expect(t.releases.look({ signal })).rejects.toThrow()
    await t.releases.look({ signal })
    expect(t.releases.newer).toBe(null)
  })

  test('is asked for without HTTPS only on this machine and hosts that are allowed', async () => {
    const t = testApp({ DAVIT_RELEASES: 'http://releases.example.com/release.json' })
    await expect(t.releases.look({ signal })).rejects.toThrow('can’t be used')
  })
})
