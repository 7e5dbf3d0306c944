import { onTestFinished } from 'bun:test'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'
import { loopback } from '../support/tls.ts'

export type Received = {
  from: string
  to: string[]
  raw: string
  isEncrypted: boolean
  user: unknown
}

/** An SMTP server on a port of its own, which keeps the mails that it accepts. */
export async function smtpHost(options: SMTPServerOptions = {}) {
  const mails: Received[] = []
  const server = new SMTPServer({
    ...loopback,
    authOptional: true,
    logger: false,
    onAuth({ username, password }, _, done) {
      if (username === 'davit' && password === 'pass word') return done(null, { user: username })
      done(Object.assign(new Error('Authentication failed'), { responseCode: 535 }))
    },
    onData(stream, { envelope, secure, user }, done) {
      const chunks: Uint8Array[] = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address)
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        mails.push({ from, to, raw: Buffer.concat(chunks).toString(), isEncrypted: secure, user })
        done(null, '2.0.0 queued as 1A')
      })
    },
    ...options,
  })
  server.on('error', () => {}) // of connections, which tests break
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())))
  return { port: (server.server.address() as AddressInfo).port, mails, server }
}

export const refuse = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode })

export const mailSettings = (port: number) => ({
  host: '127.0.0.1',
  port,
  security: 'starttls',
  trust: 'authorities',
  from: 'davit@example.com',
  to: ['ada@example.com', 'bob@example.com'],
})
