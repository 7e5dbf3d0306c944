import type { Files, JsonObject } from './files.ts'
import { objectOf, stringOf } from './files.ts'
import { dependenciesOf, packageManagerOf } from './package-manager.ts'
import type { Workspace } from './plan.ts'

/** The globs or paths of its members. */
type Patterns = { tool: string; include: string[]; exclude: string[] }

type Description = {
  name: string | null
  /** `directories` are relative to it. */
  uses: { names: string[]; directories: string[] }
  isRead: boolean
}

type Kind = {
  language: Workspace['language']
  /** Null where the top of these files doesn't join packages. */
  read: (files: Files) => Patterns | null
  /** The name of the file that each member has, as a regular expression. */
  manifest: string
  describe: (files: Files, directory: string) => Description
  /** Files and folders at the root that may change how a member is built. */
  rootFiles: string[]
}

export const kinds: Kind[] = [
  {
    language: 'node',
    read(files) {
      const own = objectOf(files.json('package.json')['workspaces'])['packages']
      const listed = [
        ...stringsOf(own ?? files.json('package.json')['workspaces']),
        ...stringsOf(files.yaml('pnpm-workspace.yaml')['packages']),
      ]
      return listed.length === 0 ? null : { tool: packageManagerOf(files).name, ...signed(listed) }
    },
    manifest: String.raw`package\.json`,
    describe: (files, directory) =>
      described(files, `${directory}/package.json`, (path) => {
        const manifest = files.json(path)
        const all = { ...objectOf(manifest['peerDependencies']), ...dependenciesOf(manifest) }
        const ranges = Object.values(all).flatMap((range) => stringOf(range) ?? [])
        const captured = (pattern: RegExp) =>
          ranges.flatMap((range) => pattern.exec(range)?.[1] ?? [])
        return {
          name: nameOf(manifest),
          uses: {
            names: [...Object.keys(all), ...captured(/^workspace:(@?[^@]+)@/)],
            directories: captured(/^(?:file|link|portal):(.+)$/),
          },
        }
      }),
    rootFiles: [
      ...['package.json', 'package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'],
      ...['bun.lockb', 'pnpm-workspace.yaml', '.npmrc', '.yarnrc.yml', 'bunfig.toml', 'patches'],
      ...['turbo.json', 'nx.json', 'tsconfig.json', 'tsconfig.base.json', '.nvmrc'],
      ...['.node-version', '.bun-version', '.tool-versions'],
    ],
  },
  {
    language: 'rust',
    read(files) {
      const { members, exclude } = objectOf(files.toml('Cargo.toml')['workspace'])
      const include = stringsOf(members)
      return include.length === 0 ? null : { tool: 'cargo', include, exclude: stringsOf(exclude) }
    },
    manifest: String.raw`Cargo\.toml`,
    describe: (files, directory) =>
      described(files, `${directory}/Cargo.toml`, (path) => {
        const manifest = files.toml(path)
        const used = ['dependencies', 'dev-dependencies', 'build-dependencies'].flatMap((kind) =>
          Object.entries(objectOf(manifest[kind])),
        )
        const shared = objectOf(objectOf(files.toml('Cargo.toml')['workspace'])['dependencies'])
        const pathIn = (value: unknown) => stringOf(objectOf(value)['path'])
        return {
          name: nameOf(objectOf(manifest['package'])),
          uses: {
            names: [],
            directories: used.flatMap(([name, value]) => {
              const own = pathIn(value)
              if (own !== null) return [own]
              const common = objectOf(value)['workspace'] === true ? pathIn(shared[name]) : null
              return common === null ? [] : [`${up(directory)}${common}`]
            }),
          },
        }
      }),
    rootFiles: ['Cargo.toml', 'Cargo.lock', 'rust-toolchain', 'rust-toolchain.toml', '.cargo'],
  },
  {
    language: 'go',
    read(files) {
      const include = pathsAfter(files.text('go.work'), 'use')
      return include.length === 0 ? null : { tool: 'go.work', include, exclude: [] }
    },
    manifest: String.raw`go\.mod`,
    describe: (files, directory) =>
      described(files, `${directory}/go.mod`, (path) => {
        const text = files.text(path)
        return {
          name: pathsAfter(text, 'module')[0] ?? null,
          uses: {
            names: pathsAfter(text, 'require'),
            directories: Array.from(
              text.matchAll(/=>[ \t]+(\.{1,2}\/\S+)/g),
              ([, local]) => local!,
            ),
          },
        }
      }),
    rootFiles: ['go.work', 'go.work.sum'],
  },
  {
    language: 'python',
    read(files) {
      const { members, exclude } = objectOf(uvOf(files.toml('pyproject.toml'))['workspace'])
      const include = stringsOf(members)
      return include.length === 0 ? null : { tool: 'uv', include, exclude: stringsOf(exclude) }
    },
    manifest: String.raw`pyproject\.toml`,
    describe: (files, directory) =>
      described(files, `${directory}/pyproject.toml`, (path) => {
        const manifest = files.toml(path)
        const project = objectOf(manifest['project'])
        const sources = Object.entries(objectOf(uvOf(manifest)['sources']))
        const name = nameOf(project)
        return {
          name: name && normalName(name),
          uses: {
            names: sources
              .filter(([, source]) => objectOf(source)['workspace'] === true)
              .map(([used]) => normalName(used)),
            directories: sources.flatMap(([, source]) => stringOf(objectOf(source)['path']) ?? []),
          },
        }
      }),
    rootFiles: ['pyproject.toml', 'uv.lock', '.python-version'],
  },
  {
    language: 'java',
    read(files) {
      const modules = /<modules>([^]{0,20000}?)<\/modules>/.exec(files.text('pom.xml'))?.[1]
      if (modules !== undefined) {
        const include = Array.from(
          modules.matchAll(/<module>\s*([^<\s]+)\s*</g),
          ([, name]) => name!,
        )
        return { tool: 'maven', include, exclude: [] }
      }
      const settings = files.first('settings.gradle', 'settings.gradle.kts')
      const include = settings === undefined ? [] : includesOf(files.text(settings))
      return include.length === 0 ? null : { tool: 'gradle', include, exclude: [] }
    },
    manifest: String.raw`pom\.xml|build\.gradle(?:\.kts)?`,
    describe(files, directory) {
      const file =
        ['pom.xml', 'build.gradle', 'build.gradle.kts']
          .map((name) => `${directory}/${name}`)
          .find((path) => files.has(path)) ?? ''
      return described(files, file, (path) => {
        const text = files.text(path)
        const artifacts = Array.from(
          text
            .replace(/<parent>[^]{0,5000}?<\/parent>/, '')
            .matchAll(/<artifactId>\s*([\w.-]+)\s*</g),
          ([, name]) => name!,
        )
        const projects = Array.from(
          text.matchAll(/\bproject\(\s*(?:path\s*[:=]\s*)?["']:([\w.:-]+)["']/g),
          ([, name]) => up(directory) + name!.replaceAll(':', '/'),
        )
        return {
          name: artifacts[0] ?? null,
          uses: { names: artifacts.slice(1), directories: projects },
        }
      })
    },
    rootFiles: [
      ...['pom.xml', 'settings.gradle', 'settings.gradle.kts', 'build.gradle', 'build.gradle.kts'],
      ...['gradle.properties', 'gradle', 'buildSrc', '.mvn', '.java-version', '.sdkmanrc'],
    ],
  },
]

/** Of a manifest that can't be read nothing is known; the build says what is wrong with it. */
function described(
  files: Files,
  path: string,
  read: (path: string) => Omit<Description, 'isRead'>,
): Description {
  const nothing = { name: null, uses: { names: [], directories: [] } }
  if (!files.wasRead(path)) return { ...nothing, isRead: false }
  try {
    return { ...read(path), isRead: true }
  } catch {
    return { ...nothing, isRead: false }
  }
}

/** As the index of Python compares names. */
export const normalName = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-')

const nameOf = (manifest: JsonObject) => stringOf(manifest['name'])

const uvOf = (manifest: JsonObject) => objectOf(objectOf(manifest['tool'])['uv'])

/** From a member to the root. */
const up = (directory: string) => '../'.repeat(directory.split('/').length)

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []

const signed = (patterns: string[]) => ({
  include: patterns.filter((pattern) => !pattern.startsWith('!')),
  exclude: patterns.flatMap((pattern) => (pattern.startsWith('!') ? [pattern.slice(1)] : [])),
})

/** The first words of a directive of go.mod or go.work, alone or in a block. */
function pathsAfter(text: string, directive: string): string[] {
  const found: string[] = []
  let isInside = false
  for (const line of text.split('\n')) {
    const words = line
      .replace(/\/\/.*/, '')
      .trim()
      .split(/\s+/)
    if (isInside && words[0] === ')') isInside = false
    else if (isInside) found.push(words[0]!)
    else if (words[0] === directive && words[1] === '(') isInside = true
    else if (words[0] === directive && words[1] !== undefined) found.push(words[1])
  }
  return found.map((word) => word.replace(/^"(.*)"$/, '$1')).filter((word) => word !== '')
}

/** `include("api", ":libs:core")` of Gradle's settings, as folders. */
const includesOf = (text: string) =>
  Array.from(text.matchAll(/^[ \t]*include\b([^\n]{0,2000})/gm), ([, names]) =>
    Array.from(names!.matchAll(/["']:?([\w.:-]+)["']/g), ([, name]) => name!.replaceAll(':', '/')),
  ).flat()
