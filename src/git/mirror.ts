import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../platform/errors.ts'
import { explainGit } from './failures.ts'
import type { GitTools, Log } from './git.ts'
import { readRepositoryUrl } from './repository-url.ts'
import { GitError, runGit } from './run.ts'
import { isTooLarge } from './size-watch.ts'

/** What one remote gives to those with the same keys, in a bare repository of its own. */
export type Origin = { href: string; keyId: string }

/**
 * Where that is; git never checks anything out of it. What a key opened is kept apart: who has the
 * address and the hash of a commit, but not the key, must not find it.
 */
const mirrorPath = (tools: GitTools, { href, keyId }: Origin) =>
  join(tools.mirrors, `${nameOf(href)}${keyId && `-${keyId}`}.git`)

const nameOf = (href: string) => new Bun.CryptoHasher('sha256').update(href).digest('hex')

/**
 * Works on a repository's mirror, alone. A mirror is a cache: one that is missing, half made
 * (the process was killed), damaged or full of old commits is made anew, and the work is done again.
 */
export async function withMirror<T>(
  tools: GitTools,
  options: { origin: Origin; signal: AbortSignal; log: Log },
  work: (mirror: string) => Promise<T>,
): Promise<T> {
  const mirror = mirrorPath(tools, options.origin)
  return tools.locks.run(mirror, options.signal, async () => {
    const known = await isSound(mirror)
    if (known) {
      try {
        return await work(mirror)
      } catch (error) {
        if (!isDamage(error) && !isTooLarge(error)) throw error
        const state = isTooLarge(error) ? 'has become too large' : 'is damaged'
        options.log(`The mirror of this repository ${state}: fetching it anew.`)
      }
    }
    return await makeMirror(tools, { mirror, signal: options.signal }, work)
  })
}

/** Makes the next fetches start from nothing: some object in one of these cannot be read. */
export async function distrustMirrors({ mirror, alternates }: Stores) {
  for (const store of [mirror, ...alternates.map((objects) => dirname(objects))]) {
    await rm(join(store, soundMark), { force: true })
  }
}

/** A mirror, and the folders of objects of those that belong to it. */
type Stores = { mirror: string; alternates: string[] }

/** Removes a repository's mirrors, whatever keys opened them; false when there was none. */
export async function removeMirror(tools: GitTools, url: string): Promise<boolean> {
  const href = hrefOf(url)
  if (href === null) return false
  const name = nameOf(href)
  const names = await readdir(tools.mirrors).catch(() => [])
  const mirrors = names.filter((entry) => entry.startsWith(name))
  for (const mirror of mirrors.map((entry) => join(tools.mirrors, entry))) {
    await tools.locks.run(mirror, new AbortController().signal, () =>
      rm(mirror, { recursive: true, force: true }),
    )
  }
  return mirrors.length > 0
}

/** Null for an address that can not be read: nothing was ever fetched from there. */
function hrefOf(url: string) {
  try {
    return readRepositoryUrl(url, { allowLocal: true }).href
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return null
  }
}

/** What git says that no fault outside of the mirror explains. */
export const isDamage = (error: unknown) =>
  error instanceof GitError && explainGit(error, { where: '' }).code === 'git_failed'

/** Another name whenever `asCommitted` changes, so that older mirrors are made again. */
const soundMark = 'davit-sound-2'

/**
 * What a repository may not say of its files. A build sees them as they were committed: in another
 * encoding, the engine would read another Dockerfile than the one that was looked at.
 */
const asCommitted = '-export-ignore -export-subst -ident !working-tree-encoding'

const isSound = (mirror: string) => exists(join(mirror, soundMark))

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Makes a mirror by its first work; of a work that fails nothing stays. */
async function makeMirror<T>(
  tools: GitTools,
  options: { mirror: string; signal: AbortSignal },
  work: (mirror: string) => Promise<T>,
): Promise<T> {
  const { mirror } = options
  try {
    await initMirror(tools, { ...options, format: 'sha1' })
    const result = await work(mirror).catch(async (error) => {
      if (!(error instanceof GitError && error.says(/server sha256/))) throw error
      await initMirror(tools, { ...options, format: 'sha256' })
      return work(mirror)
    })
    await writeFile(join(mirror, soundMark), '')
    return result
  } catch (error) {
    await rm(mirror, { recursive: true, force: true })
    throw error
  }
}

async function initMirror(
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
  await writeFile(join(mirror, 'info', 'attributes'), `* ${asCommitted}\n`)
}
