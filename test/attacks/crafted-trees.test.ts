import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit } from '../../src/git/git.ts'
import {
  commitFiles,
  git,
  makeRepository,
  startGitServer,
  ownDockerfile,
} from '../support/git-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-trees-'))
const server = startGitServer(dir)
const davit = connectGit({
  dataDir: join(dir, 'data'),
  allowHosts: ['127.0.0.1'],
  allowLocalRepos: false,
})
const signal = new AbortController().signal
const log = () => {}
afterAll(() => {
  server.stop()
  rmSync(dir, { recursive: true, force: true })
})

type Made = { path: string; blob: string }
type Entry = [mode: string, name: string, hash: string]

/** A tree with whatever entries, which git itself would not write. */
function treeOf({ path }: Made, ...entries: Entry[]) {
  const lines = entries.map(([mode, name, hash]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(hash, 'hex')]),
  )
  const command = ['git', '-C', path, 'hash-object', '-t', 'tree', '-w', '--stdin', '--literally']
  return Bun.spawnSync(command, { stdin: Buffer.concat(lines) })
    .stdout.toString()
    .trim()
}

/** What of the tree would reach the engine, as tar lists it, or the code of the refusal. */
async function sent(name: string, entryOf: (made: Made) => Entry) {
  const path = makeRepository(dir, `${name}.git`)
  commitFiles(path, { Dockerfile: 'FROM busybox\n' })
  const made = { path, blob: git(path, ['rev-parse', 'main:Dockerfile']) }
  const dockerfile: Entry = ['100644', 'Dockerfile', made.blob]
  const tree = treeOf(made, dockerfile, entryOf(made))
  const commit = git(path, ['commit-tree', '-m', 'crafted', tree])
  git(path, ['update-ref', 'refs/heads/main', commit])
  try {
    const asked = { url: `${server.url}${name}.git`, branch: 'main', commit: null, signal, log }
    const options = { contextDir: '.', ...ownDockerfile, signal, log }
    const context = await davit.context(await davit.fetch(asked), options)
    const tar = join(dir, `${name}.tar`)
    await Bun.write(tar, new Response(await davit.archive(context, { signal })))
    const listed = Bun.spawnSync(['tar', '-tvf', tar]).stdout.toString().trim().split('\n')
    return listed.map((line) => `${line.slice(0, 10)} ${line.split(' ').at(-1)}`)
  } catch (error) {
    return (error as { code?: string }).code
  }
}

const dockerfile = '-rw-r--r-- Dockerfile'

test.each<[string, (made: Made) => Entry]>([
  ['..', (made) => ['40000', '..', treeOf(made, ['100644', 'evil', made.blob])]],
  ['a path that climbs', ({ blob }) => ['100644', '../../evil', blob]],
  ['an absolute path', ({ blob }) => ['100644', '/tmp/evil', blob]],
])('a tree with %s in it fails before the engine sees it', async (what, entryOf) => {
  expect(await sent(what.replace(/\W/g, '-'), entryOf)).toBe('git_failed')
})

test('a tree has neither devices, pipes nor setuid files to give', async () => {
  const modes = { pipe: '10644', device: '60644', socket: '140644' }
  for (const [name, mode] of Object.entries(modes))
    expect(await sent(name, ({ blob }) => [mode, name, blob])).toEqual([
      dockerfile,
      `drwxr-xr-x ${name}/`, // as the place of a submodule
    ])
  expect(await sent('suid', ({ blob }) => ['104755', 'suid', blob])).toEqual([
    dockerfile,
    '-rwxr-xr-x suid',
  ])
})

test('a folder .git in whatever case is left out', async () => {
  const crafted = (made: Made): Entry => ['40000', '.GiT', treeOf(made, ['100644', 'x', made.blob])]
  expect(await sent('dot-git', crafted)).toEqual([dockerfile])
})
