import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { kinds } from './kinds.ts'
import { nodeApps } from './node-apps.ts'
import { otherApps } from './other-apps.ts'
import { filesOf, greeting } from './real-app.ts'
import { plan } from './plan.ts'
import { workspaceApps } from './workspace-apps.ts'

const apps = [...nodeApps, ...otherApps]
const built = new Set(apps.map(({ kind }) => kind))
const parsed = kinds.map(([kind]) => kind).filter((kind) => !built.has(kind))

test('the documentation says which kinds are built in a test, and which are only parsed', async () => {
  const path = join(import.meta.dir, '../../assets/docs/detection.md')
  const text = await Bun.file(path).text()
  const listed = (row: string) =>
    new RegExp(`^\\| ${row} +\\| ([^|]*?) +\\|$`, 'm').exec(text)?.[1]?.split(', ')
  expect(listed('built and run')).toEqual([...built].toSorted())
  expect(listed('parsed')).toEqual([...new Set(parsed)].toSorted())
})

test.each([...apps, ...workspaceApps].map((app) => [app.name, app] as const))(
  'the app %s of the tests is recognised, and based on the images that it names',
  (_, app) => {
    const found = plan(filesOf(app), app.settings, [], app.directory)
    expect(found.kind).toBe(app.kind)
    const named = found.dockerfile.matchAll(/(?:^FROM |--from=)(\S+:\S+)/gm)
    const bases = Array.from(named, ([, image]) => image!)
    expect([...new Set(bases)].toSorted()).toEqual(app.images.toSorted())
    expect(greeting(app, 'Ada')[app.page]).toContain('Hello, Ada')
  },
)
