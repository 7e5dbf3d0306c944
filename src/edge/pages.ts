import type { PageName } from './plan.ts'

type Page = {
  status: number
  title: string
  text?: string
  /** Seconds after which browsers reload. */
  again?: number
}

export const pages: Record<PageName | 'unreachable', Page> = {
  missing: {
    status: 503,
    title: 'Nothing is deployed here yet',
    text: 'The first version will be here as soon as its deployment is done.',
    again: 15,
  },
  stopped: {
    status: 503,
    title: 'This app is stopped',
    text: 'Its owner can start it again.',
    again: 60,
  },
  starting: {
    status: 503,
    title: 'This app is starting',
    text: 'It will be here in a moment.',
    again: 3,
  },
  unhealthy: {
    status: 503,
    title: 'This app isn’t available right now',
    text: 'It isn’t healthy, or it has ended and is being restarted. Its owner can see why.',
    again: 5,
  },
  maintenance: {
    status: 503,
    title: 'Down for maintenance',
    text: 'This app will be back soon.',
    again: 30,
  },
  unreachable: {
    status: 502,
    title: 'This app doesn’t respond',
    text: 'It may be restarting. Try again in a few seconds.',
    again: 5,
  },
  nobody: { status: 404, title: 'Nothing is served at this address' },
}

/**
 * Serves a page in place of an app: as HTML for browsers, which reload by themselves, as a problem (RFC 9457)
 * for JSON clients, else as text.
 */
export function pageHandler(name: PageName | 'unreachable') {
  const { status, title, text, again } = pages[name]
  const answer = (type: string, body: string) => ({
    handler: 'static_response',
    status_code: status,
    headers: {
      'Content-Type': [type],
      'Cache-Control': ['no-store'],
      Vary: ['Accept'],
      ...(again && { 'Retry-After': [String(again)] }),
    },
    body: literal(body),
  })
  const asked = (types: string[], handler: object) => ({
    match: [{ header: { Accept: types.map((type) => `*${type}*`) } }],
    handle: [handler],
    terminal: true,
  })
  const problem = { type: 'about:blank', title, status, ...(text && { detail: text }) }
  return {
    handler: 'subroute',
    routes: [
      asked(['text/html'], answer('text/html; charset=utf-8', html(pages[name]))),
      asked(
        ['application/json', '+json'],
        answer('application/problem+json', JSON.stringify(problem)),
      ),
      { handle: [answer('text/plain; charset=utf-8', `${title}.${text ? ` ${text}` : ''}\n`)] },
    ],
  }
}

export function plainHandler(status: number, text: string) {
  return {
    handler: 'static_response',
    status_code: status,
    headers: { 'Content-Type': ['text/plain; charset=utf-8'] },
    body: literal(`${text}\n`),
  }
}

/**
 * Escapes text for Caddy. All user input passes through here: braces would otherwise be placeholders, which
 * read variables and files of the edge.
 */
export function literal(text: string) {
  return text.replace(/[{}]/g, '\\$&')
}

const html = ({ title, text, again }: Page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">${again ? `\n<meta http-equiv="refresh" content="${again}">` : ''}
<title>${title}</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; color: light-dark(#1c2427, #e4eaec); background: light-dark(#f7f9f9, #12181a); display: grid; place-content: center; min-height: 90vh; margin: 1.5rem; text-align: center; text-wrap: balance }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 }
p { margin: .5rem 0 0; opacity: .75 }
</style>
</head>
<body>
<main>
<h1>${title}</h1>${text ? `\n<p>${text}</p>` : ''}
</main>
</body>
</html>
`
