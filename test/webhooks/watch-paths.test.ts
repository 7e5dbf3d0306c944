import { describe, expect, test } from 'bun:test'
import { gitea } from '../../src/webhooks/gitea.ts'
import { github } from '../../src/webhooks/github.ts'
import { gitlab } from '../../src/webhooks/gitlab.ts'
import { touches } from '../../src/webhooks/watch-paths.ts'
import { aProject, aPush, aReceiver, post, sent } from './senders.ts'

test.each([
  [[], ['anything'], true],
  [['src'], ['src/a/b.ts'], true],
  [['src/'], ['src/a.ts'], true],
  [['./src/**'], ['src/a.ts'], true],
  [['/src'], ['src/a.ts'], true],
  [['*.md'], ['README.md'], true],
  [['*.md'], ['docs/README.md'], false],
  [['**/*.md'], ['docs/a/README.md'], true],
  [['src', 'Dockerfile'], ['docs/x', 'Dockerfile'], true],
  [['src'], ['srcs/a.ts', 'lib/src/a.ts'], false],
])('%j watches %j: %p', (patterns, paths, expected) => {
  expect(touches(patterns, paths)).toBe(expected)
})

test('a pattern takes no more than its time', () => {
  const from = performance.now()
  touches(['a*a*a*a*a*a*a*a*a*b'], ['a'.repeat(50_000)])
  expect(performance.now() - from).toBeLessThan(500)
})

const commit = (files: Record<string, string[]>, id = 'b'.repeat(40)) => ({
  id,
  message: 'x',
  ...files,
})

describe('a push to a project that watches paths', () => {
  const pushOf = (changes: Record<string, unknown>) => aPush(changes)

  const status = async (push: unknown) => {
    const t = aReceiver()
    await aProject(t.owner)
    t.db.$client.run('UPDATE projects SET watch_paths = ?', [JSON.stringify(['src/**'])])
    return (await post(t, sent.github(push))).status
  }

  test.each(['added', 'modified', 'removed'])('deploys when a file in one was %s', async (how) => {
    const commits = [commit({ added: ['docs/a'] }), commit({ [how]: ['docs/b', 'src/c'] })]
    expect(await status(pushOf({ commits }))).toBe(202)
  })

  test('does not deploy when none was touched', async () => {
    expect(await status(pushOf({ commits: [commit({ added: ['docs/a'] })] }))).toBe(200)
  })

  test.each([
    ['was forced', { forced: true }],
    ['made the branch', { before: '0'.repeat(40) }],
    ['lists no commits', { commits: [] }],
    ['has a commit without files', { commits: [commit({ added: ['docs/a'] }), commit({})] }],
    [
      'has as many commits as are ever listed',
      { commits: Array(2048).fill(commit({ added: ['docs/a'] })) },
    ],
    [
      'has a commit of very many files',
      { commits: [commit({ added: Array(3000).fill('docs/a') })] },
    ],
  ])('deploys when it %s, for files may be missing from it', async (_, changes) => {
    expect(await status(pushOf({ commits: [commit({ added: ['docs/a'] })], ...changes }))).toBe(202)
  })
})

test('GitLab and Gitea say how many commits they left out', () => {
  const commits = [commit({ added: ['docs/a'] })]
  const base = { ...aPush(), object_kind: 'push', project: {}, commits }
  const paths = (total: number | undefined) => [
    gitlab.readPush({ ...base, total_commits_count: total })!.paths,
    gitea.readPush({ ...base, total_commits: total })!.paths,
  ]
  expect(paths(1)).toEqual([['docs/a'], ['docs/a']])
  expect(paths(2)).toEqual([null, null])
  expect(paths(undefined)).toEqual([null, null])
  expect(github.readPush(base)!.paths).toEqual(['docs/a'])
})
