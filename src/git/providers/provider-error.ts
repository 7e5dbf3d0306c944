import { AppError } from '../../platform/errors.ts'
import type { ErrorCode } from '../../platform/errors.ts'

type Reason =
  /** The token is unknown, revoked or expired. */
  | 'token'
  /** The token is fine, but may not do this. */
  | 'rights'
  /** It doesn't exist, or the token may not see it. */
  | 'missing'
  /** Too many requests in a short time. */
  | 'limit'
  /** Davit may not connect to the host, or it has no address. */
  | 'host'
  /** The server isn't such a provider, by its responses. */
  | 'stranger'
  /** It can't be reached, is too slow, or has an internal error. */
  | 'down'

const codes: Partial<Record<Reason, ErrorCode>> = { missing: 'not_found', limit: 'too_many' }

/** Its message is written for users. */
export class ProviderError extends AppError {
  /** The scopes that would have sufficed, by the provider's names, if it reported them. */
  readonly needed: string[]
  /** The HTTP status; null without a response. */
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

/** True when the token lacks access, and not when the provider fails. */
export const isDenied = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.reason === 'rights' || error.reason === 'missing')

export const unlessGone = (error: unknown) => {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}
