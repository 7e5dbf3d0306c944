import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { unknownSettings } from '../src/config.ts'
import { renderMarkdown } from '../src/docs/markdown.ts'
import { limits } from '../src/platform/limits.ts'
import { stopCodes } from '../src/runtime/crash-count.ts'
import manifest from '../package.json' with { type: 'json' }
import { testApp } from './support/app.ts'

const root = join(import.meta.dir, '..')
const folder = 'assets/docs'
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Variables that Davit sets for apps. */
const ofApps = read('src/links/effective.ts').match(/(?<=^ {2})DAVIT_[A-Z_]+(?=:)/gm)!

const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))
const documents = ['README.md', ...names.map((name) => `${folder}/${name}`)].map((path) => {
  const text = read(path)
  const links: string[] = []
  const { headings } = renderMarkdown(text, (href) => {
    links.push(href)
    return href
  })
  for (const [, picture] of text.matchAll(/\b(?:src|srcset)="([^"]+)"/g)) links.push(picture!)
  const code = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!)
  return { path, text, links, code, ids: headings.map(({ id }) => id) }
})
const all = documents.map(({ text }) => text).join('\n')

const sources = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(join(root, 'src'))].map((path) => ({
  path,
  text: read(`src/${path}`),
}))

/** Whether it leads to a document that is there, and to one of its headings. */
function leadsSomewhere(from: string, href: string) {
  const [file, heading] = href.split('#') as [string, string?]
  const path = file ? normalize(join(dirname(from), file)) : from
  if (!existsSync(join(root, path))) return false
  return !heading || documents.find((one) => one.path === path)!.ids.includes(heading)
}

test('README has 150 lines at most', () => {
  expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(150)
})

describe('of README and the documentation', () => {
  test('every link leads to a file and a heading that are there', () => {
    const broken = documents.flatMap(({ path, links }) =>
      links
        .filter((href) => !/^https?:/.test(href) && !leadsSomewhere(path, href))
        .map((href) => `${path}: ${href}`),
    )
    expect(documents.flatMap(({ links }) => links).length).toBeGreaterThan(60)
    expect(broken).toEqual([])
  })

  test('documents link to nothing that Davit does not serve', () => {
    const outside = documents.flatMap(({ path, links }) =>
      path === 'README.md' ? [] : links.filter((href) => /^(\.\.|\/)/.test(href)),
    )
    expect(outside).toEqual([])
  })

  test('the contents list every document', () => {
    const { links } = documents.find(({ path }) => path === `${folder}/README.md`)!
    expect(links.toSorted()).toEqual(names.filter((name) => name !== 'README.md').toSorted())
  })

  test('every setting that is named is one, and the settings have all of them', () => {
    const examples = [
      'DAVIT_SEED',
      'DAVIT_KINDS',
      'DAVIT_WATCH_ROUNDS',
      'DAVIT_SERVER',
      'DAVIT_TOKEN',
    ] // of tests, and of a client
    const named = [...new Set(all.match(/\bDAVIT_[A-Z_]+\b/g))]
    const unknown = unknownSettings(Object.fromEntries(named.map((name) => [name, ''])))
    const others = [...examples, ...ofApps]
    expect(unknown.filter((name) => !others.includes(name))).toEqual([])
    const settings = read('src/config.ts').match(/(?<=^ {2})(DAVIT|DOCKER)_[A-Z_]+(?=:)/gm)!
    expect(settings.length).toBeGreaterThan(30)
    const told = read(`${folder}/settings.md`)
    expect(settings.filter((name) => !told.includes(`\`${name}\``))).toEqual([])
  })

  test('every address that is named has a route', () => {
    const routes = testApp().app.routes.map(({ method, path }) => [method, plain(path)] as const)
    const wrong = documents.flatMap(({ path, code }) =>
      code.flatMap((span) => {
        const [, verb, address] = /^(?:(GET|POST|PUT|DELETE) )?([/…][^\s?]*)/.exec(span) ?? []
        if (!address || /^(…|\/|\/(var|etc|usr|backup|path|data)\b.*)$/.test(address)) return []
        const asked = RegExp(`^${plain(address).replace('…', '.*')}$`)
        const isThere = routes.some(
          ([method, route]) => (!verb || verb === method) && asked.test(route),
        )
        return isThere ? [] : [`${path}: ${span}`]
      }),
    )
    expect(wrong).toEqual([])
  })

  test('every option of davit, and every script of npm, is one', () => {
    const usage = read('src/cli.ts') + read('src/cli/connect.ts') + read('test/demo/main.ts')
    const ofOthers = [
      '--from',
      '--datadir',
      '--dbpath',
      '--checksum',
      '--resume',
      '--init',
      '--fail-with-body',
      '--retry',
      '--exclude',
      '--read-data',
      '--tag',
      '--dport',
      '--ctdir',
      '--ctorigdst',
      '--ctorigdstport',
    ]
    const named = [...new Set(all.match(/(?<=[\s`])--[a-z][a-z-]*/g))]
    const isOption = (name: string) => usage.includes(name) || ofOthers.includes(name)
    expect(named.filter((name) => !shellOptions.test(name) && !isOption(name))).toEqual([])
    const scripts = [...all.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!)
    expect(scripts.filter((name) => !(name in manifest.scripts) && name !== 'worker')).toEqual([])
  })

  test('every button that is named is on a page', () => {
    const ofPages = documents.filter(({ path }) =>
      /(first-app|apps|deployments|services)\.md$/.test(path),
    )
    const named = ofPages.flatMap(({ text }) => [...text.matchAll(/\*\*([^*]+)\*\*/g)])
    const onPages = sources.map(({ text }) => text).join('\n')
    expect(named.length).toBeGreaterThan(4)
    expect(named.map(([, name]) => name!).filter((name) => !onPages.includes(name))).toEqual([])
  })

  test('every file that is named is there', () => {
    const named = documents.flatMap(({ code }) =>
      code.filter((span) => /^(src|test|assets)\/[\w./-]+$/.test(span)),
    )
    expect(named).not.toBeEmpty()
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const tests = [...read(`${folder}/security.md`).matchAll(/`([\w/-]+(?:\.long)?\.test\.tsx?)`/g)]
    expect(tests.length).toBeGreaterThan(30)
    expect(tests.filter(([, path]) => !existsSync(join(import.meta.dir, path!)))).toEqual([])
  })
})

/** Of other programs, in commands for a shell and in a Dockerfile. */
const shellOptions = /^--(system|create-home|home-dir|groups|now|omit|name)$/

/** Without the names of ids, and what they must look like. */
const plain = (path: string) =>
  path.replaceAll(/:\w+(\{[^/]*\})?|\{\w+\}/g, '_').replace(/\/\*$/, '/_')

test('the folders of src are listed where it is said how Davit is built', () => {
  const text = read(`${folder}/development.md`)
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  expect(folders.filter((name) => !RegExp(`^ {4}(\\w+, )*${name}\\b.*  `, 'm').test(text))).toEqual(
    [],
  )
})

test('the limits have the numbers of the code', () => {
  const text = read(`${folder}/limits.md`)
  for (const [what, number] of Object.entries(limits))
    expect(text, what).toContain(`| ${number.toLocaleString('en')}`)
})

test('every reason that work can fail for is explained, and nothing else', () => {
  const elsewhere =
    /^(backup\/|backups\/server|cli|db|domains|edge|releases|server|config\.ts|serve\.ts)/ // shown with what to do, without a code
  const onCommandLine = ['no_certificates', 'key_cut_short', 'key_missing', 'release_signature']
  const ofConnect = ['engine_remote']
  const ofUsage = ['engine_unmeasured']
  const code = /new Failure\(\s*'([a-z_]+)'|\bcode: '([a-z_]+)'|\botherwise(?:: | = )'([a-z_]+)'/g
  const codes = sources
    .filter(({ path }) => !elsewhere.test(path))
    .flatMap(({ text }) => [...text.matchAll(code)].map(([, a, b, c]) => (a ?? b ?? c)!))
    .filter((name) => !['custom', ...onCommandLine, ...ofConnect, ...ofUsage].includes(name))
  const { ids } = documents.find(({ path }) => path === `${folder}/failures.md`)!
  const explained = ids.filter((id) => read(`${folder}/failures.md`).includes(`### \`${id}\``))
  expect(explained.toSorted()).toEqual([...new Set([...codes, ...stopCodes])].toSorted())
})

test('every link of a page to the documentation leads to a document and a heading', () => {
  const links = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\bdoc(?:=|: )["']([^"']+)["']/g)].map(([, to]) => ({ path, to: to! })),
  )
  expect(links.length).toBeGreaterThan(20)
  const broken = links.filter(({ to }) => {
    const [name, heading] = to.split('#')
    return !leadsSomewhere(`${folder}/README.md`, `${name}.md${heading ? `#${heading}` : ''}`)
  })
  expect(broken).toEqual([])
})
