import { AppError } from '../errors.ts'
import { factory } from './factory.ts'

type Bucket = { tokens: number; filledAt: number }

/** Buckets kept before the full ones are forgotten: a bound on memory, not on clients. */
const maxBuckets = 20_000

/** A token bucket per client address: `rate` requests a second, `burst` at once; one more is answered 429. */
export function rateLimit({ rate, burst }: { rate: number; burst: number }) {
  const buckets = new Map<string, Bucket>()

  return factory.createMiddleware(async function limit(c, next) {
    const now = performance.now()
    const bucket = buckets.get(c.var.address) ?? { tokens: burst, filledAt: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1000) * rate)
    bucket.filledAt = now
    buckets.set(c.var.address, bucket)
    if (buckets.size > maxBuckets) forgetFull(now)
    if (bucket.tokens < 1)
      throw new AppError('too_many', 'Too many requests. Wait a moment, then try again.', {
        retryAfter: Math.ceil((1 - bucket.tokens) / rate),
      })
    bucket.tokens -= 1
    await next()
  })

  function forgetFull(now: number) {
    for (const [address, { tokens, filledAt }] of buckets)
      if (tokens + ((now - filledAt) / 1000) * rate >= burst) buckets.delete(address)
  }
}
