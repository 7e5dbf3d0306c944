import { readdirSync, readFileSync } from 'node:fs'

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
