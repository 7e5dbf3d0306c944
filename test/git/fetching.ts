import { afterAll, afterEach, beforeEach } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit, type GitOptions } from '../../src/git/git.ts'
import { makeRepository, startGitServer } from '../support/git-server.ts'

export let dir: string
export let served: string
export let server: ReturnType<typeof startGitServer>
export let turn = 0
export let repository: string
export let url: string
export let dataDir: string
export let lines: string[]

/**
 * A git server for the file of tests that calls this, and for each of its tests an empty repository there, at `url`, and a
 * Davit whose mirrors are in `dataDir` and whose log is `lines`.
 */
export function serveRepositories() {
  dir = mkdtempSync(join(tmpdir(), 'davit-fetch-'))
  served = join(dir, 'served')
  server = startGitServer(served)
  beforeEach(() => {
    turn++
    repository = makeRepository(served, `app${turn}.git`)
    url = `${server.url}app${turn}.git`
    dataDir = join(dir, `data${turn}`)
    lines = []
  })
  afterEach(() => {
    server.mode = 'serve'
  })
  afterAll(() => {
    server.stop()
    rmSync(dir, { recursive: true, force: true })
  })
}

export const connect = (options: Partial<GitOptions> = {}) =>
  connectGit({ dataDir, allowHosts: ['127.0.0.1'], allowLocalRepos: false, ...options })

export const never = new AbortController().signal
export const log = (line: string) => void lines.push(line)

type What = { url?: string; branch?: string | null; commit?: string | null; signal?: AbortSignal }
export const fetch = (what: What = {}, davit = connect()) =>
  davit.fetch({ url, branch: 'main', commit: null, signal: never, log, ...what })
export const failure = (what: What = {}, davit = connect()) =>
  fetch(what, davit).then(
    () => Promise.reject(new Error('It worked.')),
    (error) => error,
  )

/** Bytes of all files below it. */
export function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + Bun.file(join(entry.parentPath, entry.name)).size, 0)
}
