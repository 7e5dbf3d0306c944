import { json, node } from './plan.ts'
import type { Texts } from './plan.ts'

const fastapi = 'from fastapi import FastAPI\n\napp = FastAPI()\n'
const caddy = {
  base: 'caddy:2.11-alpine',
  command: ['caddy', 'run', '--config', '/etc/caddy/Caddyfile'],
}
const sh = (line: string) => ['sh', '-c', `exec ${line}`]

export const kinds: [kind: string, texts: Texts, base: string, command: string[] | null][] = [
  [
    'Next.js',
    node({ scripts: { build: 'next build' }, dependencies: { next: '15.1.0' } }),
    'node:24.20-slim',
    ['next', 'start'],
  ],
  [
    'Next.js',
    node(
      { dependencies: { next: '15' } },
      { 'next.config.ts': `export default { output: 'standalone' }`, '.nvmrc': 'v22.4.1' },
    ),
    'node:22.4-slim',
    ['node', 'server.js'],
  ],
  [
    'Next.js',
    node(
      { dependencies: { next: '14' } },
      { 'next.config.js': `module.exports = { output: "export" }` },
    ),
    caddy.base,
    caddy.command,
  ],
  [
    'Nuxt',
    node({ dependencies: { nuxt: '^4' } }),
    'node:24.20-slim',
    ['node', '.output/server/index.mjs'],
  ],
  [
    'React Router',
    node({ dependencies: { '@react-router/serve': '7' } }),
    'node:24.20-slim',
    ['react-router-serve', './build/server/index.js'],
  ],
  [
    'SvelteKit',
    node({ devDependencies: { '@sveltejs/kit': '2', '@sveltejs/adapter-node': '5', vite: '7' } }),
    'node:24.20-slim',
    ['node', 'build'],
  ],
  ['Astro', node({ dependencies: { astro: '5' } }), caddy.base, caddy.command],
  [
    'Astro',
    node({ dependencies: { astro: '5', '@astrojs/node': '9' } }),
    'node:24.20-slim',
    ['node', './dist/server/entry.mjs'],
  ],
  [
    'Angular',
    node(
      { dependencies: { '@angular/core': '20' } },
      { 'angular.json': json({ projects: { shop: {} } }) },
    ),
    caddy.base,
    caddy.command,
  ],
  [
    'NestJS',
    node({ scripts: { build: 'nest build' }, dependencies: { '@nestjs/core': '11' } }),
    'node:24.20-slim',
    ['node', 'dist/main'],
  ],
  [
    'Vite',
    node(
      { scripts: { build: 'vite build', dev: 'vite' }, devDependencies: { vite: '7' } },
      { 'index.html': '' },
    ),
    caddy.base,
    caddy.command,
  ],
  [
    'Express',
    node({
      scripts: { start: 'npm run serve', serve: 'node --enable-source-maps src/index.js' },
      dependencies: { express: '5' },
    }),
    'node:24.20-slim',
    ['node', '--enable-source-maps', 'src/index.js'],
  ],
  [
    'Fastify',
    node({ scripts: { start: 'NODE_ENV=production node app.js' }, dependencies: { fastify: '5' } }),
    'node:24.20-slim',
    ['sh', '-c', 'NODE_ENV=production node app.js'],
  ],
  [
    'Node',
    node({ main: 'lib/main.js', engines: { node: '>=18 <21' } }, { 'lib/main.js': '' }),
    'node:20.20-slim',
    ['node', 'lib/main.js'],
  ],
  [
    'Hono',
    {
      'package.json': json({
        scripts: { start: 'bun run src/index.ts' },
        dependencies: { hono: '4' },
      }),
      'bun.lock': '',
    },
    'oven/bun:1.4-slim',
    ['bun', 'run', 'src/index.ts'],
  ],
  [
    'Deno',
    {
      'deno.json': '{ "tasks": { "start": "deno run -A main.ts" }, /* a comment */ }',
      'main.ts': '',
    },
    'denoland/deno:2.5.6',
    ['deno', 'run', '-A', 'main.ts'],
  ],
  [
    'Django',
    { 'manage.py': '', 'requirements.txt': 'Django==5.2\ngunicorn', 'shop/wsgi.py': '' },
    'python:3.14-slim',
    sh('gunicorn --bind 0.0.0.0:$PORT shop.wsgi:application'),
  ],
  [
    'FastAPI',
    {
      'pyproject.toml':
        '[project]\nname = "x"\nrequires-python = ">=3.12,<3.14"\ndependencies = ["fastapi[standard]"]',
      'uv.lock': '',
      'app/main.py': fastapi,
    },
    'python:3.13-slim',
    sh('uvicorn app.main:app --host 0.0.0.0 --port $PORT'),
  ],
  [
    'Flask',
    { 'requirements.txt': 'Flask', 'web/__init__.py': '', 'app.py': 'def create_app():\n  pass' },
    'python:3.14-slim',
    ['sh', '-c', `gunicorn --bind 0.0.0.0:$PORT 'app:create_app()'`],
  ],
  [
    'Streamlit',
    { 'requirements.txt': 'streamlit', 'app.py': '' },
    'python:3.14-slim',
    sh('streamlit run app.py --server.port $PORT --server.address 0.0.0.0 --server.headless true'),
  ],
  [
    'Python',
    { 'main.py': '', '.python-version': '3.12' },
    'python:3.12-slim',
    ['python', 'main.py'],
  ],
  [
    'Gin',
    {
      'go.mod': 'module x\n\ngo 1.22.0\n\nrequire github.com/gin-gonic/gin v1.10.0\n',
      'main.go': '',
    },
    'alpine:3.24',
    ['/app/app'],
  ],
  [
    'Go',
    {
      'go.mod': 'module x\n\nrequire (\n\tgithub.com/mattn/go-sqlite3 v1.14.0\n)\n',
      'cmd/server/main.go': '',
      'cmd/tool/main.go': '',
    },
    'debian:trixie-slim',
    ['/app/app'],
  ],
  [
    'Axum',
    {
      'Cargo.toml': '[package]\nname = "web"\n[dependencies]\naxum = "0.8"',
      'Cargo.lock': '',
      'src/main.rs': '',
    },
    'debian:trixie-slim',
    ['/app/app'],
  ],
  [
    'Rails',
    {
      Gemfile: `gem "rails"`,
      'Gemfile.lock': '    rails (8.0.1)\n    pg (1.5.9)\n',
      '.ruby-version': 'ruby-3.4.2',
    },
    'base',
    ['bin/rails', 'server', '-b', '0.0.0.0'],
  ],
  [
    'Sinatra',
    { Gemfile: `gem 'sinatra'\ngem 'puma'`, 'config.ru': '' },
    'base',
    sh('bundle exec puma -b tcp://0.0.0.0:$PORT'),
  ],
  [
    'Laravel',
    {
      'composer.json': json({ require: { php: '^8.3', 'laravel/framework': '^12' } }),
      'composer.lock': '{}',
      'public/index.php': '',
    },
    'php:8.5-apache',
    null,
  ],
  ['PHP', { 'index.php': '' }, 'php:8.5-apache', null],
  [
    'Spring Boot',
    {
      'pom.xml':
        '<artifactId>spring-boot-starter-parent</artifactId><java.version>17</java.version>',
    },
    'eclipse-temurin:17-jre',
    sh('java -Dserver.port=$PORT -jar app.jar'),
  ],
  [
    'Quarkus',
    { 'build.gradle': `id 'io.quarkus'` },
    'eclipse-temurin:21-jre',
    sh('java -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT -jar quarkus-run.jar'),
  ],
  [
    'ASP.NET Core',
    {
      'src/Web/Web.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>',
    },
    'mcr.microsoft.com/dotnet/aspnet:9.0',
    ['sh', '-c', 'ASPNETCORE_HTTP_PORTS=$PORT exec dotnet "Web.dll"'],
  ],
  [
    'Phoenix',
    { 'mix.exs': 'defmodule Shop.MixProject do\n app: :shop,\n {:phoenix, "~> 1.8"}' },
    'elixir:1.20-slim',
    ['/app/bin/shop', 'start'],
  ],
  ['Hugo', { 'hugo.toml': '', 'content/a.md': '' }, caddy.base, caddy.command],
  ['Jekyll', { '_config.yml': '', Gemfile: `gem 'jekyll'` }, caddy.base, caddy.command],
  ['mdBook', { 'book.toml': '', 'src/SUMMARY.md': '' }, caddy.base, caddy.command],
  ['Static files', { 'public/index.html': '' }, caddy.base, caddy.command],
]
