import type { Served } from './certificate-ask.ts'
import type { Certificate } from './certificate-store.ts'

const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Milliseconds until a name is checked again that points elsewhere, or has no HTTPS from Davit. */
export const waitingAgain = 2 * minute
export const otherAgain = 10 * minute

/** Milliseconds until a certificate is requested again, by the number of consecutive failures. */
const delays = [minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, day]

export const delayAfter = (failures: number) =>
  delays[Math.min(failures, delays.length) - 1] ?? minute

export const after = (milliseconds: number) => new Date(Date.now() + milliseconds)

/** Failures after which a user can't request it at once: Let's Encrypt allows five an hour. */
const manyFailures = 4
const backoffMs = 15 * minute

/** When a user's request may run. An authority's limit, or many failures, still count. */
export function earliest({ failures, status, nextTryAt }: Certificate, now: Date): Date | null {
  if (status !== 'failed' || nextTryAt === null || failures < 1) return null
  const isLimited = nextTryAt.getTime() - now.getTime() > delayAfter(failures)
  if (isLimited) return nextTryAt
  if (failures < manyFailures) return null
  return new Date(Math.min(nextTryAt.getTime(), now.getTime() + backoffMs))
}

/** An issued certificate is checked daily, and more often near its end. */
export const nextLook = ({ notAfter }: Pick<Served, 'notAfter'>) =>
  after(Math.min(Math.max(left(notAfter) / 10, 5 * second), day))

/** The remaining fraction of a lifetime at which it should have been renewed: Caddy renews at a third. */
const lateBelow = 0.25

export const isLate = ({ from, notAfter }: Pick<Served, 'from' | 'notAfter'>) =>
  left(notAfter) < (notAfter.getTime() - from.getTime()) * lateBelow

const left = (notAfter: Date) => notAfter.getTime() - Date.now()
