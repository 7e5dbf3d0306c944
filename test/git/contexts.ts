import { afterAll, beforeEach, expect } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit, type Git } from '../../src/git/git.ts'
import { commitFiles, type Files, makeRepository, startGitServer } from '../support/git-server.ts'

/* A git server and a Davit for the file of tests that imports this; `lines` is the log of each test. */

export const dir = mkdtempSync(join(tmpdir(), 'davit-context-'))
const served = join(dir, 'served')
const server = startGitServer(served)
export const dataDir = join(dir, 'data')
export const options = { dataDir, allowHosts: ['127.0.0.1'], allowLocalRepos: false }
export const davit: Git = connectGit(options)
export const signal = new AbortController().signal
let turn = 0
export let lines: string[] = []
export const log = (line: string) => void lines.push(line)

beforeEach(() => {
  lines = []
})
afterAll(() => {
  server.stop()
  rmSync(dir, { recursive: true, force: true })
})

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
