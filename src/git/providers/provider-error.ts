import { AppError } from '../../platform/errors.ts'
import type { ErrorCode } from '../../platform/errors.ts'

/** Why a provider gave no answer to use. */
type Reason =
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

const codes: Partial<Record<Reason, ErrorCode>> = { missing: 'not_found', limit: 'too_many' }

/** A provider's refusal or silence, in words that a user may read. */
export class ProviderError extends AppError {
  /** Rights that would have been enough, by the provider's names, where it told them. */
  readonly needed: string[]
  /** The status of the provider's answer; null when there was none. */
  readonly status: number | null

  constructor(
    readonly reason: Reason,
    message: string,
    {
      needed = [],
      status = null,
      ...options
    }: ErrorOptions & { retryAfter?: number; needed?: string[]; status?: number | null } = {},
  ) {
    super(codes[reason] ?? 'bad_gateway', message, options)
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
