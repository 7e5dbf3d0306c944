import type { Hooks } from './hooks.ts'
import type { Served } from './node-frameworks.ts'
import type { PackageManager } from './package-manager.ts'
import type { Settings } from './plan.ts'
import {
  after,
  buildArguments,
  started,
  copy,
  dockerfile,
  installPackages,
  run,
  staticStage,
} from './text.ts'
import type { Version } from './versions.ts'

export type TextOptions = {
  manager: PackageManager
  version: Version
  settings: Settings
  buildVariables: string[]
  build: string | null
  hooks: Hooks
  /** Whether an installation needs more than the package manager's own files. */
  needsCode: boolean
  /** Of Debian. */
  packages: string[]
}

export const firstStage = ({
  manager,
  version,
  packages,
}: Pick<TextOptions, 'manager' | 'version' | 'packages'>) => [
  `FROM ${version.image} AS base`,
  'WORKDIR /app',
  installPackages(packages),
  ...manager.setUp,
]

/** Installs, and then has all files of the repository and the variables of the build. */
const installed = (options: TextOptions) => {
  const { manager, settings, buildVariables, needsCode, hooks } = options
  const before = variablesOfInstall(options)
  const install = manager.install(settings.install)
  return [
    ...before,
    ...(needsCode ? ['COPY . .', install] : [...withManifests(options, install), 'COPY . .']),
    ...(before.length > 0 ? [] : buildArguments(buildVariables)),
    ...(needsCode ? [] : hooks.needed.map((name) => run(manager.runScript(name)))),
  ]
}

/** An installation without the code. */
const withManifests = ({ manager, hooks }: TextOptions, install: string) => [
  copy(manager.manifests, './'),
  after(hooks.names.length === 0 ? [] : [manager.withoutScripts(hooks.names)], install),
]

/** Settings of a package manager may name one, such as the token of a registry. */
export const variablesOfInstall = ({
  manager,
  buildVariables,
}: Pick<TextOptions, 'manager' | 'buildVariables'>) =>
  manager.manifests.some((file) => ['.npmrc', '.yarnrc.yml', 'bunfig.toml'].includes(file))
    ? buildArguments(buildVariables)
    : []

const installedAlone = (options: TextOptions, install: string) => [
  ...variablesOfInstall(options),
  ...withManifests(options, install),
]

/** Of the stage that installed them; what a build writes there is dropped. */
const borrowed = '--mount=from=dependencies,source=/app/node_modules,target=/app/node_modules,rw'

/** A site is built in one stage, and served by another. */
export function staticText(options: TextOptions & { directory: string; spa: boolean }) {
  const { settings, build, directory, spa } = options
  if (build === null && settings.install === undefined)
    return dockerfile(staticStage(directory, { spa, from: null }))
  const from = directory === '.' ? '/app' : `/app/${directory}`
  return dockerfile(
    firstStage(options),
    ['FROM base AS build', ...installed(options), build === null ? null : run(build)],
    staticStage(from, { spa, from: 'build' }),
  )
}

/**
 * Dependencies are stages of their own, so that a change of the code neither installs nor stores them again, and
 * the build borrows them: what it leaves needs no removal. Where an installation needs the code or has a command
 * of the user's, or the build writes into node_modules, one stage does all.
 */
export function serverText(
  options: TextOptions & {
    served: Exclude<Served, { directory: string }>
    usesPrisma: boolean
    hasDependencies: boolean
    /** Whether there is one that the app needs when it runs. */
    hasModules: boolean
    /** Whether those for development are among them. */
    keepsDevelopment: boolean
  },
) {
  const { manager, version, settings, buildVariables, build, packages } = options
  const { served, usesPrisma, hasDependencies, hasModules, keepsDevelopment } = options
  const { needsCode, hooks } = options
  const { start, only, env, caches = [] } = served
  const { install } = settings
  const isApart = !needsCode && !usesPrisma && !hooks.writesModules && install === undefined
  const user = manager.name === 'bun' ? 'bun' : 'node'
  const owned = `--chown=${user}:${user}`
  const isBuilt = build !== null || !isApart || hooks.needed.length > 0
  const fromBuild = only ?? (isBuilt ? [['.', '.'] as [string, string]] : null)
  const cleaned =
    build === null || only || caches.length === 0 ? build : `${build} && rm -rf ${caches.join(' ')}`
  const inOneStage = [
    'FROM base AS build',
    ...installed(options),
    cleaned === null ? null : run(cleaned),
    only || keepsDevelopment || install !== undefined ? null : manager.prune,
  ]
  const withBorrowed = [
    'FROM base AS build',
    'COPY . .',
    ...buildArguments(buildVariables),
    ...[...hooks.needed.map(manager.runScript), ...(cleaned === null ? [] : [cleaned])].map(
      (line) => `RUN ${borrowed} ${line}`,
    ),
  ]
  const isBorrowed = isBuilt && isApart && hasDependencies && !only
  const hasModulesApart = !only && isApart && hasModules
  return dockerfile(
    fromBuild === null && !hasModulesApart ? null : firstStage(options),
    isBorrowed
      ? ['FROM base AS dependencies', ...installedAlone(options, manager.install(undefined))]
      : null,
    fromBuild === null ? null : isBorrowed ? withBorrowed : inOneStage,
    !hasModulesApart
      ? null
      : [
          'FROM base AS modules',
          ...installedAlone(
            options,
            keepsDevelopment ? manager.install(undefined) : manager.installProduction,
          ),
        ],
    [
      `FROM ${version.image}`,
      installPackages(packages),
      'WORKDIR /app',
      `RUN chown ${user}:${user} /app`,
      `ENV NODE_ENV=production PORT=3000${env === undefined ? '' : ` ${env}`} PATH=/app/node_modules/.bin:$PATH`,
      !hasModulesApart ? null : `COPY --from=modules ${owned} /app/node_modules ./node_modules`,
      ...(fromBuild === null
        ? [`COPY ${owned} . .`]
        : fromBuild.map(([from, to]) =>
            copy(
              [from === '.' ? '/app' : `/app/${from}`],
              to === '.' ? '.' : `./${to}`,
              `--from=build ${owned}`,
            ),
          )),
      `USER ${user}`,
      ...started(start, 3000),
    ],
  )
}
