import { discord } from './discord.ts'
import { email } from './email.ts'
import { gotify } from './gotify.ts'
import { matrix } from './matrix.ts'
import { ntfy } from './ntfy.ts'
import { pushover } from './pushover.ts'
import { asSendFailure } from './request.ts'
import { SendFailure } from './sender.ts'
import type { Message, SendDeps, Sender } from './sender.ts'
import { slack } from './slack.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

export const senders = {
  ...{ email, webhook, slack, discord, telegram },
  ...{ ntfy, gotify, matrix, pushover },
} satisfies Record<string, Sender>

export type SenderKind = keyof typeof senders

/** Of all kinds; one has only its own fields. */
export const sealed = ['webhookUrl', 'secret', 'token', 'userKey', 'password'] as const

/** Those that say where the sealed ones are sent. */
export const sentTo = ['url', 'host', 'port', 'security', 'trust']

/** Milliseconds for an attempt. */
const deadline = 30_000

/** Sends a message once. Every failure but the signal's is a SendFailure, and no text has a secret. */
export async function deliver(
  deps: SendDeps,
  { kind, settings, message }: { kind: SenderKind; settings: object; message: Message },
) {
  const sender: Sender = senders[kind]
  const timer = AbortSignal.timeout(deadline)
  const signal = AbortSignal.any([deps.signal, timer])
  const hide = hider(settings as Record<string, unknown>)
  try {
    const { status } = await sender.send({ ...deps, signal }, settings as never, message)
    return { status: hide(status) }
  } catch (error) {
    if (deps.signal.aborted) throw deps.signal.reason
    if (timer.aborted) throw tooLate(sender.label)
    const failure = asSendFailure(error)
    if (!(failure instanceof SendFailure)) throw failure
    const { code, hint, retry, retryAfter, left } = failure
    throw new SendFailure(code, hide(failure.message), hint, {
      ...{ retry, retryAfter, ...(left && { left }) },
    })
  }
}

/** A service may repeat what it was sent. */
function hider(settings: Record<string, unknown>) {
  const secrets = sealed
    .map((name) => settings[name])
    .filter((value): value is string => typeof value === 'string' && value !== '')
  return (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '•••'), text)
}

const tooLate = (label: string) =>
  new SendFailure(
    'host_timeout',
    `${label} didn’t accept the message within ${deadline / 1000} seconds.`,
    'Davit tries again. If it keeps failing, check the server.',
    { retry: true },
  )
