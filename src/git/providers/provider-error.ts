import { AppError } from '../../platform/errors.ts'
import type { ErrorCode } from '../../platform/errors.ts'

/** Why a provider gave no answer to use. */
export type Reason =
  /** The token is unknown, revoked or expired. */
  | 'token'
  /** The token is fine, but may not do this. */
  | 'rights'
  /** There is no such thing, or the token may not see it. */
  | 'missing'
  /** Too many requests, until some time. */
  | 'limit'
  /** Davit may not connect to the host, or it has no address. */
  | 'host'
  /** What answers is not such a provider. */
  | 'stranger'
  /** It can't be reached, is too slow, or answers with a fault of its own. */
  | 'down'

const codes: Record<Reason, ErrorCode> = {
  token: 'bad_gateway',
  rights: 'bad_gateway',
  missing: 'not_found',
  limit: 'too_many',
  host: 'bad_gateway',
  stranger: 'bad_gateway',
  down: 'bad_gateway',
}

/** A provider's refusal or silence, in words that a user may read. */
export class ProviderError extends AppError {
  /** Rights that would have been enough, by the provider's names, where it told them. */
  readonly needed: string[]
  /** The status of the provider's answer; null when there was none. */
  readonly status: number | null

  constructor(
    readonly reason: Reason,
    message: string,
    options: ErrorOptions & {
      retryAfter?: number | undefined
      needed?: string[]
      status?: number
    } = {},
  ) {
    const { retryAfter, needed = [], status = null, ...rest } = options
    super(codes[reason], message, { ...rest, ...(retryAfter !== undefined && { retryAfter }) })
    this.needed = needed
    this.status = status
  }
}

/** Whether what was asked for is closed to the token, rather than out of order. */
export const isDenied = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.reason === 'rights' || error.reason === 'missing')

export const unlessGone = (error: unknown) => {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}
