/** Where the app object may be; these are read. */
export const appFiles = [
  'main.py',
  'app.py',
  'app/main.py',
  'app/__init__.py',
  'src/main.py',
  'src/app.py',
  'server.py',
  'api.py',
  'api/main.py',
  'wsgi.py',
  'run.py',
  'application.py',
  'backend/main.py',
]

/** Files that rules read: by name at the top, or below it by pattern. */
const names = new Set([
  ...[
    'package.json',
    'pnpm-lock.yaml',
    'yarn.lock',
    '.nvmrc',
    '.node-version',
    '.bun-version',
    '.tool-versions',
  ],
  ...['angular.json', 'deno.json', 'deno.jsonc', '.deno-version', '.dvmrc', 'Procfile'],
  ...[
    'requirements.txt',
    'pyproject.toml',
    'Pipfile',
    '.python-version',
    'runtime.txt',
    'alembic.ini',
    ...appFiles,
  ],
  ...[
    'go.mod',
    'Cargo.toml',
    'rust-toolchain',
    'rust-toolchain.toml',
    'Gemfile',
    'Gemfile.lock',
    '.ruby-version',
  ],
  ...[
    'composer.json',
    '.php-version',
    'pom.xml',
    'build.gradle',
    'build.gradle.kts',
    '.java-version',
    '.sdkmanrc',
    'system.properties',
  ],
  'mix.exs',
])
const patterns =
  /^((next|svelte|vite|react-router)\.config\.\w+|[\w/]*settings(\/(base|production|__init__))?\.py|([\w .-]+\/){0,3}[\w .-]+\.(cs|fs|vb)proj)$/

/** In bytes for each file. The beginning of a lock file says all that is read of it. */
export const maxText = 256 * 1024
const maxFiles = 60

/** The files whose texts `detect` needs. */
export const manifestsOf = (paths: readonly string[]) =>
  paths.filter((path) => names.has(path) || patterns.test(path)).slice(0, maxFiles)
