import { makeToken } from '../../src/accounts/token-store.ts'
import { asToken } from '../accounts/visitor.ts'
import type { TestApp } from './app.ts'
import type { TestClient } from './client.ts'

/** Sends JSON with a token of that user, and returns the status. */
export function senderOf(
  t: Pick<TestApp, 'app' | 'db'>,
  { user }: TestClient,
  scope: 'deploy' | 'write',
) {
  const of = { userId: user.id, name: 'ci', scopes: [scope], expiresInDays: null }
  const call = asToken(t.app, makeToken(t.db, of).token)
  return async (path: string, body: unknown) => {
    const headers = { 'Content-Type': 'application/json' }
    return (await call('POST', path, { headers, body: JSON.stringify(body) })).status
  }
}
