import { describe, expect, test } from 'bun:test'
import { survey } from '../../src/detection/detect.ts'
import { json, question } from './plan.ts'
import { found, inWeb, npm, parts, top } from './workspaces.ts'

describe('hostile workspaces', () => {
  test('a cycle ends, and is told', () => {
    const a = json({
      name: 'a',
      dependencies: { b: '*' },
      scripts: { start: 'node x', build: 'tsc' },
    })
    const b = json({ name: 'b', dependencies: { a: '*' }, scripts: { build: 'tsc' } })
    const texts = { 'package.json': top(), 'apps/a/package.json': a, 'packages/b/package.json': b }
    const { dockerfile, reasons } = inWeb(texts, 'apps/a')
    expect(dockerfile).toMatch(/cd packages\/b [^]*cd apps\/a /)
    expect(reasons.join()).toContain('need each other')
  })

  test('two packages of one name are told', () => {
    const texts = { ...npm, 'packages/ui2/package.json': json({ name: '@acme/ui' }) }
    expect(inWeb(texts).reasons.join()).toContain('@acme/ui')
  })

  test.each(['--prefix=/', '$(id)', 'a"b', "a'b", 'a\nRUN id', '`id`', '; id', '~root'])(
    'the name %j is in no command',
    (name) => {
      const own = {
        name,
        scripts: { build: 'tsc', start: 'node x' },
        dependencies: { [name]: '*' },
      }
      for (const manifest of [
        top({ name, packageManager: 'yarn@4.0.0' }),
        top({ packageManager: 'npm@10.0.0', devDependencies: { turbo: name, nx: '1' } }),
      ]) {
        const texts = { ...npm, 'package.json': manifest, 'turbo.json': '{}', 'nx.json': '{}' }
        const { dockerfile } = inWeb({ ...texts, 'apps/evil/package.json': json(own) }, 'apps/evil')
        expect(dockerfile).not.toContain(name)
        expect(dockerfile).toContain('cd apps/evil && ')
      }
    },
  )

  test.each([
    'apps/$(id)',
    'apps/a b',
    'apps/-rf',
    'apps/a"b',
    'apps/.hidden',
    'apps/node_modules',
  ])('the folder %j is no package', (folder) => {
    const texts = {
      ...npm,
      [`${folder}/package.json`]: json({ name: 'x', scripts: { start: 'node x' } }),
    }
    expect(Object.keys(parts(texts))).not.toContain(folder)
  })

  test('patterns that leave the repository, or take long, match nothing else', () => {
    const begun = performance.now()
    const workspaces = [
      '../*',
      '/etc/*',
      '**/'.repeat(80) + 'x',
      '{a,b}'.repeat(40),
      '*'.repeat(250),
      'apps/*',
      5,
      null,
    ]
    const texts = { ...npm, 'package.json': top({ workspaces }) }
    expect(Object.values(parts(texts)).filter(({ tool }) => tool !== null)).toHaveLength(2)
    expect(performance.now() - begun).toBeLessThan(2000)
  })

  test.each([
    ['pnpm-workspace.yaml', 'packages: [&a [*a]'],
    ['package.json', '{"workspaces": ['],
    ['turbo.json', '{'],
    ['Cargo.toml', '[workspace'],
  ])('an invalid %s never ends the look', (path, text) => {
    const { workspaces } = found({ ...npm, [path]: text })
    expect(workspaces).toBeArray()
  })

  test('what is too large to read fails no other app, and then nothing is left out', () => {
    const texts = question(npm, { directory: 'apps/web' })
    const read = texts.texts.filter(([path]) => path !== 'packages/db/package.json')
    const { plan: planned } = survey({ ...texts, texts: read })
    expect(planned!.dockerignore).not.toContain('apps/api')
    expect(planned!.dockerfile).toMatch(/COPY \. \.\nRUN \S+ npm ci/)
  })

  test('5,000 members are looked at soon, and none is left out', () => {
    const begun = performance.now()
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [
        `packages/p${i}/package.json`,
        json({ name: `p${i}`, dependencies: { [`p${i + 1}`]: '*' } }),
      ]),
    )
    const { workspaces } = found({ ...npm, ...many })
    expect(workspaces.length).toBeLessThanOrEqual(500)
    expect(inWeb({ ...npm, ...many }).dockerignore).not.toContain('packages/p1')
    const last = { 'packages/z/package.json': json({ name: 'z', scripts: { start: 'node x' } }) }
    expect(inWeb({ ...npm, ...many, ...last }, 'packages/z').context).toBe('')
    expect(performance.now() - begun).toBeLessThan(5000)
  })
})
