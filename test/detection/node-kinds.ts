import { caddy, json, node } from './plan.ts'
import type { Kind } from './plan.ts'

/** Node, Bun and Deno. */
export const nodeKinds: Kind[] = [
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
    'denoland/deno:2.9.6',
    ['deno', 'run', '-A', 'main.ts'],
  ],
  [
    'Nuxt',
    node({ scripts: { build: 'nuxt generate' }, dependencies: { nuxt: '4' } }),
    caddy.base,
    caddy.command,
  ],
  [
    'React Router',
    node(
      { devDependencies: { '@react-router/dev': '7' } },
      { 'react-router.config.ts': 'export default { ssr: false }' },
    ),
    caddy.base,
    caddy.command,
  ],
  [
    'React Router',
    node({
      scripts: { start: 'node server.js' },
      devDependencies: { '@react-router/dev': '7' },
      dependencies: { '@react-router/express': '7', express: '5' },
    }),
    'node:24.20-slim',
    ['node', 'server.js'],
  ],
  [
    'Remix',
    node({ dependencies: { '@remix-run/serve': '2' } }),
    'node:24.20-slim',
    ['remix-serve', './build/server/index.js'],
  ],
  [
    'Angular',
    node(
      { dependencies: { '@angular/core': '20', '@angular/ssr': '20' } },
      { 'angular.json': json({ projects: { shop: {} } }) },
    ),
    'node:24.20-slim',
    ['node', 'dist/shop/server/server.mjs'],
  ],
  [
    'NestJS',
    node({
      scripts: { 'start:prod': 'node dist/src/main' },
      dependencies: { '@nestjs/core': '12' },
    }),
    'node:24.20-slim',
    ['node', 'dist/src/main'],
  ],
  ...[
    'gatsby',
    '@docusaurus/core',
    'vitepress',
    '@11ty/eleventy',
    'react-scripts',
    '@vue/cli-service',
    'parcel',
  ].map((name, index): Kind => [
    ['Gatsby', 'Docusaurus', 'VitePress', 'Eleventy', 'Create React App', 'Vue CLI', 'Parcel'][
      index
    ]!,
    node({ devDependencies: { [name]: '1' } }),
    caddy.base,
    caddy.command,
  ]),
  [
    'Koa',
    node({ scripts: { start: 'node app.js' }, dependencies: { koa: '3', vite: '7', parcel: '2' } }),
    'node:24.20-slim',
    ['node', 'app.js'],
  ],
  [
    'Fresh',
    {
      'deno.json': json({
        imports: { fresh: 'jsr:@fresh/core@^2' },
        tasks: { build: 'vite build', start: 'deno serve -A _fresh/server.js' },
      }),
      'main.ts': '',
    },
    'denoland/deno:2.9.6',
    ['sh', '-c', 'exec deno serve --port $PORT -A _fresh/server.js'],
  ],
  [
    'Bun',
    { 'package.json': json({ packageManager: 'bun@1.3.0' }), 'index.ts': '' },
    'oven/bun:1.3-slim',
    ['bun', 'index.ts'],
  ],
]
