import { expect, test } from 'bun:test'
import { json, plan } from './plan.ts'
import type { Texts } from './plan.ts'

/** Repositories as the generators and guides of their frameworks leave them, without a Dockerfile. */
const typical: { what: string; kind: string; reasons: string[]; links: string[]; texts: Texts }[] =
  [
    {
      what: 'create-next-app with TypeScript, Tailwind and pnpm',
      kind: 'Next.js',
      reasons: [
        'Next.js 15 from package.json',
        'pnpm 9.15.4 from packageManager',
        'Node 22.14 from .nvmrc',
      ],
      links: [],
      texts: {
        'package.json': json({
          name: 'shop',
          version: '0.1.0',
          private: true,
          packageManager: 'pnpm@9.15.4+sha512.b2dc20e2fc72b3e18848459b37359a32064663e5',
          scripts: {
            dev: 'next dev --turbopack',
            build: 'next build',
            start: 'next start',
            lint: 'next lint',
          },
          dependencies: { next: '15.3.2', react: '^19.0.0', 'react-dom': '^19.0.0' },
          devDependencies: { '@tailwindcss/postcss': '^4', tailwindcss: '^4', typescript: '^5' },
        }),
        'pnpm-lock.yaml': `lockfileVersion: '9.0'\n`,
        '.nvmrc': 'v22.14.0\n',
        'next.config.ts': `import type { NextConfig } from 'next'\n\nconst nextConfig: NextConfig = {}\n\nexport default nextConfig\n`,
        'src/app/page.tsx': '',
        'README.md': '',
        '.gitignore': '',
      },
    },
    {
      what: 'a React app of create-vite',
      kind: 'Vite',
      reasons: [
        'npm from package-lock.json',
        'builds with npm run build',
        'serves the files of dist',
      ],
      links: [],
      texts: {
        'package.json': json({
          name: 'spa',
          private: true,
          version: '0.0.0',
          type: 'module',
          scripts: {
            dev: 'vite',
            build: 'tsc -b && vite build',
            lint: 'eslint .',
            preview: 'vite preview',
          },
          dependencies: { react: '^19.1.0', 'react-dom': '^19.1.0' },
          devDependencies: {
            '@vitejs/plugin-react': '^4.4.1',
            typescript: '~5.8.3',
            vite: '^6.3.5',
          },
        }),
        'package-lock.json': '{}',
        'index.html': '',
        'vite.config.ts': '',
        'src/main.tsx': '',
      },
    },
    {
      what: 'an API on Express with PostgreSQL and Redis',
      kind: 'Express',
      reasons: ['Node 20.20 from engines in package.json', 'starts with node ./bin/www'],
      links: ['postgresql', 'redis'],
      texts: {
        'package.json': json({
          name: 'api',
          version: '1.0.0',
          engines: { node: '20.x' },
          scripts: { start: 'node ./bin/www', dev: 'nodemon ./bin/www', test: 'jest' },
          dependencies: { express: '~4.16.1', pg: '^8.11.0', redis: '^4.6.0', morgan: '~1.9.1' },
          devDependencies: { jest: '^29.0.0', nodemon: '^3.0.0' },
        }),
        'package-lock.json': '{}',
        'app.js': '',
        'bin/www': '',
        'public/index.html': '',
      },
    },
    {
      what: 'FastAPI with a list of requirements',
      kind: 'FastAPI',
      reasons: ['Python 3.12 from .python-version'],
      links: ['postgresql'],
      texts: {
        'requirements.txt':
          'fastapi==0.115.12\nuvicorn[standard]==0.34.2\npsycopg2-binary==2.9.10\n',
        '.python-version': '3.12\n',
        'app/__init__.py': '',
        'app/main.py': 'from fastapi import FastAPI\n\napp = FastAPI()\n',
      },
    },
    {
      what: 'a Django project with gunicorn',
      kind: 'Django',
      reasons: [],
      links: [],
      texts: {
        'requirements.txt': 'Django==5.2.1\ngunicorn==23.0.0\nwhitenoise==6.9.0\n',
        'manage.py': `os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'mysite.settings')`,
        'mysite/settings.py': `STATIC_URL = 'static/'\nSTATIC_ROOT = BASE_DIR / 'staticfiles'\n`,
        'mysite/wsgi.py': '',
        'mysite/asgi.py': '',
        'polls/models.py': '',
      },
    },
    {
      what: 'an API in Go with its program in cmd',
      kind: 'Gin',
      reasons: [],
      links: ['postgresql'],
      texts: {
        'go.mod':
          'module github.com/ada/api\n\ngo 1.24.2\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.10.0\n\tgithub.com/jackc/pgx/v5 v5.7.4\n)\n',
        'go.sum': '',
        'cmd/server/main.go': 'package main\n',
        'internal/store/store.go': 'package store\n',
        Makefile: '',
      },
    },
    {
      what: 'the skeleton of Laravel',
      kind: 'Laravel',
      reasons: [],
      links: [],
      texts: {
        'composer.json': json({
          name: 'laravel/laravel',
          require: { php: '^8.2', 'laravel/framework': '^12.0', 'laravel/tinker': '^2.10.1' },
        }),
        'composer.lock': '{}',
        'package.json': json({
          private: true,
          type: 'module',
          scripts: { build: 'vite build', dev: 'vite' },
          devDependencies: { 'laravel-vite-plugin': '^1.2.0', vite: '^6.2.4' },
        }),
        artisan: '',
        'public/index.php': '',
        'vite.config.js': '',
      },
    },
    {
      what: 'a page with its pictures',
      kind: 'Static files',
      reasons: ['serves the files of the directory itself'],
      links: [],
      texts: { 'index.html': '', 'style.css': '', 'images/cat.jpg': '', 'README.md': '' },
    },
  ]

test.each(typical)('$what is recognised: $kind', ({ kind, reasons, links, texts }) => {
  const found = plan(texts)
  expect(found.kind).toBe(kind)
  for (const reason of reasons) expect(found.reasons).toContain(reason)
  expect(found.links.map(({ template }) => template) as string[]).toEqual(links)
})
