import { type Asked, type Fake, type FakeHook, newHook, pageOf, type Shape } from './shape.ts'

/** As Gitea's Swagger has it: pages by `limit` and `page`, all of them counted in a header. */
export const giteaShape: Shape = {
  prefix: '/api/v1',
  tokenOf: (request) =>
    /^(?:token|Bearer) (.+)$/.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null,
  refuse: (why) => refusals[why](),
  answer: route,
}

const problem = (status: number, message: string, headers: Record<string, string> = {}) =>
  Response.json({ message, url: 'http://10.0.0.7/api/swagger' }, { status, headers })

const refusals = {
  unauthorized: () => problem(401, 'user does not exist [uid: 0, name: ]'),
  missing: () => problem(404, "The target couldn't be found."),
  limit: () => problem(429, 'Too many requests', { 'Retry-After': '30' }),
}

function route(fake: Fake, asked: Asked): Response {
  const { path, method, token, body } = asked
  const right = rightFor(asked)
  const enough = [right, right.replace('read:', 'write:')]
  if (!enough.some((scope) => token.scopes.includes(scope))) {
    const has = token.scopes.join(',')
    return problem(
      403,
      `token does not have at least one of required scope(s), required=[${right}], token scope=${has}`,
    )
  }
  if (path === '/user') return Response.json({ id: token.id, login: token.login })
  if (path === '/user/repos') return list(fake, asked, fake.repositories.map(repositoryJson))

  const [, name, rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? []
  const found = fake.repositories.find(
    ({ fullName }) => fullName === decodeURIComponent(name ?? ''),
  )
  if (!found) return refusals.missing()
  if (rest === '') return Response.json(repositoryJson(found))
  if (rest === '/branches') {
    const branches = found.branches.map(({ name, commit }) => ({ name, commit: { id: commit } }))
    return list(fake, asked, branches)
  }
  if (rest === '/tags') {
    const tags = found.tags.map(({ name, commit }) => ({
      name,
      id: commit,
      commit: { sha: commit },
    }))
    return list(fake, asked, tags)
  }
  if (rest === '/hooks' && method === 'POST') {
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
  const [, of] = /^\/commits\/([0-9a-f]{40})\/status$/.exec(rest) ?? []
  if (of) {
    const all = found.checks.filter((one) => one.sha === of)
    const { searchParams } = asked.url
    const { items } = pageOf(fake, all, searchParams.get('limit'), searchParams.get('page'))
    const statuses = items.map(({ name, state }) => ({ context: name, status: state }))
    return Response.json({ state: 'pending', statuses: statuses.length > 0 ? statuses : null })
  }
  const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? []
  if (sha && method === 'POST') {
    found.statuses.push({ sha, ...body })
    return Response.json({ id: 1, status: body.state }, { status: 201 })
  }
  return refusals.missing()
}

function rightFor({ path, method }: Asked) {
  if (path === '/user') return 'read:user'
  return method === 'GET' ? 'read:repository' : 'write:repository'
}

function list(fake: Fake, { url }: Asked, all: unknown[]) {
  const page = pageOf(fake, all, url.searchParams.get('limit'), url.searchParams.get('page'))
  return Response.json(page.items, { headers: { 'X-Total-Count': String(page.total) } })
}

const repositoryJson = (found: Fake['repositories'][number]) => ({
  id: 1,
  full_name: found.fullName,
  private: found.private,
  empty: found.branches.length === 0,
  clone_url: 'https://elsewhere.example/not-used.git',
  default_branch: found.defaultBranch,
})

const hookJson = ({ id, url }: FakeHook) => ({
  id,
  type: 'gitea',
  active: true,
  events: ['push'],
  config: { url, content_type: 'json' },
})
