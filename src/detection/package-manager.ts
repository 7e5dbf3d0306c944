import type { Files, JsonObject } from './files.ts'
import { objectOf, stringOf } from './files.ts'
import { notUsed, run } from './text.ts'

export type PackageManager = {
  name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** Such as “pnpm 9 from packageManager”. */
  reason: string
  /** Steps before its first use. */
  setUp: string[]
  /** What it reads before it installs. */
  manifests: string[]
  install: (command: string | undefined) => string
  /** Takes scripts out of package.json. */
  withoutScripts: (names: string[]) => string
  /** Installs what the app needs at run time, alone. */
  installProduction: string
  /** The same for a package of a workspace and those it needs; `install` has the root's tools too. */
  ofMember: (member: Member) => {
    install: string
    /** Null where that can't be had. */
    production: string | null
    /** Whether it reads the package.json of every package, not just of those that are installed. */
    readsAll: boolean
  }
  /** Removes what only the build needed; null where that would remove what hooks and the build wrote too. */
  prune: string | null
  runScript: (name: string) => string
  /** Runs it for a package of a workspace, after those that it needs. */
  runAll?: (directory: string, name: string) => string
  /** Runs a program of a dependency. */
  execute: (line: string) => string
}

/** By packageManager, then by lock file; of several lock files the first of this list. */
const lockFiles = [
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
] as const

export function packageManagerOf(files: Files): PackageManager {
  const named = /^(npm|pnpm|yarn|bun)@(\d+(?:\.\d+){0,2})/.exec(
    stringOf(files.json('package.json')['packageManager']) ?? '',
  )
  const locks = lockFiles.filter(([file]) => files.has(file))
  const name = (named?.[1] as PackageManager['name'] | undefined) ?? locks[0]?.[1] ?? 'npm'
  const lock = locks.find(([, manager]) => manager === name)?.[0]
  const others = locks.filter(([, manager]) => manager !== name).map(([file]) => file)
  const version = named?.[2] ?? null
  const from = named ? `packageManager` : (lock ?? null)
  const reason =
    (from === null
      ? 'npm, without a lock file: each build may get other versions'
      : `${name}${version === null ? '' : ` ${version}`} from ${from}`) +
    (lock === undefined && from !== null
      ? ', without its lock file: each build may get other versions'
      : '') +
    notUsed(others)
  const manifests = [
    'package.json',
    ...(lock === undefined ? [] : [lock]),
    ...files.present('.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml'),
    ...files.present('.pnpmfile.cjs'),
  ]
  return {
    name,
    reason,
    manifests,
    withoutScripts: (names) =>
      `${name === 'bun' ? 'bun pm' : 'npm'} pkg delete ${names.map((script) => `scripts.${script}`).join(' ')}`,
    ...managers[name](files, { version, isLocked: lock !== undefined }),
  }
}

type Member = { directory: string; name: string | null; rootName: string | null }

type LockState = { version: string | null; isLocked: boolean }

const managers: Record<
  PackageManager['name'],
  (
    files: Files,
    lock: LockState,
  ) => Omit<PackageManager, 'name' | 'reason' | 'manifests' | 'withoutScripts'>
> = {
  npm: (_, { version, isLocked }) => {
    const install = isLocked ? 'npm ci' : 'npm install'
    const cache = ['/root/.npm']
    return {
      setUp: version === null ? [] : [`RUN npm install --global npm@${version}`],
      install: (command = `${install} --include=dev`) => run(command, cache),
      installProduction: run(`${install} --omit=dev`, cache),
      ofMember: ({ directory }) => ({
        install: run(
          `${install} --include=dev --include-workspace-root --workspace=${directory}`,
          cache,
        ),
        production: run(`${install} --omit=dev --workspace=${directory}`, cache),
        readsAll: false,
      }),
      prune: run('npm prune --omit=dev --ignore-scripts'),
      runScript: (name) => `npm run ${name}`,
      execute: (line) => `npx ${line}`,
    }
  },
  pnpm: (files, { version, isLocked }) => {
    const frozen = isLocked ? ' --frozen-lockfile' : ''
    const store = ' --store-dir /root/.pnpm-store'
    const cache = ['/root/.pnpm-store']
    return {
      setUp: [`RUN npm install --global pnpm@${version ?? pnpmOf(files.text('pnpm-lock.yaml'))}`],
      install: (command = `pnpm install${frozen}${store}`) => run(command, cache),
      installProduction: run(`pnpm install --prod${frozen}${store}`, cache),
      ofMember: ({ directory }) => ({
        install: run(`pnpm install${frozen}${store} --filter '{${directory}}...'`, cache),
        production: run(`pnpm install --prod${frozen}${store} --filter '{${directory}}...'`, cache),
        readsAll: false,
      }),
      // With another store it would install all again, without what hooks wrote.
      prune: run(
        'npm_config_store_dir=/root/.pnpm-store CI=true pnpm prune --prod --ignore-scripts',
        cache,
      ),
      runScript: (name) => `pnpm run ${name}`,
      runAll: (directory, name) => `pnpm --filter '{${directory}}...' run ${name}`,
      execute: (line) => `pnpm exec ${line}`,
    }
  },
  yarn: (files, { version: named, isLocked }) => {
    const version = named ?? yarnOf(files.text('yarn.lock'))
    const isClassic = /^1\b/.test(version)
    // Two installations at once break the cache of Yarn 1.
    const cache = isClassic
      ? ['/usr/local/share/.cache/yarn,sharing=locked']
      : ['/root/.yarn/berry/cache']
    const frozen = isLocked ? (isClassic ? ' --frozen-lockfile' : ' --immutable') : ''
    const program = isClassic ? `yarn@${version}` : `@yarnpkg/cli-dist@${version}`
    return {
      setUp: [
        `RUN npm install --global --force ${program}`,
        ...(isClassic
          ? []
          : [
              'ENV YARN_NODE_LINKER=node-modules YARN_ENABLE_GLOBAL_CACHE=true YARN_INSTALL_STATE_PATH=/app/node_modules/.yarn-install-state.gz',
            ]),
      ],
      install: (command = `yarn install${frozen}`) => run(command, cache),
      installProduction: run(
        isClassic
          ? `yarn install --production${frozen}`
          : /^[23]\b/.test(version)
            ? // The other is a plugin there, which is downloaded from elsewhere.
              'npm pkg delete devDependencies && YARN_ENABLE_IMMUTABLE_INSTALLS=false yarn install'
            : 'yarn workspaces focus --production',
        cache,
      ),
      // The classic one installs for all packages that are there: those that are needed.
      ofMember: ({ directory, name, rootName }) => {
        const canFocus = !/^[123]\b/.test(version)
        const isNamed = canFocus && name !== null && rootName !== null
        return {
          install: run(
            isNamed ? `yarn workspaces focus ${name} ${rootName}` : `yarn install${frozen}`,
            cache,
          ),
          production: isClassic
            ? run(`yarn install --production${frozen}`, cache)
            : canFocus
              ? run(`cd ${directory} && yarn workspaces focus --production`, cache)
              : null,
          readsAll: !isClassic && !isNamed,
        }
      },
      prune: null,
      runScript: (name) => `yarn run ${name}`,
      execute: (line) => `yarn run ${line}`,
    }
  },
  bun: (_, { isLocked }) => {
    const frozen = isLocked ? ' --frozen-lockfile' : ''
    const cache = ['/root/.bun/install/cache']
    return {
      setUp: [],
      install: (command = `bun install${frozen}`) => run(command, cache),
      installProduction: run(`bun install --production${frozen}`, cache),
      ofMember: ({ directory }) => ({
        install: run(`bun install${frozen} --filter ./${directory} --filter ./`, cache),
        production: run(`bun install --production${frozen} --filter ./${directory}`, cache),
        readsAll: true,
      }),
      prune: null,
      runScript: (name) => `bun run ${name}`,
      execute: (line) => `bunx ${line}`,
    }
  },
}

/** The version of Yarn that wrote the lock file: another would change it. */
function yarnOf(lock: string) {
  const format = Number(/^__metadata:\s*?\n\s*?version: (\d{1,3})/m.exec(lock)?.[1] ?? 0)
  return format === 0 ? '1.22.22' : format > 6 ? '4' : format === 6 ? '3' : '2'
}

/** The newest major version of pnpm that reads the lock file's format. */
function pnpmOf(lock: string) {
  const format = /^lockfileVersion:\s*['"]?(\d+(?:\.\d+)?)/m.exec(lock)?.[1] ?? '9.0'
  if (format.startsWith('5')) return '7'
  if (format.startsWith('6')) return '8'
  return '10'
}

/** All dependencies of a package.json, also those of the build, by name. */
export function dependenciesOf(manifest: JsonObject): Record<string, string> {
  const found: Record<string, string> = {}
  for (const kind of ['optionalDependencies', 'devDependencies', 'dependencies'])
    for (const [name, range] of Object.entries(objectOf(manifest[kind])))
      if (typeof range === 'string') found[name] = range
  return found
}
