import type { RealApp } from './real-app.ts'

const node = 'node:24.20-slim'

/** An app and the packages that it needs, which are built before; another app, whose build would fail. */
const app = (name: string, more: Partial<RealApp> = {}): RealApp => ({
  name: `${name}-workspace`,
  directory: 'apps/web',
  kind: 'Node',
  images: [node],
  page: 'packages/words/index.js',
  without: [
    '/app/apps/admin/server.js',
    ...['kleur', 'left-pad', 'husky', 'turbo', 'nx', 'is-odd'].map(
      (each) => `/app/node_modules/${each}`,
    ),
    '/app/.turbo/cache',
    ...['/app/apps/web/node_modules/is-odd', '/app/apps/admin/node_modules/kleur'],
  ],
  ...more,
})

export const workspaceApps: RealApp[] = [
  app('npm'),
  app('pnpm'),
  app('yarn'),
  app('turbo'),
  app('nx'),
  app('bun', { images: ['oven/bun:1.4-slim'], kind: 'Bun' }),
  app('go', {
    directory: 'web',
    kind: 'Go',
    images: ['golang:1.24', 'alpine:3.24'],
    page: 'words/words.go',
    without: ['/app/words'],
  }),
  app('cargo', {
    directory: 'crates/server',
    kind: 'Rust',
    images: ['rust:1.85-slim', 'debian:trixie-slim'],
    page: 'crates/words/src/lib.rs',
    lock: { file: 'Cargo.lock', command: 'cargo generate-lockfile --offline' },
    without: ['/app/crates', '/usr/bin/cargo'],
  }),
  app('maven', {
    directory: 'web',
    kind: 'Java',
    images: ['maven:3.9-eclipse-temurin-21', 'eclipse-temurin:21-jre'],
    page: 'words/src/main/java/hello/Words.java',
    without: ['/app/web', '/opt/java/openjdk/bin/javac'],
  }),
]
