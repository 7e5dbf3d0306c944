import { attempt } from '../../notifications/senders/request.ts'
import type { SendDeps } from '../../notifications/senders/sender.ts'
import { loki } from './loki.ts'
import { otlp } from './otlp.ts'
import { postTrace } from './otlp-traces.ts'
import type { SentTrace } from './otlp-traces.ts'
import { s3 } from './s3.ts'
import { headersOf } from './sender.ts'
import type { Batch, DrainSender } from './sender.ts'
import { syslog } from './syslog.ts'

export const senders = { syslog, loki, otlp, s3 }

export const sealed = ['password', 'headers', 'secretKey']

/** Milliseconds for an attempt. */
const usualDeadline = 30_000

type Settings = { kind: keyof typeof senders; [field: string]: unknown }

export async function sendLines(
  deps: SendDeps,
  { kind, ...settings }: Settings,
  batch: Batch,
  { deadline = usualDeadline } = {},
) {
  const sender = senders[kind] as DrainSender
  const send = (limited: SendDeps) => sender.send(limited, settings as never, batch)
  return sendOnce(deps, { settings, deadline }, send)
}

/** Only of a kind that takes them. */
export const sendSpans = (
  deps: SendDeps,
  settings: Settings,
  trace: SentTrace,
  { deadline = usualDeadline } = {},
) =>
  sendOnce(deps, { settings, deadline }, (limited) => postTrace(limited, settings as never, trace))

function sendOnce(
  deps: SendDeps,
  { settings, deadline }: { settings: Record<string, unknown>; deadline: number },
  send: (deps: SendDeps) => ReturnType<DrainSender['send']>,
) {
  const hint =
    'Davit tries again. If it keeps failing, check the receiver. One of syslog must close the connection after the last line.'
  const how = { deadline, secrets: secretsIn(settings), who: 'The receiver', hint }
  return attempt(deps, how, async (limited, masked) => {
    const { rejected, reason } = (await send(limited)) ?? { rejected: 0, reason: '' }
    return { rejected, reason: masked(reason) }
  })
}

/** Longer ones first: others may be part of them. */
function secretsIn(settings: Record<string, unknown>) {
  const { Authorization = '', ...others } = headersOf(settings)
  const { password, secretKey } = settings
  const login = Authorization.replace(/^\w+ /, '')
  return [password, secretKey, login, ...Object.values(others)]
    .map((secret) => String(secret ?? '').trim())
    .filter((secret) => secret.length > 3)
    .sort((one, other) => other.length - one.length)
}
