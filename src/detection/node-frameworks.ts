import type { Files } from './files.ts'
import { lacking } from './plan.ts'

/** How a framework's build is served. */
export type Served =
  | { directory: string; spa: boolean }
  | {
      start: string
      /** What the app needs of the build besides node_modules; all of it where missing. */
      only?: [from: string, to: string][]
      env?: string
    }

export type Framework = {
  name: string
  /** The package that shows it; the version in the reasons is this package's. */
  package: string
  /** What builds it where package.json has no script “build”. */
  build?: string
  /** Null when package.json's scripts say how it starts. */
  serve: (options: { files: Files; has: (name: string) => boolean }) => Served | null
}

const config = (files: Files, name: RegExp) => files.text(files.find(name) ?? '')

/** A repository is of the first kind whose package it has. */
export const frameworks: Framework[] = [
  {
    name: 'Next.js',
    package: 'next',
    build: 'next build',
    serve({ files }) {
      const text = config(files, /^next\.config\.(js|mjs|cjs|ts|mts)$/)
      const output = /\boutput\s*:\s*['"`](standalone|export)['"`]/.exec(text)?.[1]
      if (output === 'export') return { directory: 'out', spa: false }
      if (output !== 'standalone') return { start: 'next start' }
      return {
        start: 'node server.js',
        only: [
          ['.next/standalone', '.'],
          ['.next/static', '.next/static'],
          ...(files.hasFolder('public') ? [['public', 'public'] as [string, string]] : []),
        ],
        env: 'HOSTNAME=0.0.0.0',
      }
    },
  },
  {
    name: 'Nuxt',
    package: 'nuxt',
    build: 'nuxt build',
    serve: () => ({ start: 'node .output/server/index.mjs', only: [['.output', '.output']] }),
  },
  {
    name: 'React Router',
    package: '@react-router/serve',
    build: 'react-router build',
    serve: () => ({ start: 'react-router-serve ./build/server/index.js' }),
  },
  {
    name: 'Remix',
    package: '@remix-run/serve',
    build: 'remix vite:build',
    serve: () => ({ start: 'remix-serve ./build/server/index.js' }),
  },
  {
    name: 'SvelteKit',
    package: '@sveltejs/kit',
    build: 'vite build',
    serve({ files, has }) {
      if (has('@sveltejs/adapter-static'))
        return {
          directory: 'build',
          spa: /\bfallback\s*:/.test(config(files, /^svelte\.config\.[jt]s$/)),
        }
      if (has('@sveltejs/adapter-node')) return { start: 'node build' }
      throw lacking(
        'This is a SvelteKit app without an adapter for a server.',
        'Install @sveltejs/adapter-node (or @sveltejs/adapter-static) and use it in svelte.config.js.',
      )
    },
  },
  {
    name: 'Astro',
    package: 'astro',
    build: 'astro build',
    serve: ({ has }) =>
      has('@astrojs/node')
        ? { start: 'node ./dist/server/entry.mjs', env: 'HOST=0.0.0.0' }
        : { directory: 'dist', spa: false },
  },
  {
    name: 'Angular',
    package: '@angular/core',
    build: 'ng build',
    serve({ files, has }) {
      const projects = files.json('angular.json')['projects']
      const name = Object.keys((projects as object | undefined) ?? {})[0] ?? 'app'
      return has('@angular/ssr')
        ? { start: `node dist/${name}/server/server.mjs` }
        : { directory: `dist/${name}/browser`, spa: true }
    },
  },
  {
    name: 'NestJS',
    package: '@nestjs/core',
    build: 'nest build',
    serve: () => ({ start: 'node dist/main' }),
  },
  { name: 'Gatsby', package: 'gatsby', build: 'gatsby build', serve: site('public') },
  {
    name: 'Docusaurus',
    package: '@docusaurus/core',
    build: 'docusaurus build',
    serve: site('build'),
  },
  { name: 'VitePress', package: 'vitepress', build: 'vitepress build', serve: vitePress },
  { name: 'Eleventy', package: '@11ty/eleventy', build: 'eleventy', serve: site('_site') },
  {
    name: 'Create React App',
    package: 'react-scripts',
    build: 'react-scripts build',
    serve: spa('build'),
  },
  {
    name: 'Vue CLI',
    package: '@vue/cli-service',
    build: 'vue-cli-service build',
    serve: spa('dist'),
  },
  { name: 'Parcel', package: 'parcel', build: 'parcel build', serve: spa('dist') },
  { name: 'Fastify', package: 'fastify', serve: () => null },
  { name: 'Hono', package: 'hono', serve: () => null },
  { name: 'Koa', package: 'koa', serve: () => null },
  { name: 'Express', package: 'express', serve: () => null },
  { name: 'Vite', package: 'vite', build: 'vite build', serve: spa('dist') },
]

function site(directory: string): Framework['serve'] {
  return () => ({ directory, spa: false })
}

function spa(directory: string): Framework['serve'] {
  return () => ({ directory, spa: true })
}

/** Its folder is an argument of its commands: `vitepress build docs`. */
function vitePress({ files }: { files: Files }): Served {
  const settings = files.find(/(^|\/)\.vitepress\/config\.(js|mjs|ts|mts)$/) ?? ''
  return {
    directory: `${settings.slice(0, settings.indexOf('.vitepress/'))}.vitepress/dist`,
    spa: false,
  }
}
