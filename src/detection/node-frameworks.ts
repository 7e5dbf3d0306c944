import { joinWords } from '../platform/shell-words.ts'
import type { Files } from './files.ts'
import { objectOf, stringOf } from './files.ts'
import type { JsonObject } from './files.ts'
import { lacking } from './plan.ts'

/** How a framework's build is served. */
export type Served =
  | { directory: string; spa: boolean }
  | {
      start: string
      /** What the app needs of the build besides node_modules; all of it where missing. */
      only?: [from: string, to: string][]
      env?: string
      /** What the build leaves for the next build. */
      caches?: string[]
    }

export type Framework = {
  name: string
  /** The package that shows it; the version in the reasons is this package's. */
  package: string
  /** What builds it where package.json has no script “build”. */
  build?: string
  /** Null when package.json's scripts say how it starts. */
  serve: (options: {
    files: Files
    has: (name: string) => boolean
    scripts: JsonObject
  }) => Served | null
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
      if (output !== 'standalone') return { start: 'next start', caches: ['.next/cache'] }
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
    serve: ({ scripts }) =>
      /\bnux[ti] generate\b/.test(stringOf(scripts['build']) ?? '')
        ? { directory: '.output/public', spa: false }
        : { start: 'node .output/server/index.mjs', only: [['.output', '.output']] },
  },
  ...['@react-router/dev', '@react-router/serve'].map((name) => ({
    name: 'React Router',
    package: name,
    build: 'react-router build',
    serve: reactRouter,
  })),
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
          spa: /\bfallback\s*:/.test(config(files, /^(svelte|vite)\.config\.[jt]s$/)),
        }
      if (has('@sveltejs/adapter-node')) return { start: 'node build' }
      throw lacking(
        'This is a SvelteKit app without an adapter for a server.',
        'Install @sveltejs/adapter-node (or @sveltejs/adapter-static) and use it in the configuration.',
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
    serve: angular,
  },
  {
    name: 'NestJS',
    package: '@nestjs/core',
    build: 'nest build',
    serve: ({ scripts }) =>
      stringOf(scripts['start:prod']) === null ? { start: 'node dist/main' } : null,
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
    serve: site('build', true),
  },
  {
    name: 'Vue CLI',
    package: '@vue/cli-service',
    build: 'vue-cli-service build',
    serve: site('dist', true),
  },
  { name: 'Fastify', package: 'fastify', serve: () => null },
  { name: 'Hono', package: 'hono', serve: () => null },
  { name: 'Koa', package: 'koa', serve: () => null },
  { name: 'Express', package: 'express', serve: () => null },
  { name: 'Parcel', package: 'parcel', build: 'parcel build', serve: site('dist', true) },
  { name: 'Vite', package: 'vite', build: 'vite build', serve: site('dist', true) },
]

function site(directory: string, spa = false): Framework['serve'] {
  return () => ({ directory, spa })
}

function reactRouter({ files, has }: { files: Files; has: (name: string) => boolean }) {
  if (/\bssr\s*:\s*false\b/.test(config(files, /^react-router\.config\.[jt]s$/)))
    return { directory: 'build/client', spa: true }
  return has('@react-router/serve') ? { start: 'react-router-serve ./build/server/index.js' } : null
}

/** Where its build leaves the app depends on the builder. */
function angular({ files, has }: { files: Files; has: (name: string) => boolean }): Served {
  const [name = 'app', project] =
    Object.entries(objectOf(files.json('angular.json')['projects']))[0] ?? []
  const architect = objectOf(project)['architect'] ?? objectOf(project)['targets']
  const build = objectOf(objectOf(architect)['build'])
  const { outputPath } = objectOf(build['options'])
  const base = stringOf(outputPath) ?? stringOf(objectOf(outputPath)['base']) ?? `dist/${name}`
  if (has('@angular/ssr')) return { start: joinWords(['node', `${base}/server/server.mjs`]) }
  const isFlat = /:browser$/.test(stringOf(build['builder']) ?? '')
  const browser = stringOf(objectOf(outputPath)['browser']) ?? (isFlat ? '' : 'browser')
  return { directory: [base, browser].filter((part) => part !== '').join('/'), spa: true }
}

/** Its folder is an argument of its commands: `vitepress build docs`. */
function vitePress({ files }: { files: Files }): Served {
  const settings = files.find(/(^|\/)\.vitepress\/config\.(js|mjs|ts|mts)$/) ?? ''
  return {
    directory: `${settings.slice(0, settings.indexOf('.vitepress/'))}.vitepress/dist`,
    spa: false,
  }
}
