import { isAdmin } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Certificate } from './certificate-store.ts'
import { day, hour } from './certificate-times.ts'

/**
 * The authority counts all requests of a server as those of one account: Let's Encrypt allows it 300 in three
 * hours, and 50 certificates a week below one registered domain. So each member has a share of both, and
 * can't use up what others need. Kept in memory: members can't restart Davit.
 */
export class CertificateBudget {
  readonly #db: Db
  #requests: { ownerId: string; host: string; at: number }[] = []
  readonly #shares: { most: number; ms: number; of: (host: string) => boolean }[]

  constructor({ db, config: { domain } }: { db: Db; config: Pick<Config, 'domain'> }) {
    this.#db = db
    this.#shares = [
      { most: 100, ms: 3 * hour, of: () => true },
      { most: 25, ms: 7 * day, of: (host) => domain !== null && host.endsWith(`.${domain}`) },
    ]
  }

  /** Null when its owner may request the host’s certificate now, which then counts; else how it waits. */
  take(ownerId: string | null, host: string, now = Date.now()): Partial<Certificate> | null {
    if (ownerId === null || isAdmin(this.#db, ownerId)) return null
    this.#requests = this.#requests.filter(({ at }) => at > now - 7 * day && at <= now)
    const own = this.#requests.filter((request) => request.ownerId === ownerId)
    const waits = this.#shares.flatMap(({ most, ms, of }) => {
      const counted = own.filter((request) => of(request.host) && request.at > now - ms)
      return of(host) && counted.length >= most ? [counted.at(-most)!.at + ms] : []
    })
    if (waits.length > 0)
      return { ...overBudget, status: 'waiting', nextTryAt: new Date(Math.max(...waits)) }
    this.#requests.push({ ownerId, host, at: now })
    return null
  }
}

const overBudget = {
  errorMessage: 'You have requested as many certificates as one user may for now.',
  errorHint: 'This one is requested as soon as possible. Remove names that you don’t need.',
}
