import { afterAll, beforeEach, expect } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit, type Git, type GitOptions } from '../../src/git/git.ts'
import { commitFiles, type Files, makeRepository, startGitServer } from '../support/git-server.ts'

export let dir: string
export let dataDir: string
export let options: Pick<GitOptions, 'dataDir' | 'allowHosts' | 'allowLocalRepos'>
export let davit: Git
export let lines: string[]
let served: string
let server: ReturnType<typeof startGitServer>
let turn = 0

/** A git server and a Davit for the file of tests that calls this; `lines` is the log of each test. */
export function serveContexts() {
  dir = mkdtempSync(join(tmpdir(), 'davit-context-'))
  served = join(dir, 'served')
  server = startGitServer(served)
  dataDir = join(dir, 'data')
  options = { dataDir, allowHosts: ['127.0.0.1'], allowLocalRepos: false }
  davit = connectGit(options)
  beforeEach(() => {
    lines = []
  })
  afterAll(() => {
    server.stop()
    rmSync(dir, { recursive: true, force: true })
  })
}

export const signal = new AbortController().signal
export const log = (line: string) => void lines.push(line)

export const Dockerfile = 'FROM busybox\n'

/** A repository with these files; gives its path, URL and commit. */
export function aRepository(files: Files, name = `app${++turn}.git`) {
  const path = makeRepository(served, name)
  return { path, url: `${server.url}${name}`, commit: commitFiles(path, files) }
}

export const fetch = (url: string) =>
  davit.fetch({ url, branch: 'main', commit: null, signal, log })

export type Paths = { contextDir?: string; dockerfilePath?: string | null }

export const contextOf = async (url: string, paths: Paths = {}) =>
  davit.context(await fetch(url), {
    ...{ contextDir: '.', dockerfilePath: null, signal, log },
    plan: async ({ directory: context }) => ({
      ...{ dockerfile: 'FROM planned\n', dockerignore: 'ignored\n', context },
    }),
    ...paths,
  })

/** What arrives at the engine: each path with its content, `-> target` or `mode`. */
export async function unpack(url: string, paths: Paths = {}) {
  const context = await contextOf(url, paths)
  const tar = await new Response(await davit.archive(context, { signal })).arrayBuffer()
  const target = join(dir, `unpacked${++turn}`)
  mkdirSync(target)
  writeFileSync(`${target}.tar`, new Uint8Array(tar))
  const listed = Bun.spawnSync(['tar', '-xvf', `${target}.tar`, '-C', target]).stdout.toString()
  const files = listed.split('\n').filter((path) => path && !path.endsWith('/'))
  expect(context.files).toBe(files.length)
  return { context, target, files: files.sort() }
}

export const failure = (url: string, paths: Paths = {}) =>
  contextOf(url, paths).then(
    () => Promise.reject(new Error('It worked.')),
    (error) => error,
  )
