import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit } from '../../src/git/git.ts'
import { sampleUrl } from '../../src/git/sample.ts'

const signal = AbortSignal.timeout(60_000)

function open() {
  const dataDir = mkdtempSync(join(tmpdir(), 'davit sample='))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const asked: string[] = []
  const lookup = (name: string) => {
    asked.push(name)
    return Promise.reject(new Error('no name is known'))
  }
  const git = connectGit({ dataDir, allowHosts: [], allowLocalRepos: false, lookup })
  const fetch = (url: string) =>
    git.fetch({ url, branch: null, commit: null, signal, log: () => {} })
  return { dataDir, git, fetch, asked }
}

test('the sample app comes without a network, the same commit everywhere', async () => {
  const [one, other] = [open(), open()]
  const snapshot = await one.fetch(sampleUrl)
  expect(snapshot).toMatchObject({
    url: sampleUrl,
    branch: 'main',
    commit: { message: 'Say hello' },
  })
  expect((await other.fetch(sampleUrl)).commit.hash).toBe(snapshot.commit.hash)
  expect((await one.fetch(sampleUrl)).commit.hash).toBe(snapshot.commit.hash)
  const { branches } = await one.git.listBranches({ url: sampleUrl, signal })
  expect(branches.map(({ name }) => name)).toEqual(['main'])
  expect(one.asked).toEqual([])
})

test('a sample that was not finished, or is of another version, is written again', async () => {
  const { dataDir, fetch } = open()
  const { commit } = await fetch(sampleUrl)
  const folder = join(dataDir, 'sample')
  const names = readdirSync(folder)
  expect(names).toHaveLength(1)
  rmSync(folder, { recursive: true })
  rmSync(join(dataDir, 'mirrors'), { recursive: true })
  for (const left of ['fresh.git', 'older.git']) {
    const path = join(folder, left)
    await Bun.write(join(path, 'HEAD'), 'ref: refs/heads/other')
    writeFileSync(join(path, 'config'), '[core]')
  }
  expect((await fetch(sampleUrl)).commit.hash).toBe(commit.hash)
  expect(readdirSync(folder)).toEqual(names)
})

test('no other address leads into the data folder', async () => {
  const { dataDir, fetch, asked } = open()
  await fetch(sampleUrl)
  const [name] = readdirSync(join(dataDir, 'sample'))
  const path = join(dataDir, 'sample', name!)
  for (const url of [path, `file://${path}`, `${sampleUrl}/../${name}`, `${sampleUrl}?x=1`])
    expect(await fetch(url).catch(({ code }) => code), url).toMatch(
      /^(repository_refused|host_unresolved)$/,
    )
  expect(new Set(asked)).toEqual(new Set(['sample.davit.invalid']))
})
