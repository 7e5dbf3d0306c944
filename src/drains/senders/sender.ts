import type { z, ZodObject, ZodRawShape } from 'zod'
import type { Config } from '../../config.ts'
import { levelOf } from '../../logs/level.ts'
import type { Line } from '../../logs/log-line.tsx'
import { call } from '../../notifications/senders/request.ts'
import type { SendDeps } from '../../notifications/senders/sender.ts'
import { invalidField } from '../../platform/errors.ts'
import { block } from '../../web/fields.ts'
import { lineField } from '../../web/labelled-fields.ts'
import { field } from '../../web/schema-fields.tsx'
import { urlField } from '../../web/address-fields.ts'

/** Lines of an environment's log, at least one, as they may be shown. */
export type Batch = {
  drainId: string
  environment: { id: string; name: string }
  project: { name: string }
  lines: Line[]
}

/** One way to send lines. */
export type DrainSender<Fields extends ZodRawShape = ZodRawShape> = {
  label: string
  /** Those of its own in a drain's form. */
  fields: (config: Pick<Config, 'allowHosts'>) => Fields
  /** Lines, and characters, that are sent at once. */
  most: { lines: number; length: number }
  /** Milliseconds for which lines are collected, if there are fewer. */
  waitMs: number
  /**
   * Resolves when the receiver has the lines. A SendFailure `refused` without `retry` is about these lines; any
   * other may pass, or must be fixed by someone.
   */
  send(
    deps: SendDeps,
    settings: z.output<ZodObject<Fields>>,
    batch: Batch,
  ): Promise<{ rejected: number; reason: string } | void>
}

/** Infers the types of the fields. */
export const drainSender = <Fields extends ZodRawShape>(sender: DrainSender<Fields>) => sender

/** For an HTTP request. */
export const usual = { most: { lines: 1000, length: 512 * 1024 }, waitMs: 0 }

/** Nanoseconds since 1970. Lines of one millisecond keep their order, and a line has the same at each attempt. */
export const nanosecondsOf = ({ time, sequence }: Line) =>
  String(BigInt(time) * 1_000_000n + BigInt(sequence % 1_000_000))

/** What a program wrote has a level only if it says so; what Davit wrote is information. */
export function severityOf<Value>(
  { text, stream }: Line,
  by: Record<'error' | 'warn' | 'info' | 'debug', Value>,
) {
  const level = stream === 'system' ? 'info' : levelOf(text)
  return level && by[level]
}

/** Of a receiver with HTTP. */
export const httpFields = (config: Pick<Config, 'allowHosts'>, example: string, hint: string) => ({
  url: urlField('Address', config, { example, hint }),
  username: lineField('User', { max: 200, code: true }).nullish(),
  password: lineField('Password or token', {
    max: 4000,
    type: 'password',
    hint: 'Without a user it is sent as a Bearer token.',
  }).nullish(),
  headers: field(block('headers', { max: 8000 }).refine(areHeaders, headerRule).nullish(), {
    label: 'Other headers',
    isLong: true,
    secret: true,
    rows: 2,
    hint: 'One per line, such as X-Scope-OrgID: team. They are stored encrypted.',
  }),
})

const headerRule = 'must be one header per line, such as X-Scope-OrgID: team.'

/** Those that describe the request itself are Davit's. */
const own = /^(host|connection|transfer-encoding|upgrade|te|trailer|content-.*|authorization)$/i

const linesOf = (text: string) => text.split(/\r?\n/).filter((one) => one.trim() !== '')

function areHeaders(text: string) {
  return linesOf(text).every((one) => {
    const name = /^([\w-]{1,100}): ?[\x20-\x7e]{1,4000}$/.exec(one)?.[1]
    return name !== undefined && !own.test(name)
  })
}

type Login = {
  username?: string | null | undefined
  password?: string | null | undefined
  headers?: string | null | undefined
}

/** No header can have other characters, such as those that come along when a page is copied. */
export function refuseToken({ username, password }: Record<string, unknown>) {
  if (!username && password && !/^[\x20-\x7e]+$/.test(String(password)))
    throw invalidField('password', 'has characters that no token has. Copy it again.')
}

export function headersOf({ username, password, headers }: Login): Record<string, string> {
  const basic = Buffer.from(`${username}:${password ?? ''}`).toString('base64')
  const login = username ? `Basic ${basic}` : password ? `Bearer ${password}` : null
  const others = linesOf(headers ?? '').map((one) => one.split(/: ?(.*)/, 2))
  return { ...Object.fromEntries(others), ...(login && { Authorization: login }) }
}

/** POSTs JSON, at the address or at `path` below it. */
export const post = (
  deps: SendDeps,
  { url, ...login }: Login & { url: string },
  { path, ...request }: Omit<Parameters<typeof call>[1], 'url' | 'headers'> & { path: string },
) =>
  call(deps, {
    url: url.endsWith(path) ? url : url + path,
    headers: headersOf(login),
    ...{ hints, mayPass },
    ...request,
  })

/** What may be wrong, by status. */
export const hints = {
  400: 'It refuses these lines. Davit finds out which, leaves them out and sends the others.',
  413: 'Davit sends fewer lines at once.',
  422: 'It refuses these lines. Davit finds out which, leaves them out and sends the others.',
  401: 'Enter the user and password of the drain again.',
  403: 'Check that the login of the drain may write there.',
  404: 'Check the address of the drain.',
}

/** False for those that are about the lines. */
const mayPass = (status: number) => ![400, 413, 422].includes(status)
