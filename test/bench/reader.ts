import { DavitClient } from '../demo/client.ts'

/** Makes the first account, and a token that reads; returns the header that shows it. */
export async function logInToBench(url: string) {
  const client = new DavitClient({ url, signal: AbortSignal.timeout(30_000) })
  const password = Bun.randomUUIDv7()
  await client.enter('/auth/register', { email: 'bench@example.com', password })
  const made = { name: 'bench', scopes: ['read'], currentPassword: password }
  const { token } = await client.post<{ token: string }>('/settings/tokens', made)
  return `Authorization: Bearer ${token}`
}
