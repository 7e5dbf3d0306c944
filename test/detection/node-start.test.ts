import { expect, test } from 'bun:test'
import { json, node, plan } from './plan.ts'
import type { Texts } from './plan.ts'

const commandOf = (texts: Texts) => /^CMD (.*)$/m.exec(plan(texts).dockerfile)![1]

test.each<[string, string[], Texts]>([
  [
    'a script that runs another',
    ['node', 'a.js'],
    node({ scripts: { start: 'yarn serve', serve: 'pnpm run web', web: 'node a.js' } }),
  ],
  [
    'what follows a build, which has been made',
    ['node', 'dist/a.js'],
    node({ scripts: { build: 'tsc', start: 'npm run build && node dist/a.js' } }),
  ],
  [
    'migrations, then the app, which takes the place of the shell',
    ['sh', '-c', 'prisma migrate deploy && exec node a.js'],
    node({ scripts: { start: 'prisma migrate deploy && node a.js' } }),
  ],
  [
    'the file that the build makes',
    ['node', 'dist/index.js'],
    node({ main: 'dist/index.js', scripts: { build: 'tsc' } }),
  ],
  [
    'start:prod before start',
    ['node', 'b.js'],
    node({ scripts: { start: 'nodemon', 'start:prod': 'node b.js' } }),
  ],
])('an app starts with %s', (_, command, texts) => {
  expect(commandOf(texts)).toBe(json(command))
})

test.each([
  ['tsx src/index.ts', 'tsx'],
  ['node --import tsx src/index.ts', 'tsx'],
  ['node -r ts-node/register src/index.ts', 'ts-node'],
  ['NODE_ENV=production babel-node index.js', '@babel/node'],
])('what only development needs stays where the app starts with it: %s', (start, name) => {
  const manifest = { scripts: { start }, devDependencies: { [name]: '1', jest: '30' } }
  const { dockerfile, reasons } = plan(node(manifest))
  expect(dockerfile).toMatch(/AS modules\nCOPY \S+ \S+ \.\/\nRUN \S+ npm ci --include=dev\n/)
  expect(reasons.at(-1)).toContain(`${name} starts it`)
})

test('what only development needs goes where the app starts without it', () => {
  const manifest = { scripts: { start: 'node tsx.js' }, devDependencies: { tsx: '4' } }
  const { dockerfile } = plan(node({ ...manifest, dependencies: { pg: '8' } }))
  expect(dockerfile).toContain('npm ci --omit=dev')
})
