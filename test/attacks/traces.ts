import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { askEngine } from '../support/machine/engine.ts'

/** Its history and settings, and every file of every layer. */
export async function contentsOfImage(image: string) {
  const name = encodeURIComponent(image)
  const [history, settings, layers] = await Promise.all(
    ['history', 'json', 'get'].map((what) => askEngine(`/images/${name}/${what}`)),
  )
  const parts = [history!, settings!, layers!].map((answer) => answer.arrayBuffer())
  return Buffer.concat((await Promise.all(parts)).map((part) => new Uint8Array(part)))
}

/** All that anyone who may look at it sees, but the environment that it has for itself. */
export async function contentsOfContainer(id: string) {
  const answer = await askEngine(`/containers/${id}/json`)
  const { Config, ...container } = (await answer.json()) as { Config: { Env: string[] } }
  const { Env, ...config } = Config
  return { environment: Env.join('\n'), rest: JSON.stringify({ ...container, config }) }
}

/** What can be read there: sockets and links that lead nowhere can't. */
export function filesIn(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return readdirSync(path).flatMap((name) => filesIn(join(path, name)))
  return found?.isFile() ? [path] : []
}

/** Notes the command lines of all that a process starts, until it is stopped; short-lived ones may escape it. */
export function watchChildren(pid: number) {
  const seen = new Set<string>()
  const timer = setInterval(() => {
    for (const child of descendants(pid)) seen.add(read(`/proc/${child}/cmdline`))
  }, 4)
  return {
    seen,
    stop: () => clearInterval(timer),
  }
}

function descendants(pid: number): number[] {
  const threads = list(`/proc/${pid}/task`)
  const children = threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  )
  return children.flatMap((child) => [child, ...descendants(child)])
}

/** Nothing of a process that has ended meanwhile. */
function read(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function list(path: string) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
