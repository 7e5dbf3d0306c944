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
    ...['kleur', 'left-pad', 'husky', 'turbo', 'is-odd'].map((each) => `/app/node_modules/${each}`),
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
  app('bun', { images: ['oven/bun:1.4-slim'], kind: 'Bun' }),
  app('go', {
    directory: 'web',
    kind: 'Go',
    images: ['golang:1.24', 'alpine:3.24'],
    page: 'words/words.go',
    without: ['/app/words'],
  }),
]
