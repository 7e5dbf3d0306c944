import { onTestFinished } from 'bun:test'
import { z } from 'zod'
import { deliver, senders } from '../../src/notifications/senders/index.ts'
import type { SenderKind } from '../../src/notifications/senders/index.ts'
import { newSecret } from '../../src/notifications/senders/webhook.ts'
import { SendFailure } from '../../src/notifications/senders/sender.ts'
import type { Message } from '../../src/notifications/senders/sender.ts'
import { pinnedFetch } from '../../src/platform/pinned-fetch.ts'

export type Seen = { method: string; path: string; headers: Headers; text: string; body: any }

/** A server that keeps what it gets and responds as it is told. */
export function fakeService(respond: (seen: Seen) => Response | Promise<Response>) {
  const seen: Seen[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const text = await request.text()
      const body = text.startsWith('{') ? JSON.parse(text) : null
      const one = {
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        text,
        body,
      }
      seen.push(one)
      return respond(one)
    },
  })
  onTestFinished(() => server.stop(true))
  return { origin: server.url.origin, seen }
}

export const message = (more: Partial<Message> = {}): Message => ({
  id: '0199-event',
  kind: 'deployment_failed',
  level: 'failure',
  title: 'Deployment of shop failed',
  text: 'Build failed: the base image node:99 doesn’t exist.',
  todo: 'Check the FROM line of your Dockerfile.',
  url: 'https://davit.example.com/projects/1/deployments/2',
  at: new Date('2026-11-26T21:00:00Z'),
  ...more,
})

/** The settings of each kind, as a form stores them, at a server of this origin. */
export const settingsOf = (origin: string) => ({
  webhook: { url: `${origin}/hook?a=1`, secret: newSecret() },
  slack: { webhookUrl: `https://hooks.slack.com/services/T0/B0/secretpart` },
  discord: { webhookUrl: `https://discord.com/api/webhooks/1/secretpart` },
  telegram: { token: '123456:secretsecretsecretsecret', chat: '-100123' },
  ntfy: { url: `${origin}/sub`, topic: 'ops', token: 'tk_secret' },
  gotify: { url: origin, token: 'Asecret' },
  matrix: { url: origin, token: 'syt_secret', room: '!abc:example.org' },
  pushover: { token: 'a'.repeat(30), userKey: 'u'.repeat(30) },
})

export type HttpKind = keyof ReturnType<typeof settingsOf>
export const httpKinds = Object.keys(settingsOf('')) as HttpKind[]

/** Sends to that server whatever the host, as its own name server and certificate would. */
export function send(
  kind: SenderKind,
  {
    origin,
    settings,
    timeout = 5000,
    ...more
  }: {
    origin: string
    settings: object
    message?: Message
    timeout?: number
    allowHosts?: string[]
    signal?: AbortSignal
  },
) {
  const {
    message: sent = message(),
    allowHosts = ['127.0.0.1'],
    signal = new AbortController().signal,
  } = more
  const fetch: typeof pinnedFetch = (url, request, options) => {
    const { pathname, search } = new URL(url)
    return pinnedFetch(origin + pathname + search, request, { ...options, timeout })
  }
  return deliver({ signal, allowHosts, fetch }, { kind, settings, message: sent })
}

/** The failure of a message that isn't sent. */
export const failureOf = (sending: Promise<unknown>) =>
  sending.then(
    () => {
      throw new Error('It was sent.')
    },
    (error) => {
      if (error instanceof SendFailure) return error
      throw error
    },
  )

export const formOf = (kind: SenderKind, allowHosts: string[] = []) =>
  z.object(senders[kind].fields({ allowHosts }) as z.ZodRawShape)
