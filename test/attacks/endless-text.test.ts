import { expect, test } from 'bun:test'
import { deviceOf } from '../../src/accounts/device.ts'
import { nextPage } from '../../src/accounts/next-page.ts'
import { callsOf } from '../../src/api/calls.ts'
import { jsonSchemaOf } from '../../src/api/document.ts'
import { baseImages } from '../deployments/dockerfile/base-images.ts'
import { explainStep } from '../../src/deployments/explain.ts'
import { BuildError, EngineError } from '../../src/docker/index.ts'
import { LineSplitter } from '../../src/docker/lines.ts'
import { explainPull } from '../../src/docker/pull-failures.ts'
import { parseDotenv } from '../../src/environments/dotenv.ts'
import { parseDockerignore } from '../../src/git/dockerignore.ts'
import { explainGit } from '../../src/git/failures.ts'
import { refuseBranch } from '../../src/git/ref-names.ts'
import { readRepositoryUrl } from '../../src/git/repository-url.ts'
import { GitError } from '../../src/git/run.ts'
import { refuseWatchedPath, watchedBy } from '../../src/git/watched-path.ts'
import { refusePath } from '../../src/git/tree-paths.ts'
import { canonicalHost } from '../../src/platform/hosts.ts'
import { registryOf } from '../../src/registries/image-registry.ts'
import { ansiHtml } from '../../src/web/ansi.ts'
import { camelCase, snakeCase } from '../../src/web/body.ts'
import { networkOf } from '../../src/web/client-address.ts'
import { repositoryAddressOf, plainPath } from '../../src/webhooks/repository-names.ts'
import { sent } from '../webhooks/senders.ts'
import { testApp, withAda } from '../support/app.ts'

/** Characters, and milliseconds of the processor that are far too many for what takes its length. */
const length = 30_000
const tooLong = 500

const pieces = ['a', '-', '.', '/', ' ', '=', '"', '\\', '\r', '\n', '$', '${', '*', '[', '#', '@']
const more = [':', ':1', 'a.', 'a/', 'A=\n', '\x1b[31m', '::', 'exec: "', 'COPY failed ', '/v2/']

const endless = [...pieces, ...more].flatMap((piece) => {
  const run = piece.repeat(length / piece.length)
  return [run, `a${run}x!`]
})

/** Milliseconds of the processor, which a machine that is busy otherwise does not lengthen. */
function timeOf(work: () => unknown) {
  const before = process.cpuUsage().user
  try {
    work()
  } catch {
    // a refusal is as good as an answer
  }
  return (process.cpuUsage().user - before) / 1000
}

const slow = (work: (text: string) => unknown) =>
  endless.filter((text) => timeOf(() => work(text)) > tooLong).map((text) => text.slice(0, 12))

const readers: Record<string, (text: string) => unknown> = {
  'a repository’s address': (text) => readRepositoryUrl(text, { allowLocal: true }),
  'the path of an address': (text) =>
    readRepositoryUrl(`https://a.b/${text}`, { allowLocal: true }),
  'a place of a webhook': repositoryAddressOf,
  'a path of a webhook': plainPath,
  'a branch': refuseBranch,
  'a path': refusePath,
  'a host': canonicalHost,
  'an image': registryOf,
  'an address of a client': networkOf,
  'a user agent': deviceOf,
  'a page to go on to': nextPage,
  'a name of a field': (text) => snakeCase(text) + camelCase(text),
  'a .env file': parseDotenv,
  'a Dockerfile': (text) => baseImages(text, {}),
  'a FROM line': (text) => baseImages(`FROM ${text}`, {}),
  'a .dockerignore': (text) => parseDockerignore(text)('some/path'),
  'a watched path': refuseWatchedPath,
  'a path for a pattern': watchedBy(['**/*a*b*[x-z]']),
  'a line of a log': (text) => ansiHtml(text),
  'the output of a container': (text) => [...new LineSplitter().push(Buffer.from(`${text}\n`))],
  'a refusal of the engine': (text) => explainStep(new EngineError(500, text), 'deploying'),
  'a failure of a build': (text) => explainStep(new BuildError(text), 'building'),
  'a failure of a pull': (text) => explainPull('x', new EngineError(500, text)),
  'a failure of git': (text) => explainGit(new GitError('fetch', [text]), { where: '' }),
}

test.each(Object.entries(readers))('%s takes no longer than its length', (_, read) => {
  expect(slow(read)).toEqual([])
})

test('no field of any form or query takes longer than its length', () => {
  const hard: string[] = []
  for (const { method, path, body, query } of callsOf(testApp().app.routes))
    for (const schema of [body, query])
      for (const field of schema ? namesOf(jsonSchemaOf(schema)) : [])
        for (const text of endless.filter((_, index) => index % 4 < 2))
          for (const value of [text, [text]])
            if (timeOf(() => schema!.safeParse({ [field]: value })) > tooLong)
              hard.push(`${method} ${path} ${field} ${text.slice(0, 12)}`)
  expect(hard).toEqual([])
})

const namesOf = ({ properties = {}, anyOf = [], allOf = [] }: Record<string, any>): string[] => [
  ...new Set(
    [properties, ...[...anyOf, ...allOf].map((one) => one.properties ?? {})].flatMap(Object.keys),
  ),
]

test('a webhook that no one signed costs no more than it is long', async () => {
  const { app } = testApp()
  const name = `a${'/'.repeat(3_000_000)}x`
  const { path, headers, body } = sent.github({ repository: { full_name: name, clone_url: name } })
  const before = process.cpuUsage().user
  const { status } = await app.request(path, { method: 'POST', headers, body })
  expect(status).toBeOneOf([400, 401])
  expect((process.cpuUsage().user - before) / 1000).toBeLessThan(3_000)
})

const depth = 10_000
const odd: Record<string, string> = {
  'lists in lists': '['.repeat(depth) + ']'.repeat(depth),
  'objects in objects': '{"name":'.repeat(depth) + '1' + '}'.repeat(depth),
  'lists in a field': `{"name":${'['.repeat(depth)}${']'.repeat(depth)},"repository":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  'huge numbers': `{"name":${'9'.repeat(100_000)},"keepImages":1e999,"repository":-1e999}`,
  'a key twice': '{"name":"a","name":7,"repository":{},"repository":7}',
  'a prototype': '{"__proto__":{"name":"x"},"constructor":{"prototype":{"name":"x"}}}',
  'half of it': '{"name":"',
  'nothing but a text': '"name"',
  'bytes that are no UTF-8': Buffer.from([0x7b, 0xff, 0xfe, 0x7d]).toString('latin1'),
}

test('odd JSON is refused like any other, from users and from webhooks', async () => {
  const { t, ada } = withAda(testApp())
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
  for (const [what, body] of Object.entries(odd)) {
    const answer = await ada.send('/projects', { method: 'POST', headers, body })
    expect(answer.status, what).toBeOneOf([400, 422])
    expect(answer.headers.get('Content-Type'), what).toBe('application/problem+json')
    for (const provider of ['github', 'gitlab', 'gitea'] as const) {
      const { path, headers } = sent[provider](body)
      const { status } = await t.app.request(path, { method: 'POST', headers, body })
      expect(status, `${provider}: ${what}`).toBeOneOf([400, 401])
    }
  }
  expect((await ada.get('/projects')).json.items).toEqual([])
  expect(({} as Record<string, unknown>).name).toBeUndefined()
})
