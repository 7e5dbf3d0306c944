import { objectOf, stringOf } from './files.ts'
import { hooksOf } from './hooks.ts'
import type { TextOptions } from './node-dockerfile.ts'
import { firstStage, variablesOfInstall } from './node-dockerfile.ts'
import type { Served } from './node-frameworks.ts'
import { dependenciesOf } from './package-manager.ts'
import type { PackageManager } from './package-manager.ts'
import type { Workspace } from './plan.ts'
import {
  after,
  buildArguments,
  started,
  copy,
  dockerfile,
  installPackages,
  run,
  staticStage,
  together,
} from './text.ts'
import { inFolder, inside, named } from './workspaces.ts'
import type { Membership } from './workspaces.ts'

/** Packages of the workspace that the app doesn't need; none where that isn't known for certain. */
function othersOf({ workspace, directory, needed }: Membership): string[] {
  const kept = new Set([...needed, directory])
  const others = [...workspace.members.keys()].filter((other) => !kept.has(other))
  return workspace.isComplete && others.length <= mostLeftOut ? others : []
}

/** Each is a line of the .dockerignore, compared with each file. */
const mostLeftOut = 200
/** Each is a line of the Dockerfile. */
const mostCopied = 60

type MemberOptions = Pick<
  TextOptions,
  'manager' | 'version' | 'settings' | 'buildVariables' | 'packages'
> & {
  member: Membership
  served: Served
  usesPrisma: boolean
  /** Whether it starts with what only development needs otherwise. */
  keepsDevelopment: boolean
  /** Builds the app where its package.json has no script for that. */
  build: string | null
}

/** As for a package of its own, but with the whole of what it needs, from the root of the workspace. */
export function memberText(options: MemberOptions): string {
  const { manager, version, settings, member, served, packages } = options
  const { workspace, directory, needed } = member
  const how = howInstalled(options)
  const builds = buildsOf(options)
  const first = firstStage(options)
  const before = variablesOfInstall(options)
  const hooks = ['', ...needed, directory].map((folder) => ({
    folder,
    ...hooksOf(workspace.files.json(pathIn(folder, 'package.json')), settings.build),
  }))
  const withoutHooks = hooks.flatMap(({ folder, names }) => {
    if (names.length === 0) return []
    const line = inFolder(folder, manager.withoutScripts(names))
    return folder === '' ? line : `(${line})`
  })
  const withManifests = (install: string | null) =>
    install === null ? [] : [...how.manifests, after(withoutHooks, install)]
  const build = [
    'FROM base AS build',
    ...before,
    ...(how.needsCode ? ['COPY . .', how.install] : [...withManifests(how.install), 'COPY . .']),
    ...(before.length > 0 ? [] : buildArguments(options.buildVariables)),
    ...(how.needsCode
      ? []
      : hooks.flatMap(({ folder, needed: names }) =>
          names.map((name) => run(inFolder(folder, manager.runScript(name)))),
        )),
    builds.env,
  ]
  const at = `/app/${directory}`
  if ('directory' in served) {
    const site = pathIn(directory, settings.directory ?? served.directory)
    const spa = settings.spa ?? served.spa
    return builds.commands.length === 0 && settings.install === undefined
      ? dockerfile(staticStage(site, { spa, from: null }))
      : dockerfile(
          first,
          how.prune,
          [...build, builds.commands.length === 0 ? null : run(together(builds.commands))],
          staticStage(`/app/${site}`, { spa, from: 'build' }),
        )
  }
  const { start, only, env, caches = [] } = served
  const writesModules = hooks.some((each) => each.writesModules)
  const keepsAll = options.usesPrisma || options.keepsDevelopment || writesModules
  const isApart = !keepsAll && !how.needsCode && how.production !== null
  const isBuilt =
    builds.commands.length > 0 || !isApart || hooks.some(({ needed: names }) => names.length > 0)
  const left = [...builds.leaves, ...caches.map((path) => pathIn(directory, path))]
  const then = only
    ? []
    : isApart
      ? [gathered(left)]
      : left.length === 0
        ? []
        : [`rm -rf ${left.join(' ')}`]
  const user = manager.name === 'bun' ? 'bun' : 'node'
  const owned = `--chown=${user}:${user}`
  return dockerfile(
    first,
    how.prune,
    isBuilt
      ? [
          ...build,
          // A comment at the end of the user's own would hide what follows.
          ...(settings.build === undefined
            ? [[...builds.commands, ...then]]
                .filter(({ length }) => length > 0)
                .map((all) => run(together(all)))
            : [...builds.commands, ...then].map((line) => run(line))),
          only || isApart || options.keepsDevelopment || settings.install !== undefined
            ? null
            : manager.name === 'npm' && manager.prune,
        ]
      : null,
    only || !isApart ? null : ['FROM base AS modules', ...before, ...withManifests(how.production)],
    [
      `FROM ${version.image}`,
      installPackages(packages),
      `WORKDIR ${at}`,
      `RUN chown -R ${user}:${user} /app`,
      `ENV NODE_ENV=production PORT=3000${env === undefined ? '' : ` ${env}`} PATH=${at}/node_modules/.bin:/app/node_modules/.bin:$PATH`,
      only || !isApart ? null : `COPY --from=modules ${owned} /app /app`,
      ...(only
        ? only.map(([from, to]) =>
            // What is traced from the root of the workspace has its folders.
            copy([`${at}/${from}`], to === '.' ? '/app' : `./${to}`, `--from=build ${owned}`),
          )
        : [
            isBuilt
              ? `COPY --from=build ${owned} ${isApart ? '/out' : '/app'} /app`
              : `COPY ${owned} . /app`,
          ]),
      `USER ${user}`,
      ...started(start, 3000),
    ],
  )
}

/** What was built, without dependencies: to remove them from each package would take longer. */
const gathered = (left: string[]) =>
  `mkdir /out && tar -c --exclude=node_modules ${left.map((path) => `--exclude=./${path} `).join('')}. | tar -x -C /out`

const pathIn = (folder: string, path: string) =>
  folder === '' ? path : path === '.' ? folder : `${folder}/${path}`

function howInstalled({ manager, settings, member }: MemberOptions) {
  const { workspace, directory, needed } = member
  const { files, members, isComplete } = workspace
  const root = files.json('package.json')
  const name = nameForShell(workspace, directory)
  const given = { directory, name, rootName: plainName(stringOf(root['name'])) }
  const own = manager.ofMember(given)
  const copied = own.readsAll ? [...members.keys()] : [...needed, directory]
  const turbo = turboOf(member, manager)
  const needsCode =
    !isComplete ||
    copied.length > mostCopied ||
    settings.install !== undefined ||
    files.hasFolder('.yarn') ||
    objectOf(root['pnpm'])['patchedDependencies'] !== undefined ||
    /^patchedDependencies:/m.test(files.text('pnpm-workspace.yaml')) ||
    [...needed, directory].some((folder) => usesFolders(workspace, folder))
  const lines = [
    copy(manager.manifests, './'),
    ...copied.map((folder) => copy([`${folder}/package.json`], `./${folder}/`)),
  ]
  const isPruned = turbo !== null && !needsCode
  return {
    needsCode,
    prune: isPruned ? turbo.prune : null,
    manifests: isPruned ? ['COPY --from=pruned /app/out/json/ ./'] : lines,
    install:
      settings.install === undefined
        ? own.install
        : manager.install(inFolder(directory, settings.install)),
    production: own.production,
  }
}

/** Packages outside of the workspace, whose files an installation reads. */
const usesFolders = ({ files, members }: Workspace, folder: string) =>
  Object.values(dependenciesOf(files.json(`${folder}/package.json`))).some((range) => {
    const [, kind, path] = /^(file|link|portal|patch):(.*)$/.exec(range) ?? []
    return kind !== undefined && !members.has(inside(folder, path!) ?? '')
  })

/** Turbo knows which packages a lock file must have for one app, where the package manager is named. */
function turboOf({ workspace, directory }: Membership, manager: PackageManager) {
  const { files } = workspace
  const root = files.json('package.json')
  const range = dependenciesOf(root)['turbo']
  const name = nameForShell(workspace, directory)
  if (range === undefined || name === null || !files.has('turbo.json')) return null
  if (stringOf(root['packageManager']) === null) return null
  const version = /^[~^]?\d+(\.\d+){0,2}$/.test(range) ? range : '2'
  const global = manager.name === 'bun' ? 'bun add --global' : 'npm install --global'
  return {
    prune: [
      'FROM base AS pruned',
      'ENV TURBO_TELEMETRY_DISABLED=1',
      `RUN ${global} turbo@${version}`,
      'COPY . .',
      `RUN turbo prune ${name} --docker`,
    ],
    env: 'ENV TURBO_TELEMETRY_DISABLED=1',
    leaves: ['.turbo/cache'],
    build: manager.execute(`turbo run build --filter=${name}`),
  }
}

/** Integrated builds of Nx find what is needed themselves; its service in the cloud isn't asked. */
function nxOf({ workspace, directory }: Membership, manager: PackageManager) {
  const { files } = workspace
  const name = nameForShell(workspace, directory)
  const isThere = dependenciesOf(files.json('package.json'))['nx'] !== undefined
  if (!isThere || name === null || !files.has('nx.json')) return null
  return {
    env: 'ENV NX_DAEMON=false NX_NO_CLOUD=true',
    leaves: ['.nx'],
    build: manager.execute(`nx run ${name}:build`),
  }
}

/** The packages it needs are built first, in their order, and each by the package manager. */
export function buildsOf({
  manager,
  settings,
  member,
  build,
}: Pick<MemberOptions, 'manager' | 'settings' | 'member' | 'build'>): {
  env: string | null
  /** In one step, as each takes its time to begin. */
  commands: string[]
  /** Folders that a later build may use, and no app. */
  leaves: string[]
  reason: string | null
} {
  const { workspace, directory, needed } = member
  if (settings.build !== undefined)
    return {
      ...{ env: null, leaves: [] },
      commands: [inFolder(directory, settings.build)],
      reason: settings.build,
    }
  const isScripted = (folder: string) =>
    stringOf(objectOf(workspace.files.json(`${folder}/package.json`)['scripts'])['build']) !== null
  const runner = isScripted(directory) ? (turboOf(member, manager) ?? nxOf(member, manager)) : null
  if (runner) return { ...runner, commands: [runner.build], reason: runner.build }
  const built = needed.filter(isScripted)
  const all = manager.runAll?.(directory, 'build')
  const own = isScripted(directory) ? manager.runScript('build') : build
  const commands =
    all !== undefined && built.length > 0 && isScripted(directory)
      ? [all]
      : [
          ...built.map((folder) => `(${inFolder(folder, manager.runScript('build'))})`),
          ...(own === null ? [] : [`(${inFolder(directory, own)})`]),
        ]
  const after = built.length === 0 ? '' : `, after ${named(built)}`
  return { env: null, commands, leaves: [], reason: own === null ? null : `${own}${after}` }
}

/** Null for a name that only a program of this language would take for one. */
function nameForShell({ members, twins }: Workspace, directory: string) {
  const name = plainName(members.get(directory)?.name ?? null)
  return name !== null && twins.includes(name) ? null : name
}

const plainName = (name: string | null) =>
  name !== null && /^(@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*$/i.test(name) ? name : null

/** Leaves the other packages out of the build, but for what an installation reads of each. */
export function ignoredOthers(member: Membership, manager: PackageManager): string[] {
  const isRead = manager.ofMember({ directory: '.', name: null, rootName: null }).readsAll
  return othersOf(member).flatMap((folder) =>
    isRead ? [folder, `!${folder}/package.json`] : [folder],
  )
}
