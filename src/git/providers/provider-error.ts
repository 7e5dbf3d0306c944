import { AppError } from '../../platform/errors.ts'
import type { ErrorCode } from '../../platform/errors.ts'

/** Why a provider gave no usable response. */
type Reason =
  /** The token is unknown, revoked or expired. */
  | 'token'
  /** The token is fine, but may not do this. */
  | 'rights'
  /** It doesn't exist, or the token may not see it. */
  | 'missing'
  /** Too many requests, until some time. */
  | 'limit'
  /** Davit may not connect to the host, or it has no address. */
  | 'host'
  /** The server isn't such a provider. */
  | 'stranger'
  /** It can't be reached, is too slow, or has an internal error. */
  | 'down'

const codes: Partial<Record<Reason, ErrorCode>> = { missing: 'not_found', limit: 'too_many' }

/** A provider's failure, with a message for users. */
export class ProviderError extends AppError {
  /** Scopes that would have been enough, by the provider's names, if it reported them. */
  readonly needed: string[]
  /** The status of the provider's response; null when there was none. */
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

/** Whether the token lacks access, rather than the provider failing. */
export const isDenied = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.reason === 'rights' || error.reason === 'missing')

export const unlessGone = (error: unknown) => {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}
