import { asSendFailure } from '../../notifications/senders/request.ts'
import { SendFailure } from '../../notifications/senders/sender.ts'
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
  return attempt(deps, { settings, deadline }, send)
}

/** Only of a kind that takes them. */
export const sendSpans = (
  deps: SendDeps,
  settings: Settings,
  trace: SentTrace,
  { deadline = usualDeadline } = {},
) =>
  attempt(deps, { settings, deadline }, (limited) => postTrace(limited, settings as never, trace))

/** Sends once. Every failure but the signal's is a SendFailure, and no text has a secret. */
async function attempt(
  deps: SendDeps,
  { settings, deadline }: { settings: Record<string, unknown>; deadline: number },
  send: (deps: SendDeps) => ReturnType<DrainSender['send']>,
) {
  const timer = AbortSignal.timeout(deadline)
  const signal = AbortSignal.any([deps.signal, timer])
  const masked = (text: string) =>
    secretsIn(settings).reduce((rest, secret) => rest.replaceAll(secret, '•••'), text)
  try {
    const { rejected, reason } = (await send({ ...deps, signal })) ?? { rejected: 0, reason: '' }
    return { rejected, reason: masked(reason) }
  } catch (error) {
    if (deps.signal.aborted) throw deps.signal.reason
    if (timer.aborted) throw tooLate(deadline)
    const failure = asSendFailure(error)
    if (!(failure instanceof SendFailure)) throw failure
    const { code, message, hint, retry, retryAfter } = failure
    throw new SendFailure(code, masked(message), hint, { retry, retryAfter })
  }
}

/** A receiver may repeat what it was sent. Longer ones first: others may be part of them. */
function secretsIn(settings: Record<string, unknown>) {
  const { Authorization = '', ...others } = headersOf(settings)
  const { password, secretKey } = settings
  const login = Authorization.replace(/^\w+ /, '')
  return [password, secretKey, login, ...Object.values(others)]
    .map((secret) => String(secret ?? '').trim())
    .filter((secret) => secret.length > 3)
    .sort((one, other) => other.length - one.length)
}

const tooLate = (deadline: number) =>
  new SendFailure(
    'host_timeout',
    `The receiver didn’t accept it within ${Math.round(deadline / 1000)} seconds.`,
    'Davit tries again. If it keeps failing, check the receiver. One of syslog must close the connection after the last line.',
    { retry: true },
  )
