import { list } from './text.ts'

/** Where the app object may be; these are read. */
export const appFiles = list(`
  main.py app.py app/main.py app/__init__.py src/main.py src/app.py server.py api.py api/main.py
  wsgi.py run.py application.py backend/main.py`)

/** Files that rules read: by name at the top, or below it by pattern. */
const names = new Set([
  ...appFiles,
  ...list(`
    package.json pnpm-lock.yaml pnpm-workspace.yaml yarn.lock .nvmrc .node-version .bun-version
    .tool-versions angular.json deno.json deno.jsonc .deno-version .dvmrc Procfile requirements.txt
    pyproject.toml Pipfile .python-version runtime.txt alembic.ini go.mod Cargo.toml rust-toolchain
    rust-toolchain.toml Gemfile Gemfile.lock .ruby-version composer.json .php-version pom.xml
    build.gradle build.gradle.kts .java-version .sdkmanrc system.properties mix.exs`),
])
const patterns =
  /^((next|svelte|vite|react-router)\.config\.\w+|[\w/]*settings(\/(base|production|__init__))?\.py|([\w .-]+\/){0,3}[\w .-]+\.(cs|fs|vb)proj)$/

/** Davit's own settings are a key of it, beside much else. */
export const packageFile = 'package.json'

/** In bytes for each file, and for all. The beginning of a lock file says all that is read of it. */
export const maxText = 256 * 1024
export const maxTexts = 8 * 1024 * 1024
/** Lock files grow without bound, so of long ones the beginning is read. */
export const isLock = (path: string) =>
  /(^|\/)(pnpm-lock\.yaml|yarn\.lock|Gemfile\.lock)$/.test(path)
export const maxLock = 16 * 1024 * 1024

export const isDockerfile =
  /(^|\/)(?!.*\.dockerignore$)((dockerfile|containerfile)([.-][^/]+)?|[^/]+\.dockerfile)$/i

const maxFiles = 60
const maxOthers = 1000

/** What joins packages, or describes one of several. */
const describing = new Set(
  list(`
    package.json pnpm-workspace.yaml turbo.json nx.json Cargo.toml go.work go.mod pyproject.toml
    pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts`),
)

/** What an app has at its top. */
const showing = new Set(
  list(`
    package.json go.mod Cargo.toml pyproject.toml requirements.txt Pipfile manage.py Gemfile
    composer.json pom.xml build.gradle build.gradle.kts mix.exs deno.json deno.jsonc Dockerfile`),
)

/**
 * The names of folders that may be an app's of several. They are written into Dockerfiles, so they have the
 * characters of ordinary names alone.
 */
const folder = String.raw`[\p{L}\p{N}_@][\p{L}\p{N}_.@+~-]*`
export const folders = (depth: number) => `(?:${folder}/){0,${depth - 1}}${folder}`

/** Matches the whole of a text. */
export const whole = (source: string) => new RegExp(['^(?:', ')$'].join(source), 'u')

/** Of others' packages, and of tests. */
export const isForeign = /(^|\/)(node_modules|vendor|testdata)(\/|$)/

const maxApps = 200
const topOfApp = whole(folders(3))

/** Where apps may be below the top, in git's order. */
export function appFolders(paths: readonly string[]): string[] {
  const found = new Set<string>()
  for (const path of paths) {
    const { folder, name } = split(path)
    if (!showing.has(name) || found.has(folder) || isForeign.test(folder)) continue
    if (topOfApp.test(folder) && found.add(folder).size === maxApps) break
  }
  return [...found]
}

const split = (path: string) => {
  const at = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(at, 0)), name: path.slice(at + 1) }
}

/**
 * The files whose texts `detect` needs, joined; the first ones, `own`, are those of the directory. The others
 * tell of its workspace, and with `all` of each app in the repository. Call it through `parse`.
 */
export function manifestsOf({
  paths: joined,
  directory = '',
  all = false,
}: {
  paths: string
  directory?: string
  all?: boolean
}): { own: string[]; others: string[] } {
  const paths = joined.split('\0')
  const tops = new Set(all ? ['', ...appFolders(paths)] : [])
  for (let at = directory; at !== '';) tops.add((at = split(at).folder))
  const own: string[] = []
  const others: string[] = []
  for (const path of paths) {
    if (isRead(path, directory)) own.push(path)
    else if (tops.size > 0 && others.length < maxOthers && isOther(path, tops)) others.push(path)
  }
  return { own: own.slice(0, maxFiles), others }
}

/** Below the top of an app, or of a workspace. */
function isOther(path: string, tops: Set<string>) {
  const { folder, name } = split(path)
  if (describing.has(name)) return !isForeign.test(folder)
  if (!isKnown.test(name) && !names.has(name)) return false
  for (let at = folder; ; at = split(at).folder) {
    if (tops.has(at) && isRead(path, at)) return true
    if (at === '') return false
  }
}

const isKnown = /\.(py|csproj|fsproj|vbproj)$|\.config\.\w+$/

/** Whether a rule reads it for an app in the folder. */
function isRead(path: string, top: string) {
  if (top !== '' && !path.startsWith(`${top}/`)) return false
  const inside = top === '' ? path : path.slice(top.length + 1)
  return names.has(inside) || patterns.test(inside)
}
