import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type GitServer = {
  /** Ends with a slash; a repository `app.git` in the directory is `${url}app.git`. */
  url: string
  host: string
  /** The path of every request so far. */
  requests: string[]
  /** What the server does instead of serving. */
  mode:
    | 'serve'
    | 'unauthorized'
    | 'hang'
    | 'no hashes'
    | { redirect: string }
    | { moved: Moved }
    | { status: number }
  stop: () => void
}

/** Where the beginning of a path leads, on this server or another. */
type Moved = Record<string, string>

/** Serves the bare repositories in a directory over smart HTTP, as a git host does. */
export function startGitServer(dir: string, { hostname = '127.0.0.1' } = {}): GitServer {
  const http = Bun.serve({
    hostname,
    port: 0,
    idleTimeout: 0,
    fetch: (request) => answer(server, dir, request),
  })
  const server: GitServer = {
    url: `http://${hostname}:${http.port}/`,
    host: `${hostname}:${http.port}`,
    requests: [],
    mode: 'serve',
    stop: () => void http.stop(true),
  }
  return server
}

function answer(server: GitServer, dir: string, request: Request): Response | Promise<Response> {
  const url = new URL(request.url)
  const { mode } = server
  server.requests.push(url.pathname)
  if (mode === 'hang') return new Promise(() => {})
  if (mode === 'unauthorized') {
    return new Response('who?', { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' } })
  }
  if (typeof mode === 'object' && 'status' in mode) return new Response('no', mode)
  if (typeof mode === 'object' && 'moved' in mode) {
    const from = Object.keys(mode.moved).find((path) => url.pathname.startsWith(path))
    if (from === undefined) return runBackend(dir, { request, url, refuseHashes: false })
    const rest = url.pathname.slice(from.length) + url.search
    return Response.redirect(`${mode.moved[from]}${rest}`, 301)
  }
  if (typeof mode === 'object') return Response.redirect(mode.redirect + url.pathname + url.search)
  return runBackend(dir, { request, url, refuseHashes: mode === 'no hashes' })
}

async function runBackend(
  dir: string,
  { request, url, refuseHashes }: { request: Request; url: URL; refuseHashes: boolean },
): Promise<Response> {
  const child = Bun.spawn(['git', 'http-backend'], {
    env: {
      ...gitEnv,
      GIT_PROJECT_ROOT: dir,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers.get('content-type') ?? '',
      HTTP_CONTENT_ENCODING: request.headers.get('content-encoding') ?? '',
      REMOTE_ADDR: '127.0.0.1',
      // Under version 2 of the protocol git gives any hash; version 0 gives only branches.
      GIT_PROTOCOL: refuseHashes ? '' : (request.headers.get('git-protocol') ?? ''),
    },
    stdin: request.body ?? 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const reader = child.stdout.getReader()
  let head = Buffer.alloc(0)
  let end = -1
  while ((end = head.indexOf('\r\n\r\n')) < 0) {
    const { done, value } = await reader.read()
    if (done) return new Response('git http-backend gave no header', { status: 500 })
    head = Buffer.concat([head, value])
  }
  const headers = new Headers()
  let status = 200
  for (const line of head.toString('latin1', 0, end).split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? []
    if (name.toLowerCase() === 'status') status = Number(value.slice(0, 3))
    else headers.set(name, value)
  }
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head.subarray(end + 4)),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => child.kill(),
  })
  return new Response(body, { status, headers })
}

/** What a commit writes: text, a link `{ to }`, a submodule's `{ commit }`, or null to delete. */
export type Files = Record<string, string | { to: string } | { commit: string } | null>

/** A bare repository `<dir>/<name>` whose HEAD is `main`; returns its path. */
export function makeRepository(dir: string, name: string): string {
  const path = join(dir, name)
  mkdirSync(dir, { recursive: true })
  git(dir, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', path])
  appendFileSync(join(path, 'config'), '[uploadpack]\n\tallowFilter = true\n')
  return path
}

/** Commits files on top of a branch, in one process; returns the hash. */
export function commitFiles(
  repository: string,
  files: Files,
  { branch = 'main', message = 'A change', author = 'Ada' } = {},
): string {
  const ref = `refs/heads/${branch}`
  const name = author.replaceAll(/[<>\n]/g, '') // as git does
  const commands = [
    `commit ${ref}`,
    'mark :1',
    `author ${name} <${gitEnv.GIT_AUTHOR_EMAIL}> now`,
    `committer ${gitEnv.GIT_COMMITTER_NAME} <${gitEnv.GIT_COMMITTER_EMAIL}> now`,
    dataOf(`${message}\n`),
    ...(hasRef(repository, ref) ? [`from ${ref}^0`] : []),
    ...Object.entries(files).map(([path, content]) => entryOf(path, content)),
    'get-mark :1',
    '',
  ]
  const unpacked = ['-c', 'fastimport.unpackLimit=1'] // it would start another process to unpack
  const importing = ['fast-import', '--quiet', '--date-format=now']
  return git(repository, [...unpacked, ...importing], {}, Buffer.from(commands.join('\n')))
}

function hasRef(repository: string, ref: string) {
  const packed = join(repository, 'packed-refs')
  if (existsSync(join(repository, ref))) return true
  return existsSync(packed) && readFileSync(packed, 'utf8').includes(` ${ref}\n`)
}

const dataOf = (text: string) => `data ${Buffer.byteLength(text)}\n${text}`

/** A line of `git fast-import`. */
function entryOf(path: string, content: Files[string]) {
  const quoted = /^"|\n/.test(path) ? JSON.stringify(path) : path
  if (content === null) return `D ${quoted}`
  if (typeof content === 'string') {
    // Scripts are committed as what can be executed.
    const mode = content.startsWith('#!') ? '100755' : '100644'
    return `M ${mode} inline ${quoted}\n${dataOf(content)}`
  }
  if ('commit' in content) return `M 160000 ${content.commit} ${quoted}`
  return `M 120000 inline ${quoted}\n${dataOf(content.to)}`
}

/** Runs git by argv and returns what it printed; throws with its error output. */
export function git(
  cwd: string,
  args: string[],
  env: Record<string, string> = {},
  stdin?: Buffer,
): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', ...args], {
    cwd,
    env: { ...gitEnv, ...env },
    stdin: stdin ?? null,
  })
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
  return stdout.toString().trim()
}

const gitEnv = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

/** For contexts that have a Dockerfile of their own. */
export const ownDockerfile = {
  dockerfilePath: null,
  plan: () => Promise.reject(new Error('There is no Dockerfile.')),
}
