import { Failure } from '../platform/errors.ts'
import { modes } from './objects.ts'
import type { Entry } from './objects.ts'

/** `read` returns null for a text of more than `max` bytes. */
export type Tree = {
  entries: Map<string, Entry>
  read: (entry: Entry, options: { max: number }) => Promise<string | null>
}

/** Returns the reason why a path is refused; null when it is valid. */
export function refusePath(path: string): string | null {
  if (path.length > 1_000) return 'A path can have at most 1,000 characters.'
  if (/\p{Cc}/u.test(path)) return 'A path can’t contain control characters.'
  if (path.includes('\\')) return 'Use “/” in paths, not a backslash.'
  if (path.startsWith('/')) return 'The path is relative to the repository: start without “/”.'
  if (/(^|\/)\.\.%/.test(path)) return 'Use “/” in paths, not the escapes of an address.'
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return 'This path leads out of the repository.'
  }
  return null
}

/**
 * Resolves links within the repository; the root is ''. The result may not exist. Throws a Failure for a path
 * that leaves the repository.
 */
export async function followPath(tree: Tree, path: string): Promise<string> {
  const refused = refusePath(path)
  if (refused) throw outside(path, refused)
  const rest = path.split('/')
  const at: string[] = []
  let links = 0
  while (rest.length > 0) {
    const part = rest.shift()!
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (at.length === 0) throw outside(path, 'A link in it leads out of the repository.')
      at.pop()
      continue
    }
    at.push(part)
    const entry = tree.entries.get(at.join('/'))
    if (entry?.mode !== modes.link) continue
    const target = await tree.read(entry, { max: 4096 })
    if (target === null) throw outside(path, 'A link in it has a target of over 4,096 bytes.')
    if (target.startsWith('/')) throw outside(path, 'A link in it leads out of the repository.')
    if (++links > 10) throw outside(path, 'It has more than 10 links.')
    at.pop()
    rest.unshift(...target.split('/'))
  }
  return at.join('/')
}

const outside = (path: string, why: string) =>
  new Failure(
    'path_outside',
    `The path “${path}” can’t be used: ${why}`,
    'Set the Dockerfile and the context directory to paths inside the repository.',
  )
