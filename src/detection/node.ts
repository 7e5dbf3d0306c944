import type { Files, JsonObject } from './files.ts'
import { objectOf, stringOf } from './files.ts'
import { hooksOf } from './hooks.ts'
import { linksOfPackages } from './links.ts'
import { serverText, staticText } from './node-dockerfile.ts'
import { frameworks } from './node-frameworks.ts'
import type { Framework, Served } from './node-frameworks.ts'
import { developmentIn, servedBy } from './node-start.ts'
import { dependenciesOf, packageManagerOf } from './package-manager.ts'
import type { PackageManager } from './package-manager.ts'
import { buildsOf, ignoredOthers, memberText } from './node-workspace.ts'
import { ofSites } from './plan.ts'
import type { Found, Options, Rule } from './plan.ts'
import { chooseVersion } from './versions.ts'
import type { VersionRequest } from './versions.ts'
import { membershipIn } from './workspaces.ts'
import type { Membership } from './workspaces.ts'

/** JavaScript and TypeScript on Node or Bun: whatever has a package.json. */
export const node: Rule = {
  looksFor: ['package.json'],
  plan(options) {
    if (!options.files.has('package.json')) return null
    return planNode(options)
  },
}

function planNode(options: Options): Found {
  const { files, settings, buildVariables } = options
  const member = membershipIn(options, 'node')
  const root = member?.workspace.files ?? files
  const manifest = files.json('package.json')
  const dependencies = dependenciesOf(manifest)
  const has = (name: string) => Object.hasOwn(dependencies, name)
  const manager = packageManagerOf(root)
  const runtime = manager.name === 'bun' ? 'Bun' : 'Node'
  const version = chooseVersion(runtime, settings, [
    ...requestsOf(files, manifest, runtime),
    ...(member ? requestsOf(root, root.json('package.json'), runtime) : []),
  ])
  const framework = frameworks.find(
    ({ package: name, ...rule }) => has(name) && fits(rule, manifest),
  )
  const found = framework?.serve({ files, has, scripts: objectOf(manifest['scripts']) }) ?? null
  const build = settings.build ?? buildOf({ manifest, manager, framework })
  const hasBuild = build !== null
  const served = servedBy({ files, manifest, manager, settings, found, hasBuild })
  const isStatic = 'directory' in served
  const site = isStatic && {
    directory: settings.directory ?? served.directory,
    spa: settings.spa ?? served.spa,
  }
  const kept = 'start' in served ? developmentIn(served.start, manifest) : []
  const usesPrisma = [files, ...(member?.needed ?? []).map((folder) => root.below(folder))].some(
    (each) => Object.hasOwn(dependenciesOf(each.json('package.json')), '@prisma/client'),
  )
  const hooks = hooksOf(manifest, settings.build)
  const needsCode =
    installsCode(files, manifest, dependencies) ||
    (settings.install !== undefined && hooks.names.length > 0)
  // Prisma's engines link to a library that comes with it.
  const packages = [...(usesPrisma ? ['openssl'] : []), ...(settings.packages ?? [])]
  const common = { manager, version, settings, buildVariables, build, packages }
  const built = member && buildsOf({ ...common, member })
  const isBuilt = settings.install !== undefined || (built ? built.commands.length > 0 : hasBuild)
  const howBuilt = built ? built.reason : build
  return {
    ...(member && { context: member.workspace.root }),
    kind: framework?.name ?? runtime,
    reasons: [
      ...(framework
        ? [`${framework.name}${majorOf(dependencies[framework.package])} from package.json`]
        : []),
      manager.reason,
      ...(member?.reasons ?? []),
      version.reason,
      ...(howBuilt === null ? [] : [`builds with ${howBuilt}`]),
      site
        ? `serves the files of ${site.directory}`
        : `starts with ${(served as { start: string }).start}`,
      ...(kept.length === 0
        ? []
        : [`keeps what only development needs, as ${kept.join(', ')} starts it`]),
    ],
    dockerfile: member
      ? memberText({ ...common, member, served, usesPrisma, keepsDevelopment: kept.length > 0 })
      : site
        ? staticText({ ...common, hooks, needsCode, ...site })
        : serverText({
            ...common,
            ...{ hooks, needsCode, usesPrisma },
            keepsDevelopment: kept.length > 0,
            hasDependencies: Object.keys(dependencies).length > 0,
            hasModules:
              kept.length > 0 ||
              lasting.some((kind) => Object.keys(objectOf(manifest[kind])).length > 0),
            served: served as Exclude<Served, { directory: string }>,
          }),
    ignore: [
      ...['.next', 'npm-debug.log*'],
      // Frameworks read public values there; secrets are in .env.local. Files that are only served lack them.
      ...(site && build === null ? [] : ['!.env', '!.env.production']),
      ...(member ? ['**/.next', '**/.turbo', ...ignoredOthers(member, manager)] : []),
    ],
    unused: site ? (isBuilt ? [] : ['version', 'packages']) : ofSites,
    settings: {
      version: version.version,
      ...(build !== null && { build }),
      ...(site ? site : { start: (served as { start: string }).start }),
    },
    links: member ? linksOfMember(member) : linksOfPackages(has, 'package.json'),
    releaseCommand: releaseOf({ manifest, manager }),
  }
}

/** Also of the packages that it needs. */
function linksOfMember({ workspace, directory, needed }: Membership) {
  const all = [directory, ...needed].flatMap((folder) => {
    const path = `${folder}/package.json`
    const dependencies = dependenciesOf(workspace.files.json(path))
    return linksOfPackages((name) => Object.hasOwn(dependencies, name), path)
  })
  return [...new Map(all.toReversed().map((link) => [link.template, link])).values()].toReversed()
}

/** Dependencies that an installation without those of the build has. */
const lasting = ['dependencies', 'optionalDependencies', 'peerDependencies']

/** A bundler isn't the kind of what starts a server of its own. */
const fits = (rule: Omit<Framework, 'package'>, manifest: JsonObject) =>
  !['Vite', 'Parcel'].includes(rule.name) ||
  !startsServer(stringOf(objectOf(manifest['scripts'])['start']))

const startsServer = (start: string | null) =>
  start !== null && !/^(vite|parcel|npm run dev)\b/.test(start)

/** Whether an installation reads more of the repository than the package manager's own files. */
const installsCode = (files: Files, manifest: JsonObject, dependencies: Record<string, string>) =>
  manifest['workspaces'] !== undefined ||
  // It may have settings alone.
  ['packages', 'patchedDependencies'].some((key) =>
    Object.hasOwn(files.yaml('pnpm-workspace.yaml'), key),
  ) ||
  objectOf(manifest['pnpm'])['patchedDependencies'] !== undefined ||
  files.hasFolder('.yarn') ||
  Object.values(dependencies).some((range) => /^(file|link|portal|patch|workspace):/.test(range))

function requestsOf(files: Files, manifest: JsonObject, runtime: 'Node' | 'Bun'): VersionRequest[] {
  const engines = objectOf(manifest['engines'])
  const tools = (name: string) =>
    new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(files.text('.tool-versions'))?.[1]
  if (runtime === 'Bun')
    return [
      { range: files.line('.bun-version'), from: '.bun-version' },
      { range: tools('bun'), from: '.tool-versions' },
      {
        range: /^bun@(\S+)/.exec(stringOf(manifest['packageManager']) ?? '')?.[1],
        from: 'packageManager',
      },
      { range: stringOf(engines['bun']), from: 'engines in package.json' },
    ]
  return [
    { range: files.line('.nvmrc'), from: '.nvmrc' },
    { range: files.line('.node-version'), from: '.node-version' },
    { range: tools('nodejs'), from: '.tool-versions' },
    { range: stringOf(objectOf(manifest['volta'])['node']), from: 'volta in package.json' },
    { range: stringOf(engines['node']), from: 'engines in package.json' },
  ]
}

function buildOf({
  manifest,
  manager,
  framework,
}: {
  manifest: JsonObject
  manager: PackageManager
  framework: Framework | undefined
}) {
  const scripts = objectOf(manifest['scripts'])
  if (stringOf(scripts['build']) !== null) return manager.runScript('build')
  const line = framework?.build
  if (line === undefined) return null
  const named = Object.keys(scripts).find((name) => stringOf(scripts[name])?.startsWith(line))
  return named === undefined || !/^\w[\w:.-]*$/.test(named)
    ? manager.execute(line)
    : manager.runScript(named)
}

/** Only of what the app still has when it runs: another version of Prisma would be downloaded. */
function releaseOf({ manifest, manager }: { manifest: JsonObject; manager: PackageManager }) {
  const kept = objectOf(manifest['dependencies'])
  if (!Object.hasOwn(kept, 'prisma') || !Object.hasOwn(kept, '@prisma/client')) return null
  return `${manager.name === 'bun' ? 'bunx' : 'npx'} prisma migrate deploy`
}

/** “ 15” of “^15.1.0”. */
function majorOf(range: string | undefined) {
  const major = /\d+/.exec(range ?? '')?.[0]
  return major === undefined ? '' : ` ${major}`
}
