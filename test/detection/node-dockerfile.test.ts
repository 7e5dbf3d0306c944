import { describe, expect, test } from 'bun:test'
import { json, node, plan } from './plan.ts'

const server = { scripts: { build: 'tsc', start: 'node x' }, dependencies: { pg: '8' } }

const lastStage = (text: string) => text.split(/^(?=FROM )/m).at(-1)!

describe('a Dockerfile for package.json', () => {
  test.each<[string, object, RegExp, boolean]>([
    [
      'what may need the code',
      { postinstall: 'node x' },
      /npm ci[^]*COPY \. \.\nRUN npm run post/,
      false,
    ],
    ['no hook of git', { prepare: 'husky || true' }, /COPY \. \.\nRUN \S+ npm run build/, true],
    [
      'nothing that the build does too',
      { prepare: 'svelte-kit sync || echo', build: 'vite build' },
      /COPY \. \.\nRUN \S+ npm run build/,
      true,
    ],
    [
      'what is done outside of node_modules',
      { prepare: 'svelte-kit sync || echo' },
      /run prep/,
      true,
    ],
  ])('runs %s after an installation, which is made without', (_, scripts, runs, isApart) => {
    const { dockerfile } = plan(node({ ...server, scripts: { ...server.scripts, ...scripts } }))
    expect(dockerfile).toMatch(runs)
    expect(dockerfile).toContain(
      `/root/.npm npm pkg delete scripts.${Object.keys(scripts)[0]} && npm ci`,
    )
    expect(dockerfile.includes('FROM base AS modules')).toBe(isApart)
  })

  test.each([
    ['@yarnpkg/cli-dist@4', 'focus --production', '__metadata:\n  version: 8'],
    ['@yarnpkg/cli-dist@3', 'delete devDependencies', '__metadata:\n  version: 6'],
    ['yarn@1.22.22', 'install --production', '# yarn lockfile v1'],
  ])('installs with the %s that wrote the lock file', (program, production, lock) => {
    const { dockerfile } = plan({ 'package.json': json(server), 'yarn.lock': lock })
    expect(dockerfile).toContain(`--force ${program}\n`)
    expect(dockerfile).toContain(production)
  })

  test('installs nothing for the last stage where all dependencies are of the build', () => {
    const { dockerfile } = plan(node({ scripts: server.scripts, devDependencies: { tsup: '8' } }))
    expect(dockerfile).not.toContain('FROM base AS modules')
    expect(lastStage(dockerfile)).not.toContain('node_modules ')
  })

  test.each<[string, object, string | object]>([
    ['dist/shop/browser', {}, '@angular/build:application'],
    ['dist/shop', {}, '@angular-devkit/build-angular:browser'],
    ['out/browser', { outputPath: 'out' }, '@angular/build:application'],
    ['out/www', { outputPath: { base: 'out', browser: 'www' } }, '@angular/build:application'],
    ['out', { outputPath: { base: 'out', browser: '' } }, '@angular/build:application'],
  ])('serves %s of Angular', (directory, options, builder) => {
    const shop = { architect: { build: { builder, options } } }
    const angular = json({ projects: { shop } })
    const texts = node({ dependencies: { '@angular/core': '22' } }, { 'angular.json': angular })
    expect(plan(texts).settings.directory).toBe(directory)
  })

  test.each([
    ['onlyBuiltDependencies:\n  - esbuild\n', false],
    ['packages:\n  - apps/*\n', true],
    ['patchedDependencies:\n  a: patches/a.patch\n', true],
  ])('installs with the code where pnpm’s workspace needs it: %j', (yaml, needsCode) => {
    const lock = { 'pnpm-lock.yaml': `lockfileVersion: '9.0'`, 'pnpm-workspace.yaml': yaml }
    const { dockerfile } = plan({ 'package.json': json(server), ...lock })
    expect(/COPY \. \.\nRUN \S+ pnpm install/.test(dockerfile)).toBe(needsCode)
  })

  test('lends no dependencies to a build where there are none', () => {
    const { dockerfile } = plan(node({ scripts: { build: 'node build', start: 'node x' } }))
    expect(dockerfile).not.toContain('AS dependencies')
  })

  test('builds with the script that builds, whatever it is called', () => {
    const scripts = { 'docs:dev': 'vitepress dev docs', 'docs:build': 'vitepress build docs' }
    const { dockerfile } = plan(node({ scripts, devDependencies: { vitepress: '1' } }))
    expect(dockerfile).toContain('RUN npm run docs:build')
  })

  test('has names of scripts and folders as data', () => {
    const evil = { '--version': 'vitepress build', 'a b': 'vitepress build' }
    const vitepress = node({ scripts: evil, devDependencies: { vitepress: '1' } })
    expect(plan(vitepress).dockerfile).toContain('RUN npx vitepress build\n')
    const angular = json({ projects: { 'a b\nRUN evil': {} } })
    const dependencies = { '@angular/core': '22', '@angular/ssr': '22' }
    const { dockerfile } = plan(node({ dependencies }, { 'angular.json': angular }))
    expect(dockerfile).not.toMatch(/^RUN evil/m)
    expect(dockerfile).toContain(`'dist/a b\\nRUN evil/server/server.mjs'"]`)
  })

  test('leaves the caches of a build out of the image', () => {
    const { dockerfile } = plan(node({ dependencies: { next: '16' } }))
    expect(dockerfile).toContain('next build && rm -rf .next/cache\n')
  })

  test('installs with the code in the way of the settings where hooks may need it', () => {
    const texts = node({ scripts: { postinstall: 'node setup.js', start: 'node x' } })
    expect(plan(texts, { install: 'npm i' }).dockerfile).toMatch(/COPY \. \.\nRUN \S+ npm i/)
  })
})
