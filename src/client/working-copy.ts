import { AppError } from '../platform/errors.ts'
import { neverAborted } from '../platform/pause.ts'
import { startProgram } from '../platform/program.ts'

/** The user's own git, in the folder where the command was started. */
export async function git(args: string[], cwd = process.cwd()): Promise<string> {
  const lines: string[] = []
  const program = startProgram({
    argv: ['git', ...args],
    cwd,
    env: process.env as Record<string, string>,
    signal: neverAborted(),
    deadline: 120_000,
    onLine: (line) => lines.push(line),
  })
  const [text, status] = await Promise.all([new Response(program.output).text(), program.ended])
  if (status === 0) return text
  throw new GitFailed(lines.at(-1) ?? `git ${args[0]} failed`)
}

/** It ended with a status other than 0. */
class GitFailed extends Error {}

/** Null where git has no answer, such as outside a repository. */
export const askGit = (...args: string[]) =>
  git(args).then(
    (text) => text.trimEnd() || null,
    () => null,
  )

export async function repositoryRoot(folder?: string): Promise<string> {
  const root = await git(['rev-parse', '--show-toplevel'], folder).catch(() => '')
  if (root !== '') return root.trimEnd()
  throw new AppError(
    'not_found',
    'This folder isn’t in a git repository. Run git init and git add first.',
  )
}

/** The addresses of its remotes, `origin` first. */
export async function listRemotes(): Promise<string[]> {
  const lines = ((await askGit('remote', '-v')) ?? '').split('\n')
  const fetched = lines.flatMap((line) => /^(\S+)\t(.+) \(fetch\)$/.exec(line)?.slice(1, 3) ?? [])
  const pairs = Array.from({ length: fetched.length / 2 }, (_, at) =>
    fetched.slice(2 * at, 2 * at + 2),
  )
  return pairs
    .sort(([a], [b]) => Number(b === 'origin') - Number(a === 'origin'))
    .map(([, url]) => url!)
}

/** Host and path, for comparing addresses of one repository: `git@`, ssh and https ones are the same. */
export function sameRepository(address: string): string {
  const scp = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(address)
  const url = scp ? null : URL.parse(address)
  const place = url ? `${url.hostname}${url.pathname}` : scp ? `${scp[1]}/${scp[2]}` : address
  return place
    .replace(/\/+/g, '/')
    .replace(/(\.git)?\/?$/, '')
    .toLowerCase()
}

export type WorkingCopy = Awaited<ReturnType<typeof readWorkingCopy>>

/** What git tracks, as it is on disk; with `untracked` also the rest, but for what .gitignore excludes. */
export async function readWorkingCopy({ untracked }: { untracked: boolean }) {
  const root = await repositoryRoot()
  const list = async (...args: string[]) =>
    (await git(['ls-files', '-z', ...args], root)).split('\0').filter(Boolean)
  const [tracked, deleted, others, commit, message, branch, changes] = await Promise.all([
    list('-t', '--cached', '--recurse-submodules'),
    list('--deleted'),
    list('--others', '--exclude-standard'),
    askGit('rev-parse', '--verify', '--quiet', 'HEAD'),
    askGit('log', '-1', '--format=%s'),
    askGit('symbolic-ref', '--quiet', '--short', 'HEAD'),
    git(['status', '--porcelain', '-z', '--untracked-files=no'], root),
  ])
  refuseSparse(tracked)
  const gone = new Set(deleted)
  const kept = tracked.map((line) => line.slice(2)).filter((path) => !gone.has(path))
  const paths = [...new Set([...kept, ...(untracked ? others : [])])].sort()
  if (paths.length === 0)
    throw new AppError('invalid', 'git tracks no files here. Run git add, or deploy with --dirty.')
  return {
    ...{ root, commit, branch },
    /** From the root. */
    paths,
    message: message && message.slice(0, 300).toWellFormed(),
    /** Tracked files differ from the commit, or untracked ones are among them. */
    dirty: changes !== '' || (untracked && others.length > 0),
    leftOut: untracked ? 0 : others.length,
  }
}

/** Files that a sparse checkout leaves out aren't on disk, and would be missing in the app. */
function refuseSparse(tracked: string[]) {
  if (tracked.some((line) => line.startsWith('S ')))
    throw new AppError(
      'invalid',
      'This is a sparse checkout, which lacks files of the app. Run git sparse-checkout disable first.',
    )
}
