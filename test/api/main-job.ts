import createClient from 'openapi-fetch'
import type { components, paths } from './paths.ts'

type Deployment = components['schemas']['Deployment']

/**
 * From no account to an app that was deployed twice, rolled back and deleted, with a client of the types that
 * the document makes. It stands beside those types when the test checks and runs it.
 */
export async function mainJob({
  baseUrl,
  fetch,
  repositoryUrl,
  changeCode,
}: {
  baseUrl: string
  fetch: (request: Request) => Promise<Response>
  repositoryUrl: string
  changeCode: () => void
}) {
  const api = createClient<paths>({ baseUrl, fetch })
  api.use({ onRequest: ({ request }) => request.headers.set('Accept', 'application/json') })
  await logIn()
  const { id, environmentId } = await create()
  const first = await deploy()
  changeCode()
  const second = await deploy()
  const back = await rollBack(first)
  const { items } = await got(api.GET('/projects/{id}/deployments', { params: { path: { id } } }))
  const { removed } = await got(
    api.DELETE('/projects/{id}', { params: { path: { id }, query: { volumes: true } } }),
  )
  const gone = await api.GET('/projects/{id}', { params: { path: { id } } })
  return { first, second, back, items, removed, problem: gone.error }

  /** A program has no browser that keeps cookies: it logs in once, makes a token, and goes on with that. */
  async function logIn() {
    const cookies = new Map<string, string>()
    const session = createClient<paths>({ baseUrl, fetch })
    session.use({
      onRequest({ request }) {
        request.headers.set('Accept', 'application/json')
        request.headers.set('Cookie', [...cookies].map((cookie) => cookie.join('=')).join('; '))
        request.headers.set('X-CSRF-Token', cookies.get('svc_csrf') ?? '')
      },
      onResponse({ response }) {
        for (const cookie of response.headers.getSetCookie()) {
          const [name = '', value = ''] = cookie.split(';')[0]!.split('=')
          cookies.set(name, value)
        }
      },
    })
    await got(session.GET('/health'))
    const body = { email: 'ada@example.com', password: 'correct horse battery staple' }
    const user = await got(session.POST('/auth/register', { body }))
    if (user.role !== 'admin') throw new Error('The first account is the admin.')
    await got(session.POST('/auth/login', { body }))
    const { token } = await got(
      session.POST('/settings/tokens', {
        body: { name: 'main job', scopes: ['write'], currentPassword: body.password },
      }),
    )
    api.use({ onRequest: ({ request }) => request.headers.set('Authorization', `Bearer ${token}`) })
  }

  async function create() {
    const { id } = await got(api.POST('/projects', { body: { name: 'site', repositoryUrl } }))
    const environment = await got(
      api.POST('/projects/{id}/envs', { params: { path: { id } }, body: { name: 'staging' } }),
    )
    return { id, environmentId: environment.id }
  }

  async function deploy() {
    const started = await got(
      api.POST('/projects/{id}/deployments', {
        params: { path: { id } },
        body: { environmentId },
      }),
    )
    if (!('number' in started)) throw new Error('It was planned, not started')
    return finished(started)
  }

  async function rollBack({ deployment }: { deployment: Deployment }) {
    const path = { id, deploymentId: deployment.id }
    const started = await got(
      api.POST('/projects/{id}/deployments/{deploymentId}/rollback', { params: { path } }),
    )
    return finished(started)
  }

  /** Reads the log to its end, then what came of it, and what the app answers. */
  async function finished({ id: deploymentId }: Deployment) {
    const params = { path: { id, deploymentId } }
    const logs = '/projects/{id}/deployments/{deploymentId}/logs'
    const stream = { params: { ...params, query: { format: 'json' } }, parseAs: 'text' } as const
    const events = String(await got(api.GET(logs, stream)))
    const deployment = await got(api.GET('/projects/{id}/deployments/{deploymentId}', { params }))
    const page = await got(api.GET(logs, { params }))
    if (typeof page === 'string')
      throw new Error('The log is JSON where nothing else is asked for.')
    const answer = deployment.url && (await (await globalThis.fetch(deployment.url)).text())
    return { deployment, events, lines: page.items.map(({ text }) => text), answer }
  }
}

/** The answer; a refusal is thrown with its reason. */
async function got<Data>(
  call: Promise<{ data?: Data; error?: components['schemas']['Problem'] }>,
): Promise<Data> {
  const { data, error } = await call
  if (error) throw new Error(`${error.title}: ${error.detail}`)
  return data!
}
