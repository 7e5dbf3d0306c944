import { insertSession } from '../../src/accounts/store.ts'
import type { Deps } from '../../src/assemble.ts'
import { hashToken, randomToken } from '../../src/platform/secrets.ts'

/** A session of the user that lasts a day; answers what its cookie holds. */
export function aSession({ db }: Pick<Deps, 'db'>, userId: string) {
  const token = randomToken()
  const now = new Date()
  insertSession(db, {
    userId,
    tokenHash: hashToken(token),
    userAgent: 'test',
    address: '127.0.0.1',
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + 86_400_000),
  })
  return token
}
