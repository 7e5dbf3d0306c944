import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyedLock } from '../platform/semaphore.ts'
import type { GitTools } from './tools.ts'
import { initMirror } from './mirror.ts'
import { dockerfileNames, isDockerfile } from './missing-path.ts'
import { connectRemote, placeOf, runRemoteGit } from './remote.ts'
import { runGit } from './run.ts'
import { underSize } from './size-watch.ts'

/** Holds the temporary repositories of lookups; emptied at startup. */
export const looksFolder = (home: string) => join(home, 'looks')

/** In bytes: `size` for servers that can't omit the contents of files, `names` for file names. */
const maxBytes = { size: 64 * 2 ** 20, names: 2 ** 20 }

/** One per user, so that a slow server delays no one else. */
const turns = new KeyedLock()

/**
 * Finds likely Dockerfiles at the tip of a repository, the one in its root first. Where the server supports
 * it, only file names are fetched; nothing is kept.
 */
export const findDockerfiles = (
  tools: GitTools,
  { userId, ...options }: Look & { userId: string },
): Promise<string[]> => turns.run(userId, options.signal, () => find(tools, options))

type Look = { url: string; signal: AbortSignal }

async function find(tools: GitTools, { url, signal }: Look): Promise<string[]> {
  const remote = await connectRemote(tools, { url, signal })
  const folder = looksFolder(tools.setup.home)
  const mirror = join(folder, `${randomUUID()}.git`)
  try {
    await initMirror({ ...tools, mirrors: folder }, { mirror, format: 'sha1', signal })
    const limits = { size: maxBytes.size, look: 200 }
    await underSize({ mirror, where: placeOf(remote), limits, signal }, (signal) =>
      runRemoteGit(tools, remote, {
        command: 'fetch',
        options: [
          ...['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'],
          ...['--depth=1', '--filter=blob:none'],
        ],
        values: ['+HEAD:refs/davit/look'],
        mirror,
        signal,
      }),
    )
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
    return [...new Set(found)].slice(0, 5)
  } finally {
    await rm(mirror, { recursive: true, force: true })
  }
}
