import { describe, expect, test } from 'bun:test'
import type { Settings } from '../../src/detection/plan.ts'
import { kinds } from './kinds.ts'
import { json, node, plan } from './plan.ts'
import type { Texts } from './plan.ts'

const server = { scripts: { build: 'tsc', start: 'node x' }, dependencies: { pg: '8' } }

const rust = (dependency = ''): Texts => ({
  'Cargo.toml': `[package]\nname = "x"\n[dependencies]\n${dependency}`,
  'src/main.rs': '',
})

const lastStage = (text: string) => text.split(/^(?=FROM )/m).at(-1)!

describe('a written Dockerfile', () => {
  const textsOf = (settings: Settings) =>
    kinds.map(([, texts]) => plan(texts, settings, ['API_URL']).dockerfile)
  const all = textsOf({})
  const allWithBuild = textsOf({ build: 'make all' })

  test('never runs as root', () => {
    for (const text of all) expect(lastStage(text)).toMatch(/^USER (?!root|0)/m)
  })

  test('gives variables of the build to the stage that builds, and to no later one', () => {
    for (const text of [...all, ...allWithBuild]) {
      const stages = text.split(/^(?=FROM )/m)
      expect(stages.at(-1)).not.toContain('API_URL')
    }
    const { dockerfile } = plan(
      node({ scripts: { build: 'vite build' }, devDependencies: { vite: '7' } }),
      {},
      ['API_URL'],
    )
    expect(dockerfile).toMatch(/ARG API_URL\nRUN npm run build/)
  })

  test('has the packages of the settings, unless it only serves files that are there', () => {
    const without = kinds.filter(
      ([, texts]) => !plan(texts, { packages: ['libvips42'] }).dockerfile.includes('libvips42'),
    )
    expect(without.map(([kind]) => kind)).toEqual(['Static files'])
  })

  test('does what each of the settings says, or the reasons say that it isn’t used', () => {
    const given: [name: keyof Settings, value: Settings[keyof Settings], part: string][] = [
      ['install', 'make deps', 'make deps'],
      ['build', 'make all', 'make all'],
      ['start', 'run-me', '"run-me"'],
      ['directory', 'made', 'made'],
      ['packages', ['libvips42'], 'libvips42'],
      ['spa', true, '{path}/ /index.html'],
    ]
    const served: Texts = { 'package.json': '{}', 'index.html': '' }
    for (const texts of [...kinds.map(([, each]) => each), served])
      for (const [name, value, part] of given) {
        const { dockerfile, settings, reasons } = plan(texts, { [name]: value })
        const isUsed = dockerfile.includes(part)
        const isSaid = reasons.some((reason) => reason.includes(`“${name}”`))
        expect({ texts, name, isShown: name in settings, isSaid }).toEqual({
          ...{ texts, name, isShown: isUsed, isSaid: !isUsed },
        })
      }
    for (const texts of [served, { 'index.html': '' }, { 'hugo.toml': '' }])
      expect(plan(texts, { version: '22' }).settings.version).toBeUndefined()
  })

  test('gives them to installations too, where settings of the package manager may name them', () => {
    const texts = node({ ...server, scripts: { build: 'tsc', start: 'node x' } }, { '.npmrc': '' })
    const { dockerfile } = plan(texts, {}, ['NPM_TOKEN'])
    expect(dockerfile.match(/ARG NPM_TOKEN\nCOPY package.json/g)).toHaveLength(2)
    expect(lastStage(dockerfile)).not.toContain('NPM_TOKEN')
  })

  test('pins every image to a version', () => {
    for (const text of all)
      for (const [, image] of text.matchAll(/^FROM (\S+)|--from=(\S+:\S+)/gm))
        if (image?.includes(':')) expect(image).toMatch(/:(\d+\.\d+|\d+-jre|trixie)/)
  })

  test('installs by the lock file, and what the app needs alone in the last stage', () => {
    const { dockerfile } = plan(node(server))
    expect(dockerfile).toContain('npm ci --include=dev')
    expect(dockerfile).toContain('npm ci --omit=dev')
    expect(dockerfile).toContain('COPY --from=modules')
  })

  test.each([
    ['pnpm-lock.yaml', `lockfileVersion: '9.0'`, 'pnpm install --frozen-lockfile'],
    ['yarn.lock', '# yarn lockfile v1', 'yarn install --frozen-lockfile'],
    ['yarn.lock', '__metadata:\n  version: 8', 'yarn install --immutable'],
    ['bun.lock', '', 'bun install --frozen-lockfile'],
    ['package-lock.json', '{}', 'npm ci'],
  ])('uses the package manager of %s', (lock, text, command) => {
    const texts = {
      'package.json': json({ scripts: { build: 'tsc', start: 'node x' } }),
      [lock]: text,
    }
    expect(plan(texts).dockerfile).toContain(command)
  })

  test('builds extensions of PHP that the image lacks, and leaves its settings of folders alone', () => {
    const laravel = { php: '^8.4', 'laravel/framework': '12', 'ext-gd': '*', 'ext-opcache': '*' }
    const { dockerfile } = plan(
      {
        'composer.json': json({ require: laravel }),
        'package.json': json({
          scripts: { build: 'vite build' },
          devDependencies: { 'laravel-vite-plugin': '2' },
        }),
      },
      {},
      ['VITE_NAME'],
    )
    expect(dockerfile).toMatch(/install gd intl pdo_mysql pdo_pgsql zip$/m)
    expect(dockerfile).toContain('configure gd --with-freetype --with-jpeg')
    expect(dockerfile).not.toContain('apache2.conf')
    expect(dockerfile).toMatch(/ARG VITE_NAME\nRUN npm run build/)
  })

  test.each<[string, Texts, RegExp]>([
    [
      'the packages of Composer, which stay as they are',
      { 'composer.json': json({ require: { 'slim/slim': '4' } }) },
      /^COPY --from=packages .*\/vendor \.\/vendor\nCOPY --from=build .* \/out \.$/m,
    ],
    [
      'all that Composer made of folders of the repository',
      { 'composer.json': json({ repositories: [{ type: 'path', url: 'packages/*' }] }) },
      /--optimize-autoloader\n\nFROM base\nCOPY --from=build/,
    ],
    [
      'packages that are elsewhere',
      {
        'composer.json': json({ require: { 'slim/slim': '4' }, config: { 'vendor-dir': 'lib' } }),
      },
      /-scripts\n\nFROM base\nCOPY --from=build --chown=www-data:www-data \/var\/www\/html \.$/m,
    ],
    ['no packages', { 'composer.json': '{}' }, /-scripts\n\nFROM base\nCOPY --from=build/],
    ['certificates without a package', rust(), /^COPY --from=rust:\S+ \/etc\/ssl\S+ \S+$/m],
    ['those of OpenSSL', rust('openssl = "1"'), /install .* ca-certificates libssl3 /],
  ])('has %s', (_, texts, lines) => {
    expect(plan(texts).dockerfile).toMatch(lines)
  })

  test.each<[boolean, Texts]>([
    [true, { 'composer.json': json({ require: { 'symfony/framework-bundle': '7' } }) }],
    [true, node({ scripts: { build: 'vite build' }, devDependencies: { vite: '7' } })],
    [false, { 'package.json': '{}', 'index.html': '' }],
    [false, { 'index.html': '' }],
  ])('has .env where a build reads it, and never serves it: %p', (isThere, texts) => {
    expect(/^\.env$[^]*^!\.env$/m.test(plan(texts).dockerignore)).toBe(isThere)
  })

  test.each<[string, Texts]>([
    ['vendor', { 'index.php': '', 'vendor/jquery.js': '' }],
    ['priv/static/assets', { 'mix.exs': 'app: :shop, {:phoenix, "1"}' }],
  ])('leaves out no %s that no step of it makes', (folder, texts) => {
    expect(plan(texts).dockerignore.split('\n')).not.toContain(folder)
  })

  test.each<[string, Texts]>([
    ['ruby:3.4.2-slim', { Gemfile: `ruby '3.4.2'`, 'config.ru': '' }],
    ['denoland/deno:2.5.6', { 'deno.json': '{}', 'main.ts': '', '.dvmrc': '2.5' }],
    ['denoland/deno:2.3.1', { 'deno.json': '{}', 'main.ts': '', '.dvmrc': 'v2.3.1' }],
    ['node:22.23-slim', { 'package.json': '{}', 'index.js': '', '.nvmrc': 'lts/jod' }],
    ['eclipse-temurin:17-jre', { 'pom.xml': '', '.java-version': 'temurin-17.0.2' }],
  ])('is based on %s for %j', (image, texts) => {
    expect(plan(texts).dockerfile).toContain(`FROM ${image}`)
  })

  test('of Rails installs the package manager that its assets are built with', () => {
    const { dockerfile } = plan({ Gemfile: `gem 'rails'`, 'package.json': '{}', 'yarn.lock': '' })
    expect(dockerfile).toMatch(/yarn@\S+\nCOPY package.json yarn.lock [^]*yarn install --frozen/)
  })

  test.each<[string, Texts]>([
    ['a workspace', node({ workspaces: ['packages/*'], scripts: { start: 'node x' } })],
    ['a folder', node({ dependencies: { own: 'file:./own' }, scripts: { start: 'node x' } })],
    ['programs of Yarn', { ...node({ scripts: { start: 'node x' } }), '.yarn/releases/y.cjs': '' }],
  ])('installs with the code where the installation needs it for %s', (_, texts) => {
    expect(plan(texts).dockerfile).toMatch(/COPY \. \.\nRUN \S+ npm ci/)
  })

  test('installs in no other way than the settings say', () => {
    const texts = node({ scripts: { build: 'tsc', start: 'node x' } })
    const { dockerfile } = plan(texts, { install: 'npm ci --legacy-peer-deps' })
    expect(dockerfile.match(/npm (ci|install|prune).*/g)).toEqual(['npm ci --legacy-peer-deps'])
  })

  test('keeps what Prisma generates, and gives it the library that it needs', () => {
    const manifest = json({
      scripts: { build: 'prisma generate', start: 'bun x.ts' },
      dependencies: { '@prisma/client': '6' },
    })
    const { dockerfile } = plan({ 'package.json': manifest, 'bun.lock': '' })
    expect(dockerfile).not.toContain('rm -rf node_modules')
    expect(lastStage(dockerfile)).toContain('openssl')
  })

  test.each<[string, string, Texts]>([
    [
      'the repository’s own Gradle',
      'sh gradlew --no-daemon bootJar',
      {
        'build.gradle': `id 'org.springframework.boot' // spring-boot`,
        gradlew: '',
        'gradle/wrapper/gradle-wrapper.jar': '',
      },
    ],
    ['a Gradle that runs on its Java', 'gradle:8.14-jdk11', { 'build.gradle': 'VERSION_11' }],
    [
      'the program of cmd beside a library',
      './cmd/server',
      { 'go.mod': 'module x', 'lib.go': '', 'cmd/server/main.go': '' },
    ],
    [
      'what comes before the assets',
      'mix do compile + assets.deploy + release',
      { 'mix.exs': 'app: :shop, {:phoenix, "1"} "assets.deploy": []' },
    ],
    [
      'settings that dependencies are compiled with',
      'COPY config ./config\nRUN mix do deps.get',
      { 'mix.exs': 'app: :shop, {:plug, "1"}', 'config/config.exs': '' },
    ],
    [
      'the address that Rocket listens on',
      'ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT exec /app/app',
      {
        'Cargo.toml': '[package]\nname = "x"\n[dependencies]\nrocket = "0.5"',
        'src/main.rs': '',
      },
    ],
    ['a rule that hides what isn’t for readers', 'hide .davit.* .env* .git*', { 'index.html': '' }],
    ['the same rule of Apache', `'RedirectMatch 404 "/\\.(davit|env|git)"'`, { 'index.php': '' }],
    [
      'one shell',
      '["sh","-c","GRADIO_SERVER_PORT=$PORT exec python app.py"]',
      { 'requirements.txt': 'gradio', 'app.py': '' },
    ],
    [
      'what starts, though a .NET library is tested in it',
      '["node","x"]',
      node({ scripts: { start: 'node x' } }, { 'test/a.csproj': '' }),
    ],
  ])('uses %s: %s', (_, part, texts) => {
    expect(plan(texts).dockerfile).toContain(part)
  })

  test('of a site keeps its README.md, which may be its first page', () => {
    expect(plan({ 'index.html': '', 'README.md': '' }).dockerignore).not.toContain('README')
  })

  test('has what the settings say in place of what was found', () => {
    const settings = {
      install: 'make deps',
      build: 'make all',
      start: 'node other.js',
      version: '20',
      packages: ['libvips42'],
    }
    const found = plan(node({ scripts: { build: 'tsc', start: 'node x' } }), settings)
    for (const part of [
      'make deps',
      'make all',
      '["node","other.js"]',
      'node:20.20-slim',
      'libvips42',
    ])
      expect(found.dockerfile).toContain(part)
    expect(found.settings).toEqual(settings)
  })

  test('has names and scripts of a repository as data only', () => {
    const evil = `node "a b.js" && echo 'x'\nUSER root\nRUN evil`
    const { dockerfile } = plan(node({ scripts: { start: evil } }))
    expect(dockerfile.split('\n').filter((line) => /^(USER root|RUN evil)/.test(line))).toEqual([])
    const folders = plan({
      'go.mod': 'module x',
      'main.go': '',
      'cmd/-x/main.go': '',
      'templates/a': '',
    })
    expect(folders.dockerfile).toContain('COPY templates ./templates')
  })
})
