import { AppError } from '../platform/errors.ts'
import { networkOf } from './client-address.ts'
import { factory } from './factory.ts'

type Bucket = { tokens: number; filledAt: number }

/** A token bucket per client: `rate` requests a second, `burst` at once; further requests get 429. */
export function rateLimit({ rate, burst }: { rate: number; burst: number }) {
  /** Least recently used first. */
  const buckets = new Map<string, Bucket>()

  return factory.createMiddleware(async function limitRate(c, next) {
    const tokens = take(networkOf(c.var.address), performance.now())
    if (tokens < 0)
      throw new AppError('too_many', 'Too many requests. Wait a moment, then try again.', {
        retryAfter: -tokens / rate,
      })
    await next()
  })

  /** Returns the tokens left after taking one. If negative, none was taken, and so many are missing. */
  function take(client: string, now: number) {
    forgetFull(now)
    const { tokens, filledAt } = buckets.get(client) ?? { tokens: burst, filledAt: now }
    const filled = Math.min(burst, tokens + ((now - filledAt) / 1000) * rate)
    const left = filled - 1
    buckets.delete(client)
    buckets.set(client, { tokens: left < 0 ? filled : left, filledAt: now })
    return left
  }

  /** A bucket unused for the time it takes to fill equals a new one. */
  function forgetFull(now: number) {
    for (const [client, { filledAt }] of buckets) {
      if (now - filledAt < (burst / rate) * 1000) return
      buckets.delete(client)
    }
  }
}
