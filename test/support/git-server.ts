import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

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
  git(dir, ['init', '--quiet', '--bare', '--initial-branch=main', path])
  git(path, ['config', 'uploadpack.allowFilter', 'true'])
  return path
}

/** Commits files on top of a branch, through the index of a throw-away work tree; returns the hash. */
export function commitFiles(
  repository: string,
  files: Files,
  { branch = 'main', message = 'A change', author = 'Ada' } = {},
): string {
  const work = `${repository}-work-${Bun.randomUUIDv7()}`
  mkdirSync(work, { recursive: true })
  const index = ['--git-dir', repository, '--work-tree', work]
  const ref = `refs/heads/${branch}`
  const parent = tryGit(work, ['--git-dir', repository, 'rev-parse', '--verify', '--quiet', ref])
  try {
    const env = { GIT_INDEX_FILE: join(work, '.index') }
    if (parent) git(work, [...index, 'read-tree', parent], env)
    for (const [path, content] of Object.entries(files)) {
      if (content === null) {
        git(work, [...index, 'update-index', '--force-remove', '--', path], env)
        continue
      }
      if (typeof content === 'object' && 'commit' in content) {
        const entry = `160000,${content.commit},${path}`
        git(work, [...index, 'update-index', '--add', '--cacheinfo', entry], env)
        continue
      }
      const file = join(work, path)
      mkdirSync(dirname(file), { recursive: true })
      // Scripts are committed as what can be executed.
      const mode = typeof content === 'string' && content.startsWith('#!') ? 0o755 : 0o644
      if (typeof content === 'string') writeFileSync(file, content, { mode })
      else symlinkSync(content.to, file)
      git(work, [...index, 'update-index', '--add', '--', path], env)
    }
    const tree = git(work, [...index, 'write-tree'], env)
    const commit = git(
      work,
      [...index, 'commit-tree', '-m', message, ...(parent ? ['-p', parent] : []), tree],
      { GIT_AUTHOR_NAME: author },
    )
    git(work, ['--git-dir', repository, 'update-ref', ref, commit])
    return commit
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Runs git by argv and returns what it printed; throws with its error output. */
export function git(cwd: string, args: string[], env: Record<string, string> = {}): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', ...args], {
    cwd,
    env: { ...gitEnv, ...env },
  })
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
  return stdout.toString().trim()
}

function tryGit(cwd: string, args: string[]): string | null {
  try {
    return git(cwd, args)
  } catch {
    return null
  }
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
