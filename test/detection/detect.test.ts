import { describe, expect, test } from 'bun:test'
import { manifestsOf } from '../../src/detection/manifests.ts'
import { kinds } from './kinds.ts'
import { json, node, plan } from './plan.ts'
import type { Texts } from './plan.ts'

/** The last stage's base, and its command. */
function shape(dockerfile: string) {
  const bases = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, base]) => base!)
  const command = /^CMD (.*)$/m.exec(dockerfile)?.[1]
  return { base: bases.at(-1), command: command === undefined ? null : JSON.parse(command) }
}

test.each(kinds)('%s is recognised from %j', (kind, texts, base, command) => {
  const found = plan(texts)
  expect({ kind: found.kind, ...shape(found.dockerfile) }).toEqual({ kind, base, command })
})

describe('what the code asks for', () => {
  test.each([
    ['pg', 'postgresql'],
    ['mysql2', 'mysql'],
    ['mongoose', 'mongodb'],
    ['ioredis', 'redis'],
    ['amqplib', 'rabbitmq'],
  ])('%s proposes %s', (name, template) => {
    const { links } = plan(node({ dependencies: { [name]: '1' }, scripts: { start: 'node x' } }))
    expect(links).toEqual([{ template, reason: `${name} in package.json` }] as typeof links)
  })

  test('only whole names count', () => {
    const { links } = plan({ 'pom.xml': '<artifactId>maven-gpg-plugin</artifactId> bullet' })
    expect(links).toEqual([])
  })

  test.each([
    [
      'python manage.py migrate',
      { 'manage.py': '', 'requirements.txt': 'django', 'a/wsgi.py': '' },
    ],
    [
      'npx prisma migrate deploy',
      node({ scripts: { start: 'node x' }, dependencies: { prisma: '6', '@prisma/client': '6' } }),
    ],
    ['bin/rails db:prepare', { Gemfile: `gem 'rails'` }],
    [
      'php artisan migrate --force',
      { 'composer.json': json({ require: { 'laravel/framework': '12' } }) },
    ],
  ])('proposes %s before a release', (command, texts) => {
    expect(plan(texts as Texts).releaseCommand).toBe(command)
  })
})

describe('it says what is missing', () => {
  test.each([
    ['not_recognized', { 'README.md': '' }],
    ['not_recognized', { 'web/package.json': '{}' }],
    ['not_recognized', { 'compose.yaml': '' }],
    ['not_recognized', { 'docker/Dockerfile': '' }],
    ['not_recognized', { 'package.json': '{}' }],
    ['not_recognized', { 'package.json': json({ engines: { node: '99' } }), 'index.js': '' }],
    [
      'not_recognized',
      { 'Cargo.toml': '[package]\nname = "x"', 'src/main.rs': '', 'rust-toolchain': 'nightly' },
    ],
    ['not_recognized', node({ devDependencies: { '@sveltejs/kit': '2' } })],
    ['not_recognized', { 'requirements.txt': 'flask' }],
    ['not_recognized', { 'runtime.txt': 'python-2.7.18', 'main.py': '' }],
    ['not_recognized', { 'go.mod': 'go 9.9', 'main.go': '' }],
    [
      'not_recognized',
      {
        'a.csproj':
          '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>netcoreapp3.1</TargetFramework>',
      },
    ],
    ['not_recognized', { 'go.mod': 'module x', 'cmd/a/main.go': '', 'cmd/b/main.go': '' }],
    ['not_recognized', { 'Cargo.toml': '[workspace]\nmembers = ["a"]' }],
    [
      'not_recognized',
      { 'Cargo.toml': '[package]\nname = "a"\n[dependencies]\nleptos = "1"', 'src/main.rs': '' },
    ],
    ['not_recognized', { 'pom.xml': '<modules><module>a</module></modules>' }],
    ['not_recognized', node({ scripts: { start: `node 'x` } })],
    ['not_recognized', { 'main.py': '', Procfile: 'web: python main.py \\' }],
    ['manifest_invalid', { 'package.json': '{"name":' }],
    ['manifest_invalid', { 'Cargo.toml': '[package' }],
  ])('%s for %j', (code, texts) => {
    expect(() => plan(texts as Texts)).toThrow(expect.objectContaining({ code }))
  })

  test('two lock files are told, and the one that is used', () => {
    const { reasons } = plan({
      ...node({ scripts: { start: 'node x' } }),
      'yarn.lock': '# yarn lockfile v1',
    })
    expect(reasons.join()).toContain('package-lock.json')
  })

  test('of Python too', () => {
    const { reasons } = plan({ 'pyproject.toml': '', 'uv.lock': '', 'pdm.lock': '', 'main.py': '' })
    expect(reasons).toContain('uv from uv.lock; pdm.lock isn’t used')
  })

  test('a Dockerfile elsewhere is named', () => {
    const { reasons } = plan({ 'index.html': '', 'docker/Dockerfile.dev': '' })
    expect(reasons.join()).toContain('docker/Dockerfile.dev')
  })
})

test('a lock file of which no text is needed is not read, as it may be large', () => {
  const paths = ['package.json', 'package-lock.json', 'uv.lock'].join('\0')
  expect(manifestsOf({ paths }).own).toEqual(['package.json'])
})

test('texts made to be hard are read at once', () => {
  const long = 'a'.repeat(250_000)
  for (const texts of [
    {
      'package.json': json({
        scripts: { start: long, [long]: long },
        dependencies: { [long]: long },
      }),
    },
    { 'requirements.txt': `${' '.repeat(250_000)}x`, 'main.py': '' },
    { 'pyproject.toml': `a = "${'{'.repeat(250_000)}"`, 'poetry.lock': '', 'main.py': '' },
    { Gemfile: `${'path '.repeat(50_000)}`, 'config.ru': '' },
    { 'a.csproj': `Sdk="Microsoft.NET.Sdk.Web" ${'<TargetFramework>net1.'.repeat(11_000)}` },
    { 'go.mod': `go ${'1'.repeat(250_000)}`, 'main.go': '' },
    { 'pom.xml': `<java.version>${' '.repeat(250_000)}` },
    { Gemfile: `gem '${long}`, 'config.ru': '' },
    { 'mix.exs': `defmodule ${'a.'.repeat(100_000)} app: :x` },
    { 'index.html': '', Procfile: ` ${'\n '.repeat(100_000)}web` },
    { 'package.json': '{}', 'index.js': '', '.nvmrc': '\n'.repeat(250_000) },
    { 'package.json': '{}', Procfile: `web: a${' '.repeat(250_000)}b` },
    { 'requirements.txt': '\n '.repeat(125_000), 'main.py': '' },
    { 'go.mod': '\n'.repeat(250_000), 'main.go': '' },
  ] as Texts[]) {
    const begun = performance.now()
    try {
      plan(texts)
    } catch (error) {
      expect(error).toMatchObject({ code: expect.any(String) })
    }
    expect(performance.now() - begun).toBeLessThan(2000)
  }
})

describe('files of collected assets of Django need no secret', () => {
  const settings = (line: string) => ({
    'manage.py': '',
    'requirements.txt': 'django',
    'shop/wsgi.py': '',
    'shop/settings.py': `${line}\nSTATIC_ROOT = BASE_DIR / 'static'\n`,
  })

  test.each([
    [`SECRET_KEY = os.environ['SECRET_KEY']`, 'SECRET_KEY'],
    [`SECRET_KEY = os.environ.get(\n    "DJANGO_KEY"\n)`, 'DJANGO_KEY'],
    [`SECRET_KEY = env('KEY')`, 'KEY'],
  ])('%s gets another one for the build alone', (line, name) => {
    const step = `RUN ${name}=\${${name}:-only-for-this-build} python manage.py collectstatic`
    const { dockerfile } = plan(settings(line))
    expect(dockerfile).toContain(step)
    expect(dockerfile).not.toMatch(new RegExp(`^(ARG|ENV) .*${name}`, 'm'))
    const given = plan(settings(line), {}, [name]).dockerfile
    const [build, last] = given.split(/(?<=\n)(?=FROM python[^\n]*\n)(?![^]*AS build)/)
    expect(build).toContain(step)
    expect(last).not.toContain(name)
  })

  test.each([
    `SECRET_KEY = 'django-insecure-x'`,
    `SECRET_KEY = env("a b; id")`,
    `SECRET_KEY = env("$(id)")`,
  ])('%s doesn’t', (line) => {
    expect(plan(settings(line)).dockerfile).toContain(
      'RUN python manage.py collectstatic --noinput',
    )
  })
})

test.each([
  [`ruby '>= 3.2', '< 3.4'`, '3.3'],
  [`ruby "~> 3.2.0",\n     "< 4"`, '3.2'],
  [`ruby '~> 3.2'`, '3.4'],
  [`ruby(">= 3.3")`, '3.4'],
])('Ruby of %j is %s', (line, version) => {
  const { dockerfile } = plan({ Gemfile: `${line}\ngem 'sinatra'\ngem 'puma'`, 'config.ru': '' })
  expect(dockerfile).toContain(`ruby:${version}-slim`)
})
