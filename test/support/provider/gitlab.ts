import { type Asked, type Fake, type FakeCheck, newHook, pageOf, type Shape } from './shape.ts'

/** As docs.gitlab.com/api has it: pages by number in headers, rights by the token's scopes. */
export const gitlabShape: Shape = {
  prefix: '/api/v4',
  tokenOf: (request) =>
    request.headers.get('PRIVATE-TOKEN') ??
    /^Bearer (.+)$/.exec(request.headers.get('Authorization') ?? '')?.[1] ??
    null,
  refuse: (why) => refusals[why](),
  answer: route,
}

const refusals = {
  unauthorized: () => Response.json({ message: '401 Unauthorized' }, { status: 401 }),
  missing: () => Response.json({ message: '404 Project Not Found' }, { status: 404 }),
  limit: () =>
    new Response('Retry later\n', {
      status: 429,
      headers: { 'Retry-After': '42', 'RateLimit-Remaining': '0' },
    }),
}

const insufficient = (scope: string) =>
  Response.json(
    {
      error: 'insufficient_scope',
      error_description:
        'The request requires higher privileges than provided by the access token.',
      scope,
    },
    { status: 403 },
  )

function route(fake: Fake, asked: Asked): Response {
  const { path, method, token, body } = asked
  const has = (...scopes: string[]) => scopes.some((scope) => token.scopes.includes(scope))
  if (path === '/user' && has('read_user', 'read_api', 'api')) {
    return Response.json({ id: token.id, username: token.login, name: 'Ada', state: 'active' })
  }
  if (method === 'GET' && !has('api', 'read_api')) return insufficient('api read_api')
  if (method !== 'GET' && !has('api')) return insufficient('api')
  if (path === '/personal_access_tokens/self') {
    return Response.json({
      id: 4,
      name: 'davit',
      revoked: false,
      active: true,
      scopes: token.scopes,
    })
  }
  if (path === '/projects') return list(fake, asked, fake.repositories.map(projectJson))

  const [, id, rest = ''] = /^\/projects\/([^/]+)(.*)$/.exec(path) ?? []
  const found = fake.repositories.find(({ fullName }) => fullName === decodeURIComponent(id ?? ''))
  if (!found) return refusals.missing()
  if (rest === '') return Response.json(projectJson(found))
  if (rest === '/repository/branches') return list(fake, asked, found.branches.map(refJson))
  if (rest === '/repository/tags') return list(fake, asked, found.tags.map(refJson))
  if (rest === '/hooks' && method === 'POST') {
    const events = {
      ...{ push: body.push_events, tags: body.tag_push_events },
      pulls: body.merge_requests_events,
    }
    const hook = newHook({ url: body.url, secret: body.token, events })
    found.hooks.push(hook)
    return Response.json({ id: hook.id, url: hook.url, push_events: true }, { status: 201 })
  }
  if (rest === '/hooks') {
    return list(
      fake,
      asked,
      found.hooks.map(({ id, url }) => ({ id, url, push_events: true })),
    )
  }
  const [, hookId] = /^\/hooks\/(\d+)$/.exec(rest) ?? []
  if (hookId && method === 'DELETE') {
    const at = found.hooks.findIndex((hook) => hook.id === Number(hookId))
    if (at < 0) return Response.json({ message: '404 Not found' }, { status: 404 })
    found.hooks.splice(at, 1)
    return new Response(null, { status: 204 })
  }
  const [, of] = /^\/repository\/commits\/([0-9a-f]{40})\/statuses$/.exec(rest) ?? []
  if (of) {
    const all = found.checks.filter((one) => one.sha === of)
    return list(fake, asked, all.map(jobJson))
  }
  const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? []
  const states = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped']
  if (sha && method === 'POST' && states.includes(body.state)) {
    found.statuses.push({ sha, ...body })
    return Response.json({ id: 93, sha, status: body.state }, { status: 201 })
  }
  return refusals.missing()
}

/** Above 10,000 items GitLab no longer counts: then only the next page is told. */
function list(fake: Fake, { url }: Asked, all: unknown[]) {
  const page = pageOf(fake, all, url.searchParams.get('per_page'), url.searchParams.get('page'))
  const counts = page.total <= 10_000
  return Response.json(page.items, {
    headers: {
      'X-Page': String(page.page),
      'X-Next-Page': page.page < page.pages ? String(page.page + 1) : '',
      ...(counts && { 'X-Total': String(page.total), 'X-Total-Pages': String(page.pages) }),
    },
  })
}

const jobJson = ({ name, state, isOptional = false }: FakeCheck, at: number) => ({
  id: 90 + at,
  name,
  status: state === 'failure' ? 'failed' : state === 'pending' ? 'running' : state,
  allow_failure: isOptional,
})

const projectJson = (found: Fake['repositories'][number]) => ({
  id: 278964,
  path_with_namespace: found.fullName,
  http_url_to_repo: 'https://elsewhere.example/not-used.git',
  default_branch: found.branches.length > 0 ? found.defaultBranch : null,
  visibility: found.private ? 'private' : 'public',
})

const refJson = ({ name, commit }: { name: string; commit: string }) => ({
  name,
  commit: { id: commit, short_id: commit.slice(0, 8) },
})
