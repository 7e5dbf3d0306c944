import type { z, ZodObject, ZodRawShape } from 'zod'
import type { Config } from '../../config.ts'
import type { eventLevels } from '../../db/schema.ts'
import { Failure } from '../../platform/errors.ts'
import type { Lookup } from '../../platform/hosts.ts'
import type { pinnedFetch } from '../../platform/pinned-fetch.ts'

export type Level = (typeof eventLevels)[number]

export type Message = {
  /** The same at each attempt, so that receivers can recognise one they already have. */
  id: string
  kind: string
  level: Level
  title: string
  text: string
  /** What the reader can do about it. */
  todo: string | null
  url: string
  button?: string
  at: Date
  /** Of an e-mail: the recipients who don't have it yet. */
  only?: string[]
}

export type SendDeps = {
  signal: AbortSignal
  /** Private hosts that are allowed: the setting DAVIT_ALLOW_HOSTS. */
  allowHosts: string[]
  lookup?: Lookup | undefined
  /** Certificates to trust, and another way to fetch, in tests. */
  ca?: string | undefined
  fetch?: typeof pinnedFetch
}

export type Sender<Fields extends ZodRawShape = ZodRawShape> = {
  label: string
  /** Those of its own in a channel's form. A name means the same in all senders. */
  fields: (config: Pick<Config, 'allowHosts'>) => Fields
  /** Gets the values of the fields, with opened secrets. Returns what the service responded. */
  send(
    deps: SendDeps,
    settings: z.output<ZodObject<Fields>>,
    message: Message,
  ): Promise<{ status: string }>
}

export const senderOf = <Fields extends ZodRawShape>(sender: Sender<Fields>) => sender

export class SendFailure extends Failure {
  /** False when the same attempt would fail again. */
  readonly retry: boolean
  /** In seconds, when the service said so. */
  readonly retryAfter: number | undefined
  /** Of an e-mail: the recipients to try again, when others have it already. */
  readonly left: string[] | undefined

  constructor(
    code: string,
    message: string,
    hint: string,
    {
      retry,
      retryAfter,
      left,
      ...options
    }: ErrorOptions & {
      retry: boolean
      retryAfter?: number | undefined
      left?: string[] | undefined
    },
  ) {
    super(code, message, hint, options)
    this.retry = retry
    this.retryAfter = retryAfter
    this.left = left
  }
}

/** The error of a test, which isn't tried again by itself. */
export const asTested = (error: unknown) =>
  error instanceof SendFailure && error.retry
    ? new SendFailure(
        error.code,
        error.message,
        'Send a test again. If it keeps failing, check the settings and the receiver.',
        { retry: false, cause: error },
      )
    : error
