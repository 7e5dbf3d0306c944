type Email = { email: string; primary: boolean; verified: boolean }

/** A server that answers OAuth and profile calls as Gitea's documentation says, for one user. */
export function startOAuthProvider() {
  const provider = {
    url: '',
    user: {
      id: 7,
      login: 'grace',
      name: 'Grace',
      emails: [{ email: 'grace@example.com', primary: true, verified: true }] as Email[],
    },
    /** What token requests sent. */
    exchanges: [] as Record<string, string>[],
    mode: 'serve' as 'serve' | 'refused with 200' | 'html' | 'outage' | 'huge' | 'void token',
    /** Called before it says who the user is. */
    beforeProfile: async () => {},
    stop: () => void http.stop(true),
  }
  const http = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  provider.url = http.url.origin
  return provider

  async function answer(request: Request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/login/oauth/access_token') return exchange(await request.text())
    if (request.headers.get('Authorization') !== 'Bearer token-1')
      return Response.json({ message: 'token is required' }, { status: 401 })
    const { emails, ...user } = provider.user
    if (pathname === '/api/v1/user') {
      await provider.beforeProfile()
      return Response.json(user)
    }
    if (pathname === '/api/v1/user/emails') return Response.json(emails)
    return new Response('not found', { status: 404 })
  }

  function exchange(form: string) {
    provider.exchanges.push(Object.fromEntries(new URLSearchParams(form)))
    if (provider.mode === 'refused with 200')
      return Response.json({ error: 'bad_verification_code' })
    if (provider.mode === 'html') return new Response('<h1>Welcome</h1>')
    if (provider.mode === 'outage') return new Response('down', { status: 503 })
    if (provider.mode === 'huge') return new Response('x'.repeat(5_000_000))
    const token = provider.mode === 'void token' ? 'token-0' : 'token-1'
    return Response.json({ access_token: token, token_type: 'bearer' })
  }
}

/** What Davit is told to let people log in there, and register. */
export const oauthSettings = ({ url }: { url: string }) => ({
  DAVIT_URL: 'http://davit.test',
  DAVIT_REGISTRATION: 'open',
  DAVIT_OAUTH_PROVIDER: 'gitea',
  DAVIT_OAUTH_CLIENT_ID: 'davit',
  DAVIT_OAUTH_CLIENT_SECRET: 'hush',
  DAVIT_OAUTH_BASE_URL: url,
})
