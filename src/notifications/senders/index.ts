import { discord } from './discord.ts'
import { email } from './email.ts'
import { gotify } from './gotify.ts'
import { matrix } from './matrix.ts'
import { ntfy } from './ntfy.ts'
import { pushover } from './pushover.ts'
import { attempt } from './request.ts'
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

/** Sends a message once. */
export function deliver(
  deps: SendDeps,
  { kind, settings, message }: { kind: SenderKind; settings: object; message: Message },
) {
  const sender: Sender = senders[kind]
  const values = settings as Record<string, unknown>
  const secrets = sealed
    .map((name) => values[name])
    .filter((value): value is string => typeof value === 'string' && value !== '')
  const hint = 'Davit tries again. If it keeps failing, check the server.'
  const how = { deadline, secrets, who: sender.label, hint }
  return attempt(deps, how, async (limited, masked) => {
    const { status } = await sender.send(limited, settings as never, message)
    return { status: masked(status) }
  })
}
