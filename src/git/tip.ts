import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDockerfile, manifestsOf, maxText, maxTexts } from '../detection/manifests.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import type { GitTools } from './tools.ts'
import { initMirror } from './mirror.ts'
import { composeFilesIn, dockerfileNames } from './missing-path.ts'
import { readObjects } from './objects.ts'
import { connectRemote, locationOf, runRemoteGit } from './remote.ts'
import { runGit } from './run.ts'
import { underSize } from './size-watch.ts'
import { looksFolder } from './folders.ts'

/** In bytes: `size` for servers that can't omit the contents of files, `names` for file names. */
const maxBytes = { size: 64 * 2 ** 20, names: 2 ** 20 }

/** One per user, so that a slow server delays no one else. */
const turns = new KeyedLock()

export type Tip = {
  /** Likely Dockerfiles, the one in the root first. */
  dockerfiles: string[]
  composeFiles: string[]
  /** All file names, and the texts that tell what it is; null with a Dockerfile in the root, or too many names. */
  files: { paths: string[]; texts: [path: string, text: string][] } | null
}

/**
 * Reads what a new project needs to know of a repository's tip. Where the server supports it, only file names
 * and a few texts are fetched; nothing is kept.
 */
export const readTip = (
  tools: GitTools,
  { userId, ...options }: Look & { userId: string },
): Promise<Tip> => turns.run(userId, options.signal, () => read(tools, options))

type Look = { url: string; signal: AbortSignal }

async function read(tools: GitTools, { url, signal }: Look): Promise<Tip> {
  const remote = await connectRemote(tools, { url, signal })
  const folder = looksFolder(tools.setup.home)
  const mirror = join(folder, `${randomUUID()}.git`)
  try {
    await initMirror({ ...tools, mirrors: folder }, { mirror, format: 'sha1', signal })
    const limits = { size: maxBytes.size, look: 200 }
    const fetch = (options: string[], values: string[]) =>
      underSize({ mirror, where: locationOf(remote), limits, signal }, (signal) =>
        runRemoteGit(tools, remote, {
          command: 'fetch',
          options: [
            ...['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'],
            ...['--filter=blob:none', ...options],
          ],
          // otherwise a server takes the commit for a sign that its files are here too
          config: ['fetch.negotiationAlgorithm=noop'],
          values,
          mirror,
          signal,
        }),
      )
    await fetch(['--depth=1'], ['+HEAD:refs/davit/look'])
    const names = (options: string[], paths: string[] = []) =>
      runGit(tools.setup, {
        command: 'ls-tree',
        options: ['-z', '--name-only', ...options],
        values: ['refs/davit/look', ...paths],
        mirror,
        enough: maxBytes.names,
        signal,
      }).then((output) => output.toString().split('\0'))
    const [root, all] = await Promise.all([names([], dockerfileNames), names(['-r'])])
    const found = [...root, ...all].filter((path) => isDockerfile.test(path))
    const dockerfiles = [...new Set(found)].slice(0, 5)
    const composeFiles = composeFilesIn(all).slice(0, 5)
    const isCut = all.join('\0').length >= maxBytes.names
    if (isCut || root.some((path) => path !== '')) return { dockerfiles, composeFiles, files: null }
    const { own, others } = manifestsOf({ paths: all.join('\0'), all: true })
    const wanted = await listFiles(tools, { mirror, paths: [...own, ...others], signal })
    if (wanted.size > 0) await fetch([], [...new Set(wanted.values())])
    const objects = { tools, mirror, alternates: [], signal }
    const contents = await readObjects(objects, [...wanted.values()])
    let left = maxTexts
    const texts = Array.from(wanted).flatMap(([path, hash]): [string, string][] => {
      const text = contents.get(hash)?.toString('utf8', 0, maxText) ?? ''
      return (left -= text.length) < 0 ? [] : [[path, text]]
    })
    return { dockerfiles, composeFiles, files: { paths: all.filter(Boolean), texts } }
  } finally {
    await rm(mirror, { recursive: true, force: true })
  }
}

async function listFiles(
  tools: GitTools,
  { mirror, paths, signal }: { mirror: string; paths: string[]; signal: AbortSignal },
): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map()
  const listing = await runGit(tools.setup, {
    command: 'ls-tree',
    options: ['-z', '--full-tree'],
    values: ['refs/davit/look', ...paths],
    mirror,
    signal,
  })
  const entries = listing.toString().matchAll(/100\d{3} blob ([0-9a-f]+)\t([^\0]+)\0/g)
  return new Map(Array.from(entries, ([, hash, path]) => [path!, hash!]))
}
