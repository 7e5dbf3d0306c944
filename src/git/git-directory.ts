import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { tarHead, tarPadding } from '../docker/index.ts'
import type { GitTools, Snapshot } from './tools.ts'
import { runGit } from './run.ts'
import type { GitCommand } from './run.ts'
import { gitDirectories } from './folders.ts'

/** The namespace for tags of a repository that is fetched with its history. */
export const tagRefs = 'refs/davit/tags/'

/**
 * Yields the entries of an archive with a `.git` like that of a clone at this commit, with history, tags and
 * remote. It is built in a folder of its own, as the mirror is shared and contains more.
 */
export async function* gitDirectory(
  tools: GitTools,
  { snapshot, signal }: { snapshot: Snapshot; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { mirror, branch, commit } = snapshot
  const folder = join(gitDirectories(tools.setup.home), randomUUID())
  const pack = join(folder, 'objects/pack')
  const git = (command: GitCommandFor) => runGit(tools.setup, { ...command, mirror, signal })
  try {
    await mkdir(pack, { recursive: true, mode: 0o700 })
    const options = ['--format=%(objectname) refs/tags/%(refname:lstrip=3)']
    const listing = await git({ command: 'for-each-ref', options, values: [tagRefs] })
    const tags = listing.toString('utf8').split('\n').filter(Boolean)
    const hashes = [commit.hash, ...tags.map((line) => line.split(' ', 1)[0]!)]
    const input = Buffer.from(`${hashes.join('\n')}\n`)
    const packing = ['--revs', '--quiet', '--delta-base-offset']
    const config = ['pack.threads=1', 'pack.windowMemory=64m']
    await git({
      command: 'pack-objects',
      options: packing,
      config,
      values: [join(pack, 'pack')],
      input,
    })
    const env = { GIT_INDEX_FILE: join(folder, 'index') }
    await git({ command: 'read-tree', values: [commit.hash], env })
    // A deployed tag has no branch; neither has a HEAD that names none.
    const isBranch =
      branch !== 'HEAD' && !tags.some((line) => line.endsWith(` refs/tags/${branch}`))
    const heads = isBranch ? [`${commit.hash} refs/heads/${branch}`] : []
    await Promise.all([
      Bun.write(
        join(folder, 'HEAD'),
        isBranch ? `ref: refs/heads/${branch}\n` : `${commit.hash}\n`,
      ),
      // Packed, since a name may be too long for a file. Without `refs/` git doesn't recognise a repository.
      Bun.write(
        join(folder, 'packed-refs'),
        [...heads, ...tags].map((line) => `${line}\n`).join(''),
      ),
      Bun.write(join(folder, 'refs/remotes/origin/HEAD'), `${commit.hash}\n`),
      Bun.write(join(folder, 'config'), configOf(snapshot)),
    ])
    const grafts = Bun.file(join(mirror, 'shallow'))
    if (await grafts.exists()) await Bun.write(join(folder, 'shallow'), grafts)
    yield* entriesOf(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type GitCommandFor = Omit<GitCommand, 'signal'>

/** The URL has no credentials. */
const configOf = ({ url, commit }: Snapshot) => `[core]
\trepositoryformatversion = ${commit.hash.length === 64 ? 1 : 0}
\tbare = false
${commit.hash.length === 64 ? '[extensions]\n\tobjectformat = sha256\n' : ''}[remote "origin"]
\turl = ${JSON.stringify(url)}
\tfetch = +refs/heads/*:refs/remotes/origin/*
`

async function* entriesOf(folder: string): AsyncGenerator<Uint8Array> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of names.filter((entry) => entry.isFile())) {
    const file = Bun.file(join(entry.parentPath, entry.name))
    const path = `.git${file.name!.slice(folder.length)}`
    yield tarHead({ path, mode: 0o644, size: file.size })
    yield* file.stream()
    yield tarPadding(file.size)
  }
}
