import type { RealApp } from './real-app.ts'

const caddy = 'caddy:2.11-alpine'
const debian = 'debian:trixie-slim'
const go = ['golang:1.24', 'alpine:3.24']
const python = 'python:3.13-slim'
const ruby = 'ruby:3.3-slim'
const bundler = { file: 'Gemfile.lock', command: 'bundle lock' }

/** What is built with the languages that Debian has. */
export const otherApps: RealApp[] = [
  { name: 'python-plain', kind: 'Python', images: [python], page: 'main.py', without: [] },
  { name: 'django', kind: 'Django', images: [python], page: 'shop/urls.py', without: [] },
  { name: 'flask', kind: 'Flask', images: [python], page: 'app.py', without: [] },
  { name: 'fastapi', kind: 'FastAPI', images: [python], page: 'app/main.py', without: [] },
  {
    name: 'go-plain',
    kind: 'Go',
    images: go,
    page: 'main.go',
    without: ['/app/main.go', '/usr/local/go'],
  },
  {
    name: 'go-vendor',
    kind: 'Go',
    images: go,
    page: 'templates/page.html',
    without: ['/app/vendor', '/app/cmd', '/usr/local/go'],
  },
  {
    name: 'gin',
    kind: 'Gin',
    images: go,
    page: 'cmd/server/main.go',
    lock: { file: 'go.sum', command: 'go list -mod=mod -deps ./...' },
    without: ['/app/cmd', '/usr/local/go'],
  },
  {
    name: 'rust-http',
    kind: 'Rust',
    images: ['rust:1.85-slim', debian],
    page: 'src/main.rs',
    without: ['/app/src', '/app/target', '/usr/bin/cargo'],
  },
  {
    name: 'axum',
    kind: 'Axum',
    images: ['rust:1.85-slim', debian],
    page: 'src/main.rs',
    lock: { file: 'Cargo.lock', command: 'cargo generate-lockfile --offline' },
    without: ['/app/src', '/app/target', '/usr/bin/cargo'],
  },
  {
    name: 'sinatra',
    kind: 'Sinatra',
    images: [ruby],
    page: 'app.rb',
    lock: bundler,
    without: ['/usr/bin/gcc', '/usr/local/bundle/ruby/3.3.0/gems/rack-test-2.2.0'],
  },
  {
    name: 'rails',
    kind: 'Rails',
    images: [ruby],
    page: 'app/controllers/pages_controller.rb',
    lock: bundler,
    without: ['/usr/bin/gcc'],
  },
  {
    name: 'php-plain',
    kind: 'PHP',
    images: ['php:8.4-apache'],
    page: 'index.php',
    without: ['/var/www/html/.php-version'],
  },
  {
    name: 'php-composer',
    kind: 'PHP',
    images: ['php:8.4-apache', 'composer:2.9'],
    page: 'packages/pages/src/Page.php',
    without: ['/usr/local/bin/composer', '/usr/bin/unzip'],
  },
  // with Composer's packages
  ...(['Laravel', 'Symfony'] as const).map((kind) => ({
    name: kind.toLowerCase(),
    kind,
    images: ['php:8.4-apache', 'composer:2.9'],
    page: kind === 'Laravel' ? 'resources/views/page.blade.php' : 'src/Kernel.php',
    without: ['/usr/local/bin/composer', '/usr/bin/unzip'],
  })),
  {
    name: 'maven',
    kind: 'Java',
    images: ['maven:3.9-eclipse-temurin-21', 'eclipse-temurin:21-jre'],
    page: 'src/main/java/hello/Main.java',
    without: ['/app/src', '/app/pom.xml', '/opt/java/openjdk/bin/javac'],
  },
  {
    name: 'elixir',
    kind: 'Elixir',
    images: ['elixir:1.18-slim', debian],
    page: 'lib/pages.ex',
    without: ['/app/mix.exs', '/usr/bin/elixir'],
  },
  {
    name: 'hugo',
    kind: 'Hugo',
    images: [debian, caddy],
    page: 'content/_index.md',
    without: ['/srv/hugo.toml', '/srv/content'],
  },
  {
    name: 'jekyll',
    kind: 'Jekyll',
    images: [ruby, caddy],
    page: 'index.md',
    lock: bundler,
    without: ['/srv/_config.yml'],
  },
  {
    name: 'mdbook',
    kind: 'mdBook',
    images: [debian, caddy],
    page: 'src/pages.md',
    path: '/pages.html',
    without: ['/srv/book.toml'],
  },
  {
    name: 'mkdocs',
    kind: 'MkDocs',
    images: [python, caddy],
    page: 'docs/index.md',
    without: ['/srv/mkdocs.yml', '/srv/requirements.txt'],
  },
  {
    name: 'static-spa',
    kind: 'Static files',
    images: [caddy],
    page: 'index.html',
    path: '/people/1',
    settings: { spa: true },
    without: [],
  },
]
