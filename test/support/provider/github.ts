import {
  type Asked,
  type Fake,
  type FakeCheck,
  type FakeHook,
  linkHeader,
  newHook,
  pageOf,
  type Shape,
} from './shape.ts'

/** As docs.github.com/rest has it, under the prefix of GitHub Enterprise Server. */
export const githubShape: Shape = {
  prefix: '/api/v3',
  tokenOf: (request) =>
    /^Bearer (.+)$/.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null,
  refuse: (why) => refusals[why](),
  answer(fake, asked) {
    const response = route(fake, asked)
    if (!asked.token.fineGrained) {
      response.headers.set('X-OAuth-Scopes', asked.token.scopes.join(', '))
    }
    response.headers.set('X-RateLimit-Remaining', '4987')
    return response
  },
}

const refusals = {
  unauthorized: () => problem(401, 'Bad credentials'),
  missing: () => problem(404, 'Not Found'),
  limit: () =>
    problem(403, 'API rate limit exceeded for user ID 583231.', {
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1000) + 600),
    }),
}

const problem = (status: number, message: string, headers: Record<string, string> = {}) =>
  Response.json(
    { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
    { status, headers },
  )

function route(fake: Fake, asked: Asked): Response {
  const { path, method, token, body } = asked
  if (path === '/user') return Response.json({ login: token.login, id: token.id, type: 'User' })
  const mayRead = token.fineGrained
    ? token.scopes.includes('metadata')
    : token.scopes.includes('repo')
  const visible = fake.repositories.filter((found) => mayRead || !found.private)
  if (path === '/user/repos') {
    if (token.fineGrained && !mayRead) return needs('metadata=read')
    return list(fake, asked, visible.map(repositoryJson))
  }
  const [, name, rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? []
  const found = visible.find(({ fullName }) => fullName === decodeURIComponent(name ?? ''))
  if (!found) return refusals.missing()
  if (rest === '') return Response.json(repositoryJson(found))
  if (rest === '/branches') return list(fake, asked, found.branches.map(refJson))
  if (rest === '/tags') return list(fake, asked, found.tags.map(refJson))
  if (rest === '/commits') {
    if (token.fineGrained && !token.scopes.includes('contents')) return needs('contents=read')
    if (found.branches.length === 0) return problem(409, 'Git Repository is empty.')
    return list(
      fake,
      asked,
      found.branches.map(({ commit }) => ({ sha: commit })),
    )
  }
  const [, of, which] = /^\/commits\/([0-9a-f]{40})\/(check-runs|status)$/.exec(rest) ?? []
  if (of) {
    const isStatus = which === 'status'
    const all = found.checks.filter((one) => one.sha === of && Boolean(one.isStatus) === isStatus)
    const { searchParams } = asked.url
    const { items } = pageOf(fake, all, searchParams.get('per_page'), searchParams.get('page'))
    const answer = isStatus
      ? { state: 'pending', statuses: items.map(({ name, state }) => ({ context: name, state })) }
      : { check_runs: items.map(runJson) }
    return Response.json({ ...answer, total_count: all.length })
  }
  if (!token.scopes.includes(token.fineGrained ? 'hooks' : 'repo')) return needs('repo')
  if (rest === '/hooks' && method === 'POST') {
    if (found.hooks.some(({ url }) => url === body.config.url)) {
      return problem(422, 'Validation Failed')
    }
    const hook = newHook({ url: body.config.url, secret: body.config.secret, events: body.events })
    found.hooks.push(hook)
    return Response.json(hookJson(hook), { status: 201 })
  }
  if (rest === '/hooks') return list(fake, asked, found.hooks.map(hookJson))
  const [, id] = /^\/hooks\/(\d+)$/.exec(rest) ?? []
  if (id && method === 'DELETE') {
    const at = found.hooks.findIndex((hook) => hook.id === Number(id))
    if (at < 0) return refusals.missing()
    found.hooks.splice(at, 1)
    return new Response(null, { status: 204 })
  }
  const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? []
  if (sha && method === 'POST' && ['error', 'failure', 'pending', 'success'].includes(body.state)) {
    found.statuses.push({ sha, ...body })
    return Response.json({ id: 1, ...body }, { status: 201 })
  }
  return refusals.missing()
}

const runJson = ({ name, state }: FakeCheck) => ({
  name,
  status: state === 'pending' ? 'in_progress' : 'completed',
  conclusion: state === 'pending' ? null : state,
})

const needs = (right: string) =>
  problem(403, 'Resource not accessible by personal access token', {
    [right.includes('=') ? 'X-Accepted-GitHub-Permissions' : 'X-Accepted-OAuth-Scopes']: right,
  })

function list(fake: Fake, { url }: Asked, all: unknown[]) {
  const page = pageOf(fake, all, url.searchParams.get('per_page'), url.searchParams.get('page'))
  return Response.json(page.items, { headers: linkHeader(url, page) })
}

const repositoryJson = (found: Fake['repositories'][number]) => ({
  id: 1296269,
  name: found.fullName.split('/')[1],
  full_name: found.fullName,
  private: found.private,
  clone_url: 'https://elsewhere.example/not-used.git',
  default_branch: found.defaultBranch,
})

const refJson = ({ name, commit }: { name: string; commit: string }) => ({
  name,
  commit: { sha: commit, url: 'https://api.github.com/x' },
  protected: false,
})

const hookJson = ({ id, url }: FakeHook) => ({
  type: 'Repository',
  id,
  name: 'web',
  active: true,
  events: ['push'],
  config: { url, content_type: 'json', insecure_ssl: '0', secret: '********' },
})
