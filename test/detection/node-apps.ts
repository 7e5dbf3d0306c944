import type { RealApp } from './real-app.ts'

const node = 'node:24.20-slim'
const caddy = 'caddy:2.11-alpine'

/** What is built with the package managers and frameworks of npm. */
export const nodeApps: RealApp[] = [
  {
    name: 'express',
    kind: 'Express',
    images: [node],
    page: 'server.js',
    without: ['/app/node_modules/is-number'],
  },
  {
    name: 'static',
    kind: 'Static files',
    images: [caddy],
    page: 'index.html',
    without: ['/srv/.gitignore'],
  },
]
