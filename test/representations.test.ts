import { expect, test } from 'bun:test'
import { testApp } from './support/app.ts'
import type { TestApp } from './support/app.ts'
import { everything, fill, idOf } from './support/everything.ts'

const clients = {
  browser: { Accept: 'text/html' },
  partial: { Accept: 'text/html', 'HX-Request': 'true' },
  program: { Accept: 'application/json' },
} as const

type Kind = 'page' | 'fragment' | 'json' | 'redirect' | 'stream' | 'file'

/** Routes whose answer is of one kind, whoever asks. */
const onlyKind: Record<string, Kind> = {
  'GET /': 'redirect',
  'GET /login': 'redirect',
  'GET /auth/login': 'redirect',
  'GET /auth/register': 'redirect',
  'GET /services/compose': 'redirect',
  'GET /health': 'json',
  'GET /live': 'stream',
  'GET /projects/:id/envs/:envId/output/stream': 'stream',
  'GET /services/:id{[a-f0-9-]{36}}/output/stream': 'stream',
  'GET /health/ready': 'json',
  'GET /metrics': 'file',
  'GET /api/openapi.json': 'json',
  'GET /docs/davit.schema.json': 'json',
  'GET /containers/api': 'json',
  'GET /settings/events/notices': 'stream',
  'GET /containers/:id/stats': 'stream',
}

test('every address has a page, a fragment and JSON, as the client asks', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await everything(t, ada)
  const table = ['| route | browser | partial | program |', '|---|---|---|---|']
  for (const { method, path } of readable(t)) {
    const route = `${method} ${path}`
    const answers: string[] = []
    for (const [client, headers] of Object.entries(clients)) {
      const response = await ada.send(fill(path, ids, idOf(path)), { headers })
      const kind = await kindOf(response)
      answers.push(`${response.status} ${kind}`)
      expect({ route, client, kind }).toEqual({ route, client, kind: wanted(route, client) })
    }
    table.push(`| ${route} | ${answers.join(' | ')} |`)
  }
  expect(table.length).toBeGreaterThan(35)
  console.log(table.join('\n'))
}, 60_000)

test.each([
  ['Application/JSON', 'application/json'],
  ['TEXT/HTML, application/json', 'text/html; charset=UTF-8'],
])('who accepts %s is given %s', async (accept, type) => {
  const ada = testApp().logIn('ada@example.com')
  const { headers } = await ada.send('/projects', { headers: { Accept: accept } })
  expect(headers.get('Content-Type')).toBe(type)
})

/** All that is asked for with GET, without what only the provider of a login or a git host can answer. */
const readable = ({ app }: TestApp) =>
  app.routes.filter(
    ({ method, path }) => method === 'GET' && !/^\/(auth\/oauth|static|api\/git)/.test(path),
  )

/** For programs; people find both on one page. */
const onMetrics = ['GET /projects/:id/envs/:envId/usage', 'GET /envs/:envId/traffic']

/** A stream for a browser is one for people too: the log is followed, and read as pages by others. */
function wanted(route: string, client: string): Kind {
  if (route.endsWith('/logs') && client === 'browser') return 'stream'
  if (onMetrics.includes(route) && client !== 'program') return 'redirect'
  return (
    onlyKind[route] ??
    ({ browser: 'page', partial: 'fragment', program: 'json' } as const)[
      client as keyof typeof clients
    ]
  )
}

async function kindOf(response: Response): Promise<Kind> {
  const type = response.headers.get('Content-Type') ?? ''
  if (response.status === 303 || response.headers.has('HX-Redirect')) return 'redirect'
  if (type.includes('event-stream')) {
    await response.body?.cancel()
    return 'stream'
  }
  const text = await response.text()
  if (type.includes('json')) return 'json'
  if (type.includes('html')) return text.startsWith('<!DOCTYPE html>') ? 'page' : 'fragment'
  return 'file'
}
