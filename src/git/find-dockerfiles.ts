import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyedLock } from '../platform/semaphore.ts'
import type { GitTools } from './git.ts'
import { initMirror } from './mirror.ts'
import { dockerfileNames, isDockerfile } from './missing-path.ts'
import { connectRemote, placeOf, runRemoteGit } from './remote.ts'
import { runGit } from './run.ts'
import { underSize } from './size-watch.ts'

/** Where such looks are taken; emptied at the start. */
export const looksFolder = (home: string) => join(home, 'looks')

/** Bytes that may arrive where a server can't leave out the contents of files, and of names that are read. */
const most = { size: 64 * 2 ** 20, names: 2 ** 20 }

/** One at a time for each user: a slow server delays no one else. */
const turns = new KeyedLock()

/**
 * The paths of what looks like a Dockerfile at the tip of a repository, the one in its root first. Only
 * the names of its files are fetched, where the server can do that, and nothing of it is kept.
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
    const limits = { size: most.size, look: 200 }
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
        enough: most.names,
        signal,
      }).then((output) => output.toString().split('\0'))
    const [root, all] = await Promise.all([names([], dockerfileNames), names(['-r'])])
    const found = [...root, ...all].filter((path) => isDockerfile.test(path))
    return [...new Set(found)].slice(0, 5)
  } finally {
    await rm(mirror, { recursive: true, force: true })
  }
}
