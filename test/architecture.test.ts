import { describe, expect, test } from 'bun:test'
import { dirname, join, normalize } from 'node:path'
import { programs } from '../src/platform/program.ts'

const source = join(import.meta.dir, '../src')

/** Top to bottom: a folder or file of `src` may import only what stands on a later line. */
const lines = [
  'main.ts parse-worker.ts',
  'cli.ts',
  'client',
  'cli',
  'serve.ts',
  'upkeep.ts',
  'server',
  'doctor',
  'app.tsx',
  'front.ts',
  'assemble.ts',
  'api',
  'palette metrics',
  'webhooks home admin docs',
  'map',
  'apps moves',
  'previews',
  'backups',
  'backup',
  'schedules drains',
  'runs',
  'deployments',
  'links domains traffic',
  'services containers',
  'environments',
  'projects',
  'addresses',
  'runtime',
  'jobs',
  'logs',
  'accounts',
  'notifications',
  'git registries servers',
  'resources',
  'audit',
  'web',
  'docker edge releases',
  'live db',
  'config.ts',
  'detection',
  'platform',
].map((line) => line.split(' '))

const placeOf = (path: string) => path.split('/')[0]!
const lineOf = (place: string) => lines.findIndex((line) => line.includes(place))

/** The modules that a text names where it imports, re-exports, or asks for the type of one. */
const namedIn = (text: string) =>
  Array.from(
    text.matchAll(
      /^(?:im|ex)port (?:type )?[\w$*\s{},]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\(\s*'([^']+)'/gm,
    ),
    ([, from, bare, inline]) => from ?? bare ?? inline!,
  )

const transpiler = new Bun.Transpiler({ loader: 'tsx' })
const files = await Promise.all(
  [...new Bun.Glob('**/*.{ts,tsx}').scanSync(source)].sort().map(async (path) => {
    const text = await Bun.file(join(source, path)).text()
    return {
      path,
      lineCount: text.split('\n').length - 1,
      /** What runs: neither comments nor types, so that both may name what the code may not. */
      code: transpiler.transformSync(text),
      imports: transpiler.scanImports(text).map((found) => found.path),
      /** What it imports, types included, which are gone when it runs. */
      named: namedIn(text),
    }
  }),
)

const filesThatImport = (specifier: RegExp) =>
  files.filter((file) => file.imports.some((path) => specifier.test(path))).map(({ path }) => path)
const filesWith = (code: RegExp) =>
  files.filter((file) => code.test(file.code)).map(({ path }) => path)
const except = (paths: string[], allowed: RegExp) => paths.filter((path) => !allowed.test(path))

describe('a file of src', () => {
  test('imports only downwards, types too', () => {
    const wrong = files.flatMap(({ path, named }) =>
      named
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => normalize(join(dirname(path), specifier)))
        .filter((target) => !target.startsWith('..'))
        .filter((target) => !mayImport(placeOf(path), placeOf(target)))
        .map((target) => `${path} -> ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('names each module that it imports where the test above looks', () => {
    const lost = files.flatMap(({ path, imports, named }) =>
      imports
        .filter((specifier) => !/^react(\/|$)/.test(specifier) && !named.includes(specifier))
        .map((specifier) => `${path} -> ${specifier}`),
    )
    expect(lost).toEqual([])
    expect(namedIn("export type {\n  A,\n} from './a.ts'\n")).toEqual(['./a.ts'])
    expect(namedIn("type B = typeof import('./b.ts')\n")).toEqual(['./b.ts'])
  })

  test('stands in a folder, but for nine', () => {
    expect(files.filter(({ path }) => !path.includes('/')).length).toBeLessThanOrEqual(9)
  })

  test('has a place in the order', () => {
    const places = new Set(files.map(({ path }) => placeOf(path)))
    expect([...places].filter((place) => lineOf(place) === -1)).toEqual([])
  })

  test('has 300 lines at most', () => {
    const long = files.filter(({ lineCount }) => lineCount > 300)
    expect(long.map(({ path, lineCount }) => `${path}: ${lineCount}`)).toEqual([])
  })
})

test('a file of the tests has 300 lines at most', async () => {
  const long: string[] = []
  for (const path of new Bun.Glob('**/*.{ts,tsx}').scanSync(import.meta.dir)) {
    const lineCount = (await Bun.file(join(import.meta.dir, path)).text()).split('\n').length - 1
    if (lineCount > 300) long.push(`${path}: ${lineCount}`)
  }
  expect(long).toEqual([])
})

describe('only one file knows', () => {
  test('docker-modem', () => {
    expect(except(filesThatImport(/^docker-modem/), /^docker\/modem\.ts$/)).toEqual([])
  })

  test('the packages that do cryptography', () => {
    expect(except(filesThatImport(/^@oslojs\//), /^platform\/secrets\.ts$/)).toEqual([])
  })

  test('how to start a process', () => {
    expect(except(filesWith(/\bspawn(Sync)?\b/), /^platform\/program\.ts$/)).toEqual([])
  })
})

describe('no text becomes a program:', () => {
  /** What would hand text to a shell or to the engine of JavaScript, by what would do so. */
  const doors: [string, RegExp, string[]][] = [
    ['a shell by its template', /\$`/, ['await $`ls ${path}`', 'Bun.$`ls`']],
    ['the shell as an object', /\bBun\.\$|\{[^{}]*\$[^{}]*\}\s*=\s*Bun\b/, ['Bun.$.cwd("/")']],
    ['a shell asked for', /\bshell:/, ['{ shell: true }', '{ shell: "/bin/bash" }']],
    ['a shell by its name', /["'`](\/(usr\/)?bin\/)?(ba|da|z|k)?sh["'`]/, ['["sh", "-c", x]']],
    ['exec of Node', /\b(exec|execFile|spawn|fork)Sync\(|\b(execFile|fork)\(/, ['execSync(x)']],
    [
      'child_process',
      /child_process/,
      ['require("node:child_process")', 'import("child_process")'],
    ],
    ['eval', /\beval\s*\(|\beval\b(?=[,)\]])/, ['eval(text)', '(0, eval)(text)']],
    [
      'Function of a text',
      /\bFunction\s*\(|\bFunction\.prototype|\.constructor\(/,
      ['new Function("x")'],
    ],
    ['node:vm', /["'`](node:)?vm["'`]/, ['import vm from "node:vm"']],
    ['a timer of a text', /\bset(Timeout|Interval)\(\s*["'`]/, ['setTimeout("x()", 1)']],
    ['markup that is not escaped', /dangerouslySetInnerHTML/, ['{ dangerouslySetInnerHTML: x }']],
  ]

  test.each(doors)('%s', (_, door, examples) => {
    for (const example of examples) expect(example).toMatch(door)
    // The shells of a HEALTHCHECK, of a terminal, of a backup and of a written Dockerfile run inside the container, and the engine starts them; that of the user of a server that joined, its sshd.
    const allowed = door.source.includes('(ba|da|z|k)?sh')
      ? /^(docker\/(health-test|terminal)|detection\/text|server\/accounts|runtime\/volume-streams|backups\/(restic\/run|recipes\/tool))\.ts$/
      : /^$/
    expect(except(filesWith(door), allowed)).toEqual([])
  })

  test('programs are started by a list of arguments, and only these', () => {
    const { code } = files.find(({ path }) => path === 'platform/program.ts')!
    expect(code.match(/\bBun\.spawn\w*\(\S+/g)).toEqual(['Bun.spawn([file,'])
    expect(programs.join(' ')).toBe(
      'git open xdg-open apt-get davit dnf dpkg iptables journalctl ssh sshd sync systemctl useradd userdel usermod',
    )
  })

  test('git and a browser are started for repositories and users, the rest to install Davit on a server', () => {
    const starters = filesThatImport(/\bplatform\/program\.ts$/)
    expect(
      except(starters, /^(git\/run\.ts$|server\/|client\/(browser|working-copy)\.ts$)/),
    ).toEqual([])
    const { code } = files.find(({ path }) => path === 'git/run.ts')!
    expect(code.match(/argv: \[\s*\S+/g)).toEqual([expect.stringMatching(/"git",$/)])
  })
})

test('only the runtime makes, starts, stops and removes containers, networks and volumes', () => {
  const verb =
    /\.(create|start|stop|restart|remove|connect|disconnect)(Container|Network|Volume)\b|\.(setRestartPolicy|putArchive)\b/
  expect(except(filesWith(verb), /^(docker|runtime)\//)).toEqual([])
})

test('containers of releases come, run and go by the verbs of the runtime', () => {
  const verb = /\.(create|start|stop|remove)Container\b/
  // what isn't of a release is an ordinary container of one engine
  const alone = ['act', 'backup-containers', 'edge-container', 'freeze', 'test-container']
  const engineSide = ['on-engine', ...alone].map((name) => `runtime/${name}.ts`)
  expect(filesWith(verb).filter((path) => !path.startsWith('docker/'))).toEqual(
    engineSide.toSorted(),
  )
})

test('queries stand in store files, tables there and where a resource is described', () => {
  const stores = /^db\/|(^|\/|-)store\.ts$/
  const resources = filesWith(/\bresource\(\{/)
  expect(except(filesThatImport(/^drizzle-orm/), stores)).toEqual([])
  const users = except(filesThatImport(/\bdb\/(log-)?schema\.ts$/), stores)
  expect(users.filter((path) => !resources.includes(path))).toEqual([])
})

function mayImport(from: string, to: string) {
  return from === to || lineOf(from) < lineOf(to)
}

/** Of the program, the engine or a text: the same for every installation in a process. */
const sharedState = [
  'db/queries.ts', // by table
  'docker/lent.ts', // by the memory of a chunk
  'docs/documents.ts',
  'git/look-up.ts', // turns at other servers
  'git/providers/ask.ts',
  'git/tip.ts',
  'projects/webhook.ts',
  'runtime/edge-container.ts', // names on the engine
  'runtime/images/lock.ts',
  'runtime/network.ts',
  'runtime/remove.ts',
  'services/own-file.ts', // by the text that was read
  'services/provides.ts',
  'services/stored-definition.ts',
  'web/checks.ts', // by handler
  'web/form-fields.ts', // by request
  'web/form-method.ts',
  'web/static.ts',
]

test('the state of an installation stands in objects of assemble', () => {
  const kept =
    /^(export )?(const|let|var) \w+ = new (Map|WeakMap|Set|WeakSet|\w*(Cache|Lock|Queue))\(?(\d*|\{.*)\)?;?$/m
  expect(filesWith(kept)).toEqual(sharedState)
})
