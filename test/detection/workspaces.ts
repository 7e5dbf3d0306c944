import type { Survey } from '../../src/detection/detect.ts'
import { survey } from '../../src/detection/detect.ts'
import { json, plan, question } from './plan.ts'
import type { Texts } from './plan.ts'

/** Turbo's starter without Turbo: two apps, a package of both, one of one, and tools. */
export const packages: Texts = {
  'apps/web/package.json': json({
    name: 'web',
    scripts: { build: 'next build', start: 'next start' },
    dependencies: { next: '15.1.0', '@acme/ui': '*' },
    devDependencies: { '@acme/tsconfig': '*' },
  }),
  'apps/api/package.json': json({
    name: 'api',
    scripts: { build: 'tsc', start: 'node dist/index.js' },
    dependencies: { fastify: '5', '@acme/db': '*' },
  }),
  'packages/ui/package.json': json({
    name: '@acme/ui',
    scripts: { build: 'vite build' },
    dependencies: { react: '19', '@acme/util': '*' },
    devDependencies: { vite: '7' },
  }),
  'packages/util/package.json': json({
    name: '@acme/util',
    scripts: { build: 'tsc' },
    main: 'index.js',
  }),
  'packages/util/index.js': '',
  'packages/db/package.json': json({ name: '@acme/db', dependencies: { pg: '8' } }),
  'packages/tsconfig/package.json': json({ name: '@acme/tsconfig' }),
}
export const top = (manifest: object = {}) =>
  json({ name: 'acme', private: true, workspaces: ['apps/*', 'packages/*'], ...manifest })

export const npm: Texts = { ...packages, 'package.json': top(), 'package-lock.json': '{}' }
export const pnpm: Texts = {
  ...packages,
  'package.json': json({ name: 'acme', packageManager: 'pnpm@10.34.9' }),
  'pnpm-workspace.yaml': 'packages:\n  - "apps/*"\n  - packages/**\n  - "!**/test/**"\n',
  'pnpm-lock.yaml': `lockfileVersion: '9.0'`,
}

export const found = (texts: Texts, directory = ''): Survey =>
  survey(question(texts, { directory, all: true }))
export const parts = (texts: Texts) =>
  Object.fromEntries(found(texts).workspaces.map((part) => [part.directory, part]))
export const inWeb = (texts: Texts, directory = 'apps/web') => plan(texts, {}, [], directory)

/** Workspaces of other languages, with what each holds. */
export const others: [string, Texts, Record<string, object>][] = [
  [
    'folders of their own',
    {
      'README.md': '',
      'backend/requirements.txt': 'fastapi',
      'backend/main.py': 'from fastapi import FastAPI\napp = FastAPI()\n',
      'frontend/package.json': json({
        scripts: { build: 'vite build' },
        devDependencies: { vite: '7' },
      }),
      'frontend/docs/package.json': json({ scripts: { start: 'node x' } }),
    },
    {
      backend: { kind: 'FastAPI', tool: null, watchPaths: ['backend'] },
      frontend: { kind: 'Vite', tool: null, dependsOn: [] },
    },
  ],
  [
    'Cargo',
    {
      'Cargo.toml':
        '[workspace]\nmembers = ["crates/*"]\n[workspace.dependencies]\ncore = { path = "crates/core" }',
      'Cargo.lock': '',
      'crates/server/Cargo.toml':
        '[package]\nname = "server"\n[dependencies]\naxum = "0.8"\ncore = { workspace = true }',
      'crates/server/src/main.rs': '',
      'crates/core/Cargo.toml':
        '[package]\nname = "core"\n[dependencies]\nbase = { path = "../base" }',
      'crates/core/src/lib.rs': '',
      'crates/base/Cargo.toml': '[package]\nname = "base"',
      'crates/base/src/lib.rs': '',
    },
    {
      'crates/base': { kind: null },
      'crates/core': { kind: null, dependsOn: ['crates/base'] },
      'crates/server': {
        kind: 'Axum',
        tool: 'cargo',
        dependsOn: ['crates/base', 'crates/core'],
        watchPaths: ['crates/server', 'crates/base', 'crates/core', 'Cargo.toml', 'Cargo.lock'],
      },
    },
  ],
  [
    'Go',
    {
      'go.work': 'go 1.23\n\nuse (\n\t./api // the server\n\t./lib\n)\n',
      'api/go.mod': 'module example.com/api\n\nrequire example.com/lib v0.0.0\n',
      'api/main.go': '',
      'lib/go.mod': 'module example.com/lib\n',
      'lib/lib.go': '',
    },
    {
      api: {
        kind: 'Go',
        tool: 'go.work',
        dependsOn: ['lib'],
        watchPaths: ['api', 'lib', 'go.work'],
      },
      lib: { kind: null },
    },
  ],
  [
    'uv',
    {
      'pyproject.toml':
        '[project]\nname = "acme"\n[tool.uv.workspace]\nmembers = ["services/*", "libs/*"]\nexclude = ["services/old"]',
      'uv.lock': '',
      'services/api/pyproject.toml':
        '[project]\nname = "api"\ndependencies = ["fastapi", "acme_db"]\n[tool.uv.sources]\nacme_db = { workspace = true }',
      'services/api/main.py': 'from fastapi import FastAPI\napp = FastAPI()\n',
      'services/old/pyproject.toml': '[project]\nname = "old"',
      'libs/db/pyproject.toml': '[project]\nname = "acme-db"',
    },
    {
      'libs/db': { kind: null },
      'services/api': { kind: 'FastAPI', tool: 'uv', dependsOn: ['libs/db'] },
    },
  ],
  [
    'Maven',
    {
      'pom.xml':
        '<project><artifactId>all</artifactId><modules><module>web</module><module>core</module></modules></project>',
      'web/pom.xml':
        '<project><parent><artifactId>all</artifactId></parent><artifactId>web</artifactId><dependencies><dependency><artifactId>core</artifactId></dependency><dependency><artifactId>spring-boot-starter-web</artifactId></dependency></dependencies></project>',
      'core/pom.xml': '<project><artifactId>core</artifactId></project>',
    },
    { core: { dependsOn: [] }, web: { kind: 'Spring Boot', tool: 'maven', dependsOn: ['core'] } },
  ],
  [
    'Gradle',
    {
      'settings.gradle.kts': 'rootProject.name = "all"\ninclude(":app", ":libs:core")\n',
      'app/build.gradle.kts':
        'plugins { id("io.ktor.plugin") }\ndependencies { implementation(project(":libs:core")) }',
      'libs/core/build.gradle.kts': '',
    },
    { app: { kind: 'Ktor', tool: 'gradle', dependsOn: ['libs/core'] }, 'libs/core': {} },
  ],
]
