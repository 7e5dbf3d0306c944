import { describe, expect, test } from 'bun:test'
import { json } from './plan.ts'
import { found, npm, others, packages, parts, pnpm, top } from './workspaces.ts'

describe('what a repository holds', () => {
  test.each([
    ['npm', npm],
    ['pnpm', pnpm],
    ['yarn', { ...npm, 'package-lock.json': undefined!, 'yarn.lock': '# yarn lockfile v1' }],
    [
      'bun',
      { ...packages, 'package.json': top({ workspaces: { packages: ['*/*'] } }), 'bun.lock': '' },
    ],
  ])('the apps and packages of %s are told apart, each with what it needs', (tool, texts) => {
    const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined))
    const all = parts(given)
    expect(Object.keys(all).sort()).toEqual(
      Object.keys(packages)
        .filter((path) => path.endsWith('.json'))
        .map((path) => path.slice(0, -13))
        .sort(),
    )
    expect(all['apps/web']).toMatchObject({ name: 'web', kind: 'Next.js', tool })
    expect(all['apps/api']).toMatchObject({ kind: 'Fastify', dependsOn: ['packages/db'] })
    for (const name of ['ui', 'util', 'db', 'tsconfig'])
      expect(all[`packages/${name}`]!.kind).toBeNull()
    expect(all['apps/web']!.dependsOn.toSorted()).toEqual([
      'packages/tsconfig',
      'packages/ui',
      'packages/util',
    ])
    expect(all['apps/web']!.watchPaths).toContain('package.json')
    expect(all['apps/web']!.watchPaths).toContain('packages/util')
    expect(all['apps/web']!.watchPaths).not.toContain('packages/db')
  })

  test('the apps are named where the top is none', () => {
    const { problem } = found(npm)
    expect(problem!.code).toBe('not_recognized')
    for (const app of ['apps/web (Next.js)', 'apps/api (Fastify)'])
      expect(problem!.message).toContain(app)
  })

  test.each(others)('of %s', (_, texts, expected) => {
    const all = parts(texts)
    expect(all).toMatchObject(expected)
    expect(Object.keys(all).sort()).toEqual(Object.keys(expected).sort())
  })

  test('folders are none where the top is the app', () => {
    const texts = {
      'package.json': json({ scripts: { start: 'node x' } }),
      'client/package.json': '{}',
    }
    expect(found(texts)).toMatchObject({ plan: { kind: 'Node' }, workspaces: [] })
  })
})
