import { describe, expect, test } from 'bun:test'
import { gitea } from '../../src/webhooks/gitea.ts'
import { github } from '../../src/webhooks/github.ts'
import { gitlab } from '../../src/webhooks/gitlab.ts'
import { touchesEach, untouchedBy } from '../../src/webhooks/watch-paths.ts'
import { aProject, aPush, aReceiver, post, sent } from './senders.ts'

test.each([
  [[], ['anything'], true],
  [['src'], ['src/a/b.ts'], true],
  [['src', 'Dockerfile'], ['docs/x', 'Dockerfile'], true],
  [['src'], ['srcs/a.ts', 'lib/src/a.ts'], false],
])('%j watches %j: %p', (patterns, paths, expected) => {
  expect(touchesEach([patterns], paths)).toEqual([expected])
})

/** As the fields of a project allow: a hundred patterns, ten stars in each. */
const hardest = Array.from({ length: 100 }, (_, i) => `${'*a'.repeat(9)}*${'a'.repeat(500)}?c${i}`)

test('what takes too long to compare counts as touched, and the loop goes on meanwhile', async () => {
  const project = { ownerId: 'ada', watchPaths: hardest, contextDir: '.' }
  const environments = [{ id: 'e', codeSettings: null }]
  let beats = 0
  const beat = setInterval(() => beats++, 5)
  const paths = Array(10).fill('a'.repeat(50_000))
  expect(await untouchedBy({ paths }, [{ project, environments }])).toEqual(new Set())
  clearInterval(beat)
  expect(beats).toBeGreaterThan(3)
})

test.each([
  [['src/x'], []],
  [['app/davit.yaml'], []],
  [['docs/x'], ['coded', 'plain']],
  [['lib/x'], ['coded']],
])(
  'each environment has the paths of its commit, with their file, or the project’s: %j',
  async (paths, untouched) => {
    const project = { ownerId: 'ada', watchPaths: ['lib', 'src', 'app'], contextDir: 'app' }
    const settings = { watchPaths: ['src'] }
    const environments = [
      { id: 'coded', codeSettings: { file: 'davit.yaml', settings } },
      { id: 'all', codeSettings: { file: 'davit.yaml', settings: { watchPaths: [] } } },
      { id: 'plain', codeSettings: null },
    ]
    expect(await untouchedBy({ paths }, [{ project, environments }])).toEqual(new Set(untouched))
  },
)

const commit = (files: Record<string, string[]>, id = 'b'.repeat(40)) => ({
  id,
  message: 'x',
  ...files,
})

describe('a push to a project that watches paths', () => {
  const pushOf = (changes: Record<string, unknown>) => aPush(changes)

  const status = async (push: unknown) => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    await t.owner.put(`/projects/${id}/settings`, { watchPaths: ['src/**'] })
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

describe('the watched paths of a project', () => {
  test('are a list, or lines of a form, and null clears them', async () => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    const path = `/projects/${id}/settings`
    const fields = { watch_paths: ' src/** \r\n\r\nDockerfile' }
    expect((await t.owner.htmx('PUT', path, fields)).text).toContain('src/**\nDockerfile')
    expect((await t.owner.get(path)).json.watchPaths).toEqual(['src/**', 'Dockerfile'])
    expect((await t.owner.put(path, { keepImages: 3 })).json.watchPaths).toHaveLength(2)
    expect((await t.owner.put(path, { watchPaths: null })).json.watchPaths).toEqual([])
  })

  test.each<[unknown]>([
    [['ok', '/etc/passwd']],
    [['ok', '../x']],
    [['ok', 'a/../../b']],
    [['ok', 'a\\b']],
    [['ok', '!docs']],
    [['ok', 'a\nb']],
    [['ok', 'src, lib']],
    [['ok', 'src/{web']],
    [['ok', 'x'.repeat(501)]],
    [Array(101).fill('a')],
    [[7]],
    [{}],
    [7],
  ])('are not %j', async (watchPaths) => {
    const t = aReceiver()
    const { id } = await aProject(t.owner)
    const { status, json } = await t.owner.put(`/projects/${id}/settings`, { watchPaths })
    expect(status).toBe(422)
    expect(json.errors).toMatchObject([{ field: 'watchPaths' }])
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
