import { describe, expect, test } from 'bun:test'
import { json, plan } from './plan.ts'
import type { Texts } from './plan.ts'
import { inWeb, npm, others, packages, pnpm, top } from './workspaces.ts'

describe('the Dockerfile of an app in a workspace', () => {
  test.each([
    [
      npm,
      [
        'npm ci --include=dev --include-workspace-root --workspace=apps/web',
        'npm ci --omit=dev --workspace=apps/web',
        'cd packages/util && npm run build',
      ],
    ],
    [
      pnpm,
      [
        `pnpm install --frozen-lockfile --store-dir /root/.pnpm-store --filter '{apps/web}...'`,
        `pnpm install --prod --frozen-lockfile --store-dir /root/.pnpm-store --filter '{apps/web}...'`,
        `RUN pnpm --filter '{apps/web}...' run build && `,
      ],
    ],
    [
      { ...npm, 'package.json': top({ packageManager: 'yarn@4.18.1' }), 'yarn.lock': '' },
      ['yarn workspaces focus web acme', 'cd apps/web && yarn workspaces focus --production'],
    ],
    [
      { ...npm, 'package.json': top({ packageManager: 'bun@1.3.14' }), 'bun.lock': '' },
      [
        'bun install --frozen-lockfile --filter ./apps/web --filter ./',
        'bun install --production --frozen-lockfile --filter ./apps/web',
        'COPY apps/api/package.json ./apps/api/',
      ],
    ],
  ] as [Texts, string[]][])('installs and builds what it needs alone %#', (texts, commands) => {
    const { dockerfile, dockerignore, context, reasons } = inWeb(texts)
    expect(context).toBe('')
    for (const line of commands) expect(dockerfile).toContain(line)
    if (texts !== pnpm)
      expect(dockerfile).toMatch(
        /cd packages\/util .*\n.*cd packages\/ui .*\n.*cd apps\/web .* build\)( && \\)?$/m,
      )
    expect(dockerfile).toContain('WORKDIR /app/apps/web\n')
    expect(dockerfile).toContain('CMD ["next","start"]')
    expect(dockerignore).toMatch(/^apps\/api$/m)
    expect(dockerignore).not.toMatch(/^packages\/ui$/m)
    expect(reasons.join()).toContain('packages/ui')
  })

  test('has the packages that only the others need in no line', () => {
    expect(inWeb(npm).dockerfile).not.toContain('packages/db')
    expect(inWeb(npm, 'apps/api').links).toEqual([
      { template: 'postgresql', reason: 'pg in packages/db/package.json' },
    ])
  })

  test('keeps what a package that it needs has written into node_modules', () => {
    const db = json({ name: '@acme/db', dependencies: { '@prisma/client': '6' } })
    const { dockerfile } = inWeb({ ...npm, 'packages/db/package.json': db }, 'apps/api')
    expect(dockerfile).not.toContain('AS modules')
    expect(dockerfile).toMatch(/FROM node:\S+\nRUN .*openssl/)
  })

  test('is by Turbo where it is installed', () => {
    const turbo = { packageManager: 'npm@10.9.0', devDependencies: { turbo: '^2.3.0' } }
    const texts = { ...npm, 'package.json': top(turbo), 'turbo.json': '{}' }
    const { dockerfile } = inWeb(texts)
    for (const line of [
      'RUN npm install --global turbo@^2.3.0',
      'RUN turbo prune web --docker',
      'COPY --from=pruned /app/out/json/ ./',
      'RUN npx turbo run build --filter=web',
    ])
      expect(dockerfile).toContain(line)
    expect(dockerfile).not.toContain('cd packages')
    const { 'turbo.json': _, ...without } = texts
    expect(inWeb(without).dockerfile).toContain('cd packages')
  })

  test('is built by Nx where it is installed', () => {
    const texts = {
      ...npm,
      'package.json': top({ devDependencies: { nx: '21' } }),
      'nx.json': '{}',
    }
    expect(inWeb(texts).dockerfile).toContain('RUN npx nx run web:build')
  })

  test('serves the files of a site from its own folder', () => {
    const site = json({
      name: 'site',
      scripts: { build: 'vite build' },
      devDependencies: { vite: '7' },
    })
    const { dockerfile } = inWeb({ ...npm, 'apps/site/package.json': site }, 'apps/site')
    expect(dockerfile).toContain('COPY --from=build /app/apps/site/dist /srv')
  })

  test('takes what Next traced from the root of the workspace', () => {
    const config = `export default { output: 'standalone' }`
    const { dockerfile } = inWeb({ ...npm, 'apps/web/next.config.ts': config })
    expect(dockerfile).toMatch(/COPY --from=build \S+ \/app\/apps\/web\/\.next\/standalone \/app\n/)
    expect(dockerfile).toMatch(/\.next\/static \.\/\.next\/static\n/)
  })

  test('takes the root of a workspace below the top', () => {
    const below = Object.fromEntries(
      Object.entries(npm).map(([path, text]) => [`js/${path}`, text]),
    )
    const { context, dockerfile } = inWeb(below, 'js/apps/web')
    expect(context).toBe('js')
    expect(dockerfile).toBe(inWeb(npm).dockerfile)
  })

  test('uses the commands of the settings in the app’s folder', () => {
    const { dockerfile } = plan(
      npm,
      { install: 'npm i', build: 'make', start: 'node x' },
      [],
      'apps/web',
    )
    for (const line of ['cd apps/web && npm i', 'RUN cd apps/web && make', 'CMD ["node","x"]'])
      expect(dockerfile).toContain(line)
  })

  test('gives variables of the build to no later stage', () => {
    const { dockerfile } = plan(npm, {}, ['API_URL'], 'apps/web')
    expect(dockerfile.match(/ARG API_URL/g)).toHaveLength(1)
    expect(dockerfile.indexOf('ARG API_URL')).toBeLessThan(dockerfile.indexOf('AS modules'))
  })

  test('runs hooks when the code is there, each in its own folder', () => {
    const manifest = {
      ...JSON.parse(packages['packages/db/package.json']!),
      scripts: { postinstall: 'node gen.js' },
    }
    const texts = {
      ...npm,
      'package.json': top({ scripts: { prepare: 'husky' } }),
      'packages/db/package.json': json(manifest),
    }
    const { dockerfile } = inWeb(texts, 'apps/api')
    expect(dockerfile).toMatch(
      /npm pkg delete scripts\.prepare && \(cd packages\/db && npm pkg delete scripts\.postinstall\) && npm ci[^]*COPY \. \.\nRUN cd packages\/db && npm run postinstall/,
    )
    expect(dockerfile).not.toContain('npm run prepare')
  })
})

describe('an app in a workspace of another language is built from its root, with its own program alone', () => {
  test.each([
    [
      'Cargo',
      'crates/server',
      [
        'cargo build --release --locked -p server --bin server && mkdir -p /out && cp target/release/server',
      ],
    ],
    ['Go', 'api', ['go build -trimpath -ldflags=-s -o /out/app ./api\n']],
    [
      'uv',
      'services/api',
      [
        'uv sync --active --locked --no-dev --no-editable --package api',
        'COPY --chown=app:app services/api .',
      ],
    ],
    ['Maven', 'web', ['mvn --batch-mode -DskipTests -pl web -am package', 'ls -S web/target/*']],
    [
      'Gradle',
      'app',
      ['gradle --no-daemon :app:buildFatJar', '-port=$PORT', 'ls -S app/build/libs/*'],
    ],
  ])('%s', (name, directory, lines) => {
    const [, texts] = others.find(([of]) => of === name)!
    const { context, dockerfile, reasons } = plan(texts, {}, [], directory)
    expect(context).toBe('')
    for (const line of lines) expect(dockerfile).toContain(line)
    expect(reasons.join()).toContain('workspace of the repository')
    const set = plan(texts, { build: 'make x' }, [], directory).dockerfile
    expect(set).toContain(`cd ${directory} && make x`)
  })
})

test.each<[string, Texts]>([
  [
    'uv sync --active --locked --no-dev --no-install-project --no-editable',
    {
      'pyproject.toml': '[project]\nname = "a"\n[tool.uv.workspace]\nmembers = ["libs/*"]',
      'uv.lock': '',
      'main.py': '',
      'libs/b/pyproject.toml': '[project]\nname = "b"',
    },
  ],
  [
    'go build',
    {
      'go.mod': 'module a\n\nrequire b.example.com/b v0.0.0\n',
      'go.work': 'use (\n.\n./b\n)\n',
      'main.go': '',
      'b/go.mod': 'module b.example.com/b',
    },
  ],
])('an app at the root of a workspace has its packages when it installs: %s', (command, texts) => {
  const { dockerfile } = plan(texts)
  expect(dockerfile.indexOf('COPY . .')).toBeGreaterThan(0)
  expect(dockerfile.indexOf('COPY . .')).toBeLessThan(dockerfile.indexOf(command))
  expect(dockerfile).not.toContain('go mod download')
})
