import type { RealApp } from './real-app.ts'

const node = 'node:24.20-slim'
const caddy = 'caddy:2.11-alpine'
const bun = 'oven/bun:1.4-slim'

/** Where the packages of a build would be. */
const modules = (...names: string[]) => names.map((name) => `/app/node_modules/${name}`)

/** The package managers, each with an app on one of the small frameworks. */
export const smallApps: RealApp[] = [
  // npm
  {
    name: 'express',
    kind: 'Express',
    images: [node],
    page: 'server.js',
    without: modules('is-number'),
  },
  // pnpm by packageManager, with a build
  {
    name: 'fastify',
    kind: 'Fastify',
    images: [node],
    page: 'src/server.ts',
    without: modules('typescript', '.pnpm/typescript@5.9.3', '@types'),
  },
  // Yarn 1
  { name: 'koa', kind: 'Koa', images: [node], page: 'app.js', without: modules('is-number') },
  // Yarn 4 by packageManager
  { name: 'hono', kind: 'Hono', images: [node], page: 'web.js', without: modules('is-number') },
  { name: 'bun', kind: 'Hono', images: [bun], page: 'src/index.ts', without: modules('is-number') },
  { name: 'bun-plain', kind: 'Bun', images: [bun], page: 'server.ts', without: modules('left') },
  {
    name: 'deno',
    kind: 'Deno',
    images: ['denoland/deno:2.9.6'],
    page: 'main.ts',
    without: modules('left'),
  },
  { name: 'procfile', kind: 'Node', images: [node], page: 'bin/www.js', without: modules('left') },
  {
    name: 'vite',
    kind: 'Vite',
    images: ['node:22.23-slim', caddy],
    page: 'index.html',
    // The SPA switch: an address of the app's own router.
    path: '/shop/7',
    without: ['/srv/src', '/srv/package.json', '/app', '/usr/local/bin/node'],
  },
  {
    name: 'static',
    kind: 'Static files',
    images: [caddy],
    page: 'index.html',
    without: ['/srv/.gitignore'],
  },
]

/** Frameworks that bring a build. */
export const frameworkApps: RealApp[] = [
  {
    name: 'next',
    kind: 'Next.js',
    images: [node],
    page: 'app/page.jsx',
    without: ['/app/.next/cache', '/app/app', ...modules('@next/swc-linux-x64-gnu')],
  },
  {
    name: 'react-router',
    kind: 'React Router',
    images: [node],
    page: 'app/routes/home.jsx',
    without: modules('vite', '@react-router/dev'),
  },
  {
    name: 'sveltekit',
    kind: 'SvelteKit',
    images: [node],
    page: 'src/routes/+page.svelte',
    without: modules('vite', '@sveltejs'),
  },
  {
    name: 'astro',
    kind: 'Astro',
    images: [node, caddy],
    page: 'src/pages/index.astro',
    without: ['/srv/src', '/app'],
  },
  {
    name: 'nest',
    kind: 'NestJS',
    images: [node],
    page: 'src/app.module.ts',
    without: modules('@nestjs/cli', 'typescript'),
  },
]

/** Those that take long. */
export const heavyApps: RealApp[] = [
  {
    name: 'nuxt',
    kind: 'Nuxt',
    images: [node],
    page: 'app/app.vue',
    without: modules('nuxt'),
  },
  // without standalone, by Bun
  {
    name: 'next-bun',
    kind: 'Next.js',
    images: [bun],
    page: 'app/page.jsx',
    without: ['/app/.next/cache'],
  },
  {
    name: 'angular',
    kind: 'Angular',
    images: [node, caddy],
    page: 'src/index.html',
    path: '/shop/7',
    without: ['/srv/main.ts', '/app'],
  },
  {
    name: 'remix',
    kind: 'Remix',
    images: [node],
    page: 'app/routes/_index.jsx',
    without: modules('vite', '@remix-run/dev'),
    stopsIn: 7000,
  },
  {
    name: 'astro-node',
    kind: 'Astro',
    images: [node],
    page: 'src/pages/index.astro',
    without: modules('left'),
  },
  {
    name: 'vitepress',
    kind: 'VitePress',
    images: [node, caddy],
    page: 'docs/index.md',
    without: ['/app'],
  },
  {
    name: 'eleventy',
    kind: 'Eleventy',
    images: [node, caddy],
    page: 'index.md',
    without: ['/app'],
  },
  {
    name: 'parcel',
    kind: 'Parcel',
    images: [node, caddy],
    page: 'src/index.html',
    without: ['/app'],
  },
  {
    name: 'docusaurus',
    kind: 'Docusaurus',
    images: [node, caddy],
    page: 'docs/index.md',
    without: ['/app'],
  },
  // with a sharp that npm has, as its own downloads its library from elsewhere
  {
    name: 'gatsby',
    kind: 'Gatsby',
    images: [node, caddy],
    page: 'src/pages/index.jsx',
    without: ['/app'],
  },
  {
    name: 'create-react-app',
    kind: 'Create React App',
    images: [node, caddy],
    page: 'public/index.html',
    path: '/shop/7',
    without: ['/app'],
  },
  {
    name: 'vue-cli',
    kind: 'Vue CLI',
    images: [node, caddy],
    page: 'public/index.html',
    path: '/shop/7',
    without: ['/app'],
  },
]

/** What is built with the package managers and frameworks of npm. */
export const nodeApps = [...smallApps, ...frameworkApps, ...heavyApps]
