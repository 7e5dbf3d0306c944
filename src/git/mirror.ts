import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../platform/errors.ts'
import { explainGit } from './failures.ts'
import type { GitTools, Log } from './tools.ts'
import { keysFor } from './keys.ts'
import { readRepositoryUrl } from './repository-url.ts'
import { GitError, runGit } from './run.ts'
import { isTooLarge } from './size-watch.ts'
import { neverAborted } from '../platform/pause.ts'

/** A mirror caches one remote for one set of keys, in a bare repository. */
export type Origin = { href: string; keyId: string; history: boolean }

/**
 * Nothing is ever checked out in it. Each key has its own mirror: someone with the address and a commit's
 * hash, but not the key, must not get the commit. The one with history is apart, as fetching one commit cuts off
 * those before it, also for a build that is about to read them.
 */
const mirrorPath = (tools: GitTools, { href, keyId, history }: Origin) =>
  join(tools.mirrors, `${nameOf(href)}${keyId && `-${keyId}`}${history ? '-history' : ''}.git`)

const nameOf = (href: string) => new Bun.CryptoHasher('sha256').update(href).digest('hex')

/**
 * Locks the mirror for `work`. A mirror is a cache: one that is missing, incomplete (the process was killed),
 * damaged or full of old commits is recreated, and `work` is repeated.
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
        options.log(`The mirror of this repository ${state}: fetching it again.`)
      }
    }
    return await makeMirror(tools, { mirror, signal: options.signal }, work)
  })
}

/** The paths are joined, each ended by a NUL. Null when no mirror has the commit. Uses no network. */
export async function pathsOf(
  tools: GitTools,
  { url, commit, signal }: { url: string; commit: string; signal: AbortSignal },
): Promise<string | null> {
  const remote = readStored(url)
  if (remote === null) return null
  const keyId = keysFor(remote, tools.keys).id
  for (const history of [false, true]) {
    const mirror = mirrorPath(tools, { href: remote.href, keyId, history })
    if (!(await isSound(mirror))) continue
    const options = ['-r', '-z', '--full-tree', '--name-only']
    const listing = await runGit(tools.setup, {
      command: 'ls-tree',
      options,
      values: [commit],
      mirror,
      signal,
    }).catch((error) => {
      if (error instanceof GitError) return null // it lacks the commit, or was removed meanwhile
      throw error
    })
    if (listing !== null) return listing.toString()
  }
  return null
}

/** Makes the next fetches start from scratch, since one of these mirrors has an unreadable object. */
export async function distrustMirrors({ mirror, alternates }: Stores) {
  for (const store of [mirror, ...alternates.map((objects) => dirname(objects))]) {
    await rm(join(store, soundMark), { force: true })
  }
}

type Stores = { mirror: string; alternates: string[] }

export async function removeMirror(tools: GitTools, url: string): Promise<boolean> {
  const remote = readStored(url)
  if (remote === null) return false
  const name = nameOf(remote.href)
  const names = await readdir(tools.mirrors).catch(() => [])
  const mirrors = names.filter((entry) => entry.startsWith(name))
  for (const mirror of mirrors.map((entry) => join(tools.mirrors, entry))) {
    await tools.locks.run(mirror, neverAborted(), () =>
      rm(mirror, { recursive: true, force: true }),
    )
  }
  return mirrors.length > 0
}

/** Null for an invalid address, from which nothing can have been fetched. */
function readStored(url: string) {
  try {
    return readRepositoryUrl(url, { allowLocal: true })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return null
  }
}

export const isDamage = (error: unknown) =>
  error instanceof GitError &&
  !error.says(saidByServer) &&
  explainGit(error, { where: '' }).code === 'git_failed'

/** Another mirror would get the same response, and only add to the load of a server that limits requests. */
const saidByServer = /returned error: \d{3}|remote error: |protocol error: |expected .* flush/

/** Change it whenever `asCommitted` changes, so that older mirrors are recreated. */
const soundMark = 'davit-sound-2'

/**
 * Attributes that a repository may not set: builds see files as committed. With another encoding the engine
 * would read another Dockerfile than the one that was checked.
 */
const asCommitted = '-export-ignore -export-subst -ident !working-tree-encoding'

const isSound = (mirror: string) => exists(join(mirror, soundMark))

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Removes it again if its first work fails. */
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

export async function initMirror(
  tools: GitTools,
  options: { mirror: string; format: 'sha1' | 'sha256'; signal: AbortSignal },
) {
  const { mirror, format, signal } = options
  await rm(mirror, { recursive: true, force: true })
  await mkdir(dirname(mirror), { recursive: true, mode: 0o700 })
  await runGit(tools.setup, {
    command: 'init',
    options: ['--quiet', '--bare', '--template=', `--object-format=${format}`],
    values: [mirror],
    signal,
  })
  await mkdir(join(mirror, 'info'), { recursive: true })
  await writeFile(join(mirror, 'info', 'attributes'), `* ${asCommitted}\n`)
}
