import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { deliver } from '../../src/notifications/senders/index.ts'
import type { Message } from '../../src/notifications/senders/sender.ts'
import { failureOf, message } from './fake-service.ts'
import { mailSettings, refuse, smtpHost } from './smtp-host.ts'
import { loopback } from '../support/tls.ts'

const send = (
  settings: object,
  {
    ca = loopback.cert,
    allowHosts = ['127.0.0.1'],
    signal = new AbortController().signal,
    ...more
  }: {
    ca?: string | null
    allowHosts?: string[]
    signal?: AbortSignal
    message?: Message
  } = {},
) =>
  deliver(
    { signal, allowHosts, ...(ca && { ca }) },
    { kind: 'email', settings, message: more.message ?? message() },
  )

describe('a mail', () => {
  test('reaches each recipient by STARTTLS, with what to do and the link, as text and HTML', async () => {
    const { port, mails } = await smtpHost()
    const { status } = await send(mailSettings(port))
    expect(status).toContain('queued as 1A')
    expect(mails).toMatchObject([
      { from: 'davit@example.com', to: ['ada@example.com', 'bob@example.com'], isEncrypted: true },
    ])
    const { raw } = mails[0]!
    expect(raw).toMatch(/^Message-ID: <0199-event@example\.com>$/m)
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(raw).toMatch(/^Date: Thu, 26 Nov 2026 21:00:00/m)
    expect(raw).toMatch(/^Content-Type: text\/plain/m)
    expect(raw).toMatch(/^Content-Type: text\/html/m)
    expect(raw.match(/davit\.example\.com\/projects\/1/g)!.length).toBeGreaterThanOrEqual(2)
    // they don't see each other
    expect(raw).not.toContain('ada@example.com')
  })

  test('is sent by TLS, and with a login', async () => {
    const { port, mails } = await smtpHost({ secure: true, authOptional: false })
    const login = { username: 'davit', password: 'pass word' }
    await send({ ...mailSettings(port), ...login, security: 'tls' })
    expect(mails).toMatchObject([{ isEncrypted: true, user: 'davit' }])
  })

  test('is sent without encryption to a host that is allowed, and to no other', async () => {
    const { port, mails } = await smtpHost({ disabledCommands: ['STARTTLS'] })
    const settings = { ...mailSettings(port), security: 'none' }
    await send(settings)
    expect(mails).toMatchObject([{ isEncrypted: false }])
    const failure = await failureOf(send({ ...settings, host: '192.0.2.1' }))
    expect(failure).toMatchObject({ code: 'unencrypted', retry: false })
    const refused = await failureOf(send(mailSettings(port), { allowHosts: [] }))
    expect(refused).toMatchObject({ code: 'host_refused', retry: false })
  })

  test('with a hostile text stays one mail with these headers', async () => {
    const { port, mails } = await smtpHost()
    const hostile = {
      title: 'x\r\nBcc: eve@example.com\r\n\r\n.\r\nRCPT TO:<eve@example.com>\u202e',
      text:
        '<img src=x onerror=alert(1)>\r\n.\r\nMAIL FROM:<eve@example.com>\n' + 'y'.repeat(100_000),
      todo: '</body><script>alert(1)</script>',
    }
    await send(mailSettings(port), { message: message(hostile) })
    expect(mails).toHaveLength(1)
    const { raw, to } = mails[0]!
    expect(to).toEqual(['ada@example.com', 'bob@example.com'])
    const head = raw.slice(0, raw.indexOf('\r\n\r\n'))
    expect(head).not.toMatch(/^(Bcc|RCPT)/m)
    expect(raw.slice(raw.indexOf('text/html')).includes('<img')).toBe(false)
    expect(raw).toMatch(/&lt;script/)
    expect(raw.length).toBeLessThan(200_000)
  })
})

describe('a server', () => {
  test('that refuses one recipient: the other has it, and the answer says so', async () => {
    const { port, mails } = await smtpHost({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('bob') ? refuse(550, 'No such user here') : null),
    })
    const { status } = await send(mailSettings(port))
    expect(status).toMatch(/refused for bob@example\.com: 550 .*No such user/)
    expect(mails.map(({ to }) => to)).toEqual([['ada@example.com']])
  })

  test('that greylists one recipient: only that one is left for the next attempt', async () => {
    let tries = 0
    const { port, mails } = await smtpHost({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('bob') && tries++ === 0 ? refuse(451, 'Greylisted') : null),
    })
    const failure = await failureOf(send(mailSettings(port)))
    expect(failure).toMatchObject({ code: 'postponed', retry: true, left: ['bob@example.com'] })
    await send(mailSettings(port), { message: message({ only: failure.left! }) })
    expect(mails.map(({ to }) => to)).toEqual([['ada@example.com'], ['bob@example.com']])
  })

  test('that greylists one and refuses another: each attempt and the last answer say whom it refused', async () => {
    let tries = 0
    const { port, mails } = await smtpHost({
      onRcptTo: ({ address }, _, done) => {
        if (address.startsWith('cleo')) return done(refuse(550, 'No such user here'))
        done(address.startsWith('bob') && tries++ < 2 ? refuse(451, 'Greylisted') : null)
      },
    })
    const [ada, bob, cleo] = ['ada@example.com', 'bob@example.com', 'cleo@example.com']
    const settings = { ...mailSettings(port), to: [ada, bob, cleo] }
    const first = await failureOf(send(settings))
    expect(first).toMatchObject({ code: 'postponed', retry: true, left: [bob, cleo] })
    const again = { message: message({ only: first.left! }) }
    const second = await failureOf(send(settings, again))
    expect(second).toMatchObject({ code: 'postponed', retry: true, left: undefined })
    const { status } = await send(settings, again)
    for (const said of [first.message, second.message, status])
      expect(said).toContain(`${cleo}: 550`)
    expect(mails.map(({ to }) => to)).toEqual([[ada], [bob]])
  })

  test('that greylists all: the mail may be tried again; refused for good: not', async () => {
    const trial = async (code: number) => {
      const { port } = await smtpHost({ onRcptTo: (_, __, done) => done(refuse(code, 'No')) })
      return failureOf(send(mailSettings(port)))
    }
    expect(await trial(451)).toMatchObject({ code: 'postponed', retry: true, left: undefined })
    expect(await trial(550)).toMatchObject({ code: 'refused', retry: false })
  })

  test('that refuses the text or the sender says why', async () => {
    const spam = await smtpHost({
      onData(stream, _, done) {
        stream.resume()
        stream.on('end', () => done(refuse(554, 'Looks like spam')))
      },
    })
    const failure = await failureOf(send(mailSettings(spam.port)))
    expect(failure).toMatchObject({ code: 'refused', retry: false })
    expect(failure.message).toContain('Looks like spam')
    const sender = await smtpHost({ onMailFrom: (_, __, done) => done(refuse(553, 'Not yours')) })
    expect((await failureOf(send(mailSettings(sender.port)))).message).toContain('Not yours')
  })

  test('that refuses the login isn’t tried again, and the password isn’t repeated', async () => {
    const { port } = await smtpHost({
      onAuth: ({ password }, _, done) => done(refuse(535, `No login with ${password}`)),
    })
    const login = { username: 'davit', password: 'hunter2' }
    const failure = await failureOf(send({ ...mailSettings(port), ...login }))
    expect(failure).toMatchObject({ code: 'refused', retry: false })
    expect(failure.message).not.toContain('hunter2')
  })

  test('with an unknown certificate is refused, unless any is accepted', async () => {
    const { port, mails } = await smtpHost()
    const failure = await failureOf(send(mailSettings(port), { ca: null }))
    expect(failure).toMatchObject({ code: 'certificate_refused', retry: false })
    expect(mails).toEqual([])
    await send({ ...mailSettings(port), trust: 'any' }, { ca: null })
    expect(mails).toHaveLength(1)
  })

  test('with the certificate of another name is refused, by both kinds of encryption', async () => {
    const lookup = async () => ['127.0.0.1']
    for (const secure of [false, true]) {
      const { port, mails } = await smtpHost({ secure })
      const security = secure ? 'tls' : 'starttls'
      const settings = { ...mailSettings(port), host: 'mail.example.com', security }
      const signal = new AbortController().signal
      const failure = await failureOf(
        deliver(
          { signal, allowHosts: ['mail.example.com'], lookup, ca: loopback.cert },
          { kind: 'email', settings, message: message() },
        ),
      )
      expect(failure).toMatchObject({ code: 'certificate_refused', retry: false })
      expect(mails).toEqual([])
    }
  })

  test('without STARTTLS gets neither mail nor password', async () => {
    const { port, mails } = await smtpHost({ disabledCommands: ['STARTTLS'] })
    const login = { username: 'davit', password: 'pass word' }
    const failure = await failureOf(send({ ...mailSettings(port), ...login }))
    expect(failure).toMatchObject({ code: 'no_tls', retry: false })
    expect(mails).toEqual([])
  })

  test('that hangs, or closes at once, may be tried again; an aborted attempt ends at once', async () => {
    const hanging = await listen(() => {})
    const stop = new AbortController()
    const sending = send(mailSettings(hanging.port), { signal: stop.signal })
    await hanging.connected
    stop.abort(new Error('stopped'))
    await expect(sending).rejects.toThrow('stopped')

    const closing = await listen((socket) => socket.destroy())
    const failure = await failureOf(send(mailSettings(closing.port)))
    expect(failure).toMatchObject({ code: 'host_unreachable', retry: true })
    const away = await failureOf(send(mailSettings(1)))
    expect(away).toMatchObject({ code: 'host_unreachable', retry: true })
  })
})

async function listen(connected: (socket: { destroy(): void }) => void) {
  const server = createServer(connected)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, connected: once(server, 'connection') }
}
