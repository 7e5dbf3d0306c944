import { expect, onTestFinished } from 'bun:test'
import { mailSettings, smtpHost } from '../notifications/smtp-host.ts'
import { simulatedApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { bob, Visitor } from './visitor.ts'

/** A Davit with an admin whose mails arrive; the outbox sends at once. */
export async function mailing(
  options: Parameters<typeof smtpHost>[0] = {},
  { hasChannel = true } = {},
) {
  const smtp = await smtpHost(options)
  const t = simulatedApp({
    DAVIT_REGISTRATION: 'invite',
    DAVIT_URL: 'https://davit.example.com',
  })
  const root = t.logInAsAdmin()
  const channel = {
    ...{ kind: 'email', name: 'mail', events: ['deployment_failed'], accountMail: true },
    ...{ ...mailSettings(smtp.port), trust: 'any', to: ['ops@example.com'] },
  }
  if (hasChannel) expect((await root.post('/settings/channels', channel)).status).toBe(201)
  const stop = new AbortController()
  const running = t.outbox.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
  })
  const link = async (nth = 1) => {
    await until(() => smtp.mails.length >= nth)
    const { raw, to } = smtp.mails[nth - 1]!
    const text = raw.replace(/=\r\n/g, '').replaceAll('=3D', '=')
    return { to, text, path: /https:\/\/davit\.example\.com(\/auth\/\S+?)[\s"]/.exec(text)![1]! }
  }
  return {
    t,
    root,
    smtp,
    link,
    channel,
    visitor: (address?: string) => new Visitor(t.app, address),
  }
}

export async function withBob(...options: Parameters<typeof mailing>) {
  const m = await mailing(...options)
  const { url } = (await m.root.post('/settings/invites')).json
  const own = m.visitor()
  const invite = new URL(url).searchParams.get('invite')!
  expect((await own.json('/auth/register', { ...bob, invite })).status).toBe(201)
  return { ...m, own }
}
