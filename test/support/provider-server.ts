import { startGitServer } from './git-server.ts'
import { giteaShape } from './provider/gitea.ts'
import { githubShape } from './provider/github.ts'
import { gitlabShape } from './provider/gitlab.ts'
import type { Fake, FakeHook, FakeRepository, FakeToken, Shape } from './provider/shape.ts'

const shapes = { github: githubShape, gitlab: gitlabShape, gitea: giteaShape }

/** What the server does instead of answering as documented. */
type Mode =
  | 'answer'
  | 'hang'
  | 'html'
  | 'broken json'
  | 'other json'
  | 'huge'
  | 'down'
  | 'limit'
  | { redirect: string }
  /** Answers that many requests, and leaves the next ones waiting. */
  | { hangAfter: number }

export type ProviderServer = Fake & {
  kind: keyof typeof shapes
  baseUrl: string
  mode: Mode
  /** Every request so far, and with which token it came. */
  requests: { method: string; path: string; token: string | null }[]
  /** Adds repositories `ada/app1`, `ada/app2`, … */
  fill: (count: number) => void
  add: (repository: Partial<FakeRepository> & { fullName: string }) => FakeRepository
  stop: () => void
}

/**
 * A git host on loopback that answers as the documentation of the provider says. With a directory
 * of bare repositories it serves these over smart HTTP too, to those who send a known token.
 */
export function startProviderServer(
  kind: keyof typeof shapes,
  { repositories: dir }: { repositories?: string } = {},
): ProviderServer {
  const gitServer = dir ? startGitServer(dir) : null
  const http = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: (request) => answer(server, request, gitServer?.url ?? null),
  })
  const server: ProviderServer = {
    kind,
    baseUrl: `http://127.0.0.1:${http.port}`,
    mode: 'answer',
    requests: [],
    tokens: new Map(),
    repositories: [],
    perPage: 100,
    add(repository) {
      const full = { ...emptyRepository(), ...repository }
      server.repositories.push(full)
      return full
    },
    fill(count) {
      for (let i = 1; i <= count; i++) server.add({ fullName: `ada/app${i}` })
    },
    stop() {
      gitServer?.stop()
      http.stop(true)
    },
  }
  return server
}

const emptyRepository = () => ({
  defaultBranch: 'main',
  private: false,
  branches: [{ name: 'main', commit: 'a'.repeat(40) }],
  tags: [],
  hooks: [] as FakeHook[],
  statuses: [],
  checks: [],
})

async function answer(server: ProviderServer, request: Request, gitUrl: string | null) {
  const url = new URL(request.url)
  const shape = shapes[server.kind]
  const isGit = gitUrl !== null && !url.pathname.startsWith(shape.prefix)
  const token = isGit ? basicPassword(request) : shape.tokenOf(request)
  server.requests.push({ method: request.method, path: url.pathname + url.search, token })
  const fault = await misbehave(server, shape)
  if (fault) return fault
  const known = token === null ? undefined : server.tokens.get(token)
  if (isGit) return known ? forward(request, gitUrl) : askForPassword()
  if (!known) return shape.refuse('unauthorized')
  if (!url.pathname.startsWith(shape.prefix)) return new Response('<h1>404</h1>', { status: 404 })
  const path = url.pathname.slice(shape.prefix.length)
  const body = request.method === 'POST' ? await request.json() : null
  return shape.answer(server, { method: request.method, path, url, token: known, body })
}

async function misbehave(server: ProviderServer, shape: Shape): Promise<Response | null> {
  const { mode } = server
  if (mode === 'hang') return new Promise(() => {})
  if (mode === 'html') return new Response('<html>Log in at 10.0.0.7</html>')
  if (mode === 'broken json') return new Response('{"login": "ada"')
  if (mode === 'other json') return Response.json({ unexpected: 'hush-hush' })
  if (mode === 'huge') return new Response('['.repeat(20 * 1024 * 1024))
  if (mode === 'down') return new Response('PG::ConnectionBad 10.0.0.7', { status: 503 })
  if (mode === 'limit') return shape.refuse('limit')
  if (mode === 'answer') return null
  if ('redirect' in mode) return Response.redirect(mode.redirect)
  return server.requests.length > mode.hangAfter ? new Promise(() => {}) : null
}

const basicPassword = (request: Request) => {
  const [, encoded] = /^Basic (.+)$/.exec(request.headers.get('Authorization') ?? '') ?? []
  return encoded ? (atob(encoded).split(':')[1] ?? null) : null
}

const askForPassword = () =>
  new Response('', { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="git"' } })

async function forward(request: Request, gitUrl: string) {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.delete('Host')
  const body = request.method === 'POST' ? await request.arrayBuffer() : undefined
  return fetch(gitUrl + pathname.slice(1) + search, { method: request.method, headers, body })
}

export type { FakeRepository, FakeToken }
