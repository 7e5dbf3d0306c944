import { rm, stat } from 'node:fs/promises'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explainGit } from './failures.ts'
import type { GitTools, Log } from './git.ts'
import { readRepositoryUrl } from './repository-url.ts'
import { GitError, runGit } from './run.ts'

/** The bare repository that caches one remote; git never checks anything out of it. */
export const mirrorPath = (tools: GitTools, href: string) =>
  join(tools.mirrors, `${new Bun.CryptoHasher('sha256').update(href).digest('hex')}.git`)

/**
 * Works on a repository's mirror, alone. A mirror is a cache: one that is missing, half made
 * (the process was killed) or damaged is made anew, and the work is done again.
 */
export async function withMirror<T>(
  tools: GitTools,
  options: { href: string; signal: AbortSignal; log: Log },
  work: (mirror: string) => Promise<T>,
): Promise<T> {
  const mirror = mirrorPath(tools, options.href)
  return tools.locks(mirror, options.signal, async () => {
    const known = await isSound(mirror)
    if (!known) await makeMirror(tools, { mirror, format: 'sha1', signal: options.signal })
    try {
      return await finish(mirror, work)
    } catch (error) {
      const format = error instanceof GitError && error.says(/server sha256/) ? 'sha256' : 'sha1'
      if (!isDamage(error) || (!known && format === 'sha1')) throw error
      if (known) options.log('The mirror of this repository is damaged: fetching it anew.')
      await makeMirror(tools, { mirror, format, signal: options.signal })
      return await finish(mirror, work)
    }
  })
}

/** Makes the next fetch start from nothing: some object in this mirror cannot be read. */
export const distrustMirror = (mirror: string) => rm(join(mirror, soundMark), { force: true })

/** Removes a repository's mirror; false when there was none. */
export async function removeMirror(tools: GitTools, url: string): Promise<boolean> {
  const { href } = readRepositoryUrl(url, { allowLocal: true })
  const mirror = mirrorPath(tools, href)
  return tools.locks(mirror, new AbortController().signal, async () => {
    const existed = await exists(mirror)
    await rm(mirror, { recursive: true, force: true })
    return existed
  })
}

/** What git says that no fault outside of the mirror explains. */
export const isDamage = (error: unknown) =>
  error instanceof GitError && explainGit(error, { where: '' }).code === 'git_failed'

async function finish<T>(mirror: string, work: (mirror: string) => Promise<T>): Promise<T> {
  const result = await work(mirror)
  await writeFile(join(mirror, soundMark), '')
  return result
}

const soundMark = 'davit-sound'

const isSound = (mirror: string) => exists(join(mirror, soundMark))

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

async function makeMirror(
  tools: GitTools,
  options: { mirror: string; format: 'sha1' | 'sha256'; signal: AbortSignal },
) {
  const { mirror, format, signal } = options
  await rm(mirror, { recursive: true, force: true })
  await mkdir(tools.mirrors, { recursive: true, mode: 0o700 })
  await runGit(tools.setup, {
    command: 'init',
    options: ['--quiet', '--bare', '--template=', `--object-format=${format}`],
    values: [mirror],
    signal,
  })
  await mkdir(join(mirror, 'info'), { recursive: true })
  // A build sees every file as it was committed, as after a clone.
  await writeFile(join(mirror, 'info', 'attributes'), '* -export-ignore -export-subst\n')
}
