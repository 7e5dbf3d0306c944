import { describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { aFolder } from '../support/folder.ts'
import { loopback } from '../support/tls.ts'
import { tokenOf } from '../deployments/uploading.ts'
import { aLaptop, onTerminal, withServer } from './laptop.ts'

describe('login', () => {
  test('keeps tokens of several servers, which only their owner can read', async () => {
    const { t, ada, davit, address, loginsFile, project } = await withServer({ jobsWait: true })
    expect(statSync(loginsFile).mode & 0o777).toBe(0o600)
    expect((await davit(['open', '--json'])).stdout).toContain(`"page": "${address}/projects`)
    const second = address.replace('127.0.0.1', 'localhost')
    const token = tokenOf(t, ada.user.id)
    const { status, stdout } = await davit(['login', second, '--json'], { input: token })
    expect([status, JSON.parse(stdout).email]).toEqual([0, ada.user.email])
    expect(stdout).not.toContain(token)
    const unclear = await davit(['status'])
    expect([unclear.status, unclear.stderr]).toEqual([2, expect.stringContaining('--server')])
    expect((await davit(['status', '--server', second])).status).toBe(0)
    expect((await davit(['logout', second])).status).toBe(0)
    expect((await davit(['status', '--project', project.id])).status).toBe(0)
    expect((await davit(['logout'])).status).toBe(0)
    expect((await davit(['logout'])).status).toBe(1)
    expect((await davit(['status'])).status).toBe(3)
  })

  test('on a terminal waits until it is allowed in a browser, and refused there ends it', async () => {
    const { t, ada, start, address, loginsFile } = await withServer({ jobsWait: true })
    const answered = async (answer: 'allow' | 'refuse', env = {}) => {
      const terminal = onTerminal(start(['login', address], { env }))
      await terminal.shows(`${address}/settings/device?code=`)
      const code = /code=([A-Z2-7-]{19})/.exec(terminal.text)![1]!
      expect((await ada.page(`/settings/device?code=${code}`)).text).toContain(code)
      expect((await ada.post('/settings/device', { code, answer })).status).toBe(200)
      return { status: await terminal.child.exited, terminal }
    }
    await t.db.$client.run('DELETE FROM api_tokens')
    const { status, terminal } = await answered('allow')
    expect(status).toBe(0)
    await terminal.shows(loginsFile)
    const [token, ...others] = (await ada.get('/settings/tokens')).json.items
    expect(others).toEqual([])
    expect(token).toMatchObject({ scopes: ['write'], name: hostname() })
    expect(terminal.text).not.toContain('dvt_')
    const USER = `a${'😀'.repeat(30)}` // more than the name of a computer has, which ends within one
    expect((await answered('refuse', { USER })).status).toBe(3)
  })

  test('on a terminal asks for the token, and shows it to no one', async () => {
    const { start, address, token, loginsFile } = await withServer({ jobsWait: true })
    const terminal = onTerminal(start(['login', address, '--token']))
    await terminal.shows('Token (hidden): ')
    terminal.type(`${token}\r`)
    expect(await terminal.child.exited).toBe(0)
    await terminal.shows(loginsFile)
    expect(terminal.text).toContain(`${address}/settings/tokens/new`)
    expect(terminal.text).not.toContain(token)
  })

  test('is refused with what no server takes, and keeps nothing then', async () => {
    const { t, ada, token } = await withServer({ jobsWait: true })
    const { davit, loginsFile } = aLaptop()
    const { address } = await withServer({ jobsWait: true })
    for (const [input, status] of [
      [tokenOf(t, ada.user.id), 3],
      ['dvt_wrong', 3],
      ['', 2],
      ['password', 2],
    ] as const)
      expect((await davit(['login', address], { input })).status, input).toBe(status)
    for (const wrong of ['ftp://x', 'https://ada@x.test', `${address}/projects`, 'a b'])
      expect((await davit(['login', wrong], { input: token })).status, wrong).toBe(2)
    expect(existsSync(loginsFile)).toBe(false)
  })
})

describe('what answers that is no Davit is said:', () => {
  const says = async (address: string, env: Record<string, string> = {}) => {
    const { davit, loginsFile } = aLaptop()
    const { status, stderr } = await davit(['login', address], { input: 'dvt_x', env })
    expect(existsSync(loginsFile)).toBe(false)
    expect(stderr.split('\n').at(-2)).toStartWith('davit: ')
    return [status, stderr]
  }

  test('a page, other JSON, nothing, and another address', async () => {
    const bodies: Record<string, Response> = {}
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request): any => bodies[new URL(request.url).port]!.clone(),
    })
    onTestFinished(() => server.stop(true))
    const { origin, port } = server.url
    const html = { headers: { 'Content-Type': 'text/html' } }
    bodies[port] = new Response('<h1>Hello</h1>', html)
    expect(await says(origin)).toEqual([1, expect.stringContaining('text/html')])
    bodies[port] = new Response('<h1>Bad gateway</h1>', { ...html, status: 502 })
    expect(await says(origin)).toEqual([1, expect.stringContaining('502')])
    bodies[port] = Response.redirect('https://elsewhere.test/x', 301)
    expect(await says(origin)).toEqual([1, expect.stringContaining('https://elsewhere.test')])
    await server.stop(true)
    expect(await says(origin)).toEqual([1, expect.stringContaining('nothing listens there')])
    expect(await says('davit.invalid')).toEqual([1, expect.stringContaining('can’t be reached')])
  })

  test('a certificate that no one vouches for, until its authority is named', async () => {
    const { t } = await withServer({ jobsWait: true })
    const server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1', tls: loopback },
      fetch: (request) => t.app.fetch(request, {}),
    })
    onTestFinished(() => server.stop(true))
    const { origin } = server.url
    expect(await says(origin)).toEqual([1, expect.stringContaining('NODE_EXTRA_CA_CERTS')])
    const ca = `${aFolder()}/ca.pem`
    await Bun.write(ca, loopback.cert)
    expect((await says(origin, { NODE_EXTRA_CA_CERTS: ca }))[0]).toBe(3)
  })

  test('a token that was revoked, or lacks a scope, or is of someone else', async () => {
    const { t, ada, project, davit, address, kept } = await withServer({ jobsWait: true })
    const as = (token: string) => ({ env: { DAVIT_SERVER: address, DAVIT_TOKEN: token } })
    expect((await davit(['deploy'], as('dvt_revoked'))).status).toBe(3)
    const deploy = await davit(['deploy'], as(tokenOf(t, ada.user.id, 'deploy')))
    expect([deploy.status, deploy.stderr]).toEqual([1, expect.stringContaining('scope write')])
    const bob = as(tokenOf(t, t.logIn('bob@example.com').user.id))
    expect((await davit(['deploy', '--project', project.id], bob)).status).toBe(1)
    expect(kept()).toEqual([])
    expect((await davit(['deploy'], { env: { DAVIT_TOKEN: 'dvt_x' } })).status).toBe(2)
  })
})
