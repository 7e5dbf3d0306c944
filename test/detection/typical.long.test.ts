import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { aProject, logOf } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import { ensureStandIns } from '../support/images/stand-ins.ts'
import { withLock } from './lock-file.ts'
import { nodeApps } from './node-apps.ts'
import { otherApps } from './other-apps.ts'

setDefaultTimeout(900_000)

/** Of the kinds of `typical.test.ts`, in its order. */
const names = ['next', 'vite', 'express', 'fastapi', 'django', 'gin', 'laravel', 'static']
const apps = names.map((name) => [...nodeApps, ...otherApps].find((app) => app.name === name)!)

beforeAll(() => ensureStandIns([...new Set(apps.flatMap(({ images }) => images))]), 900_000)

test('the eight typical repositories are deployed without a Dockerfile, and respond at once', async () => {
  const { t, ada } = withAda(testApp())
  const urls: URL[] = []
  for (const app of apps) {
    const healthPath = app.path ?? '/'
    const files = await withLock(app)
    const project = await aProject(t, ada, files, { name: app.name, healthPath })
    if (app.settings)
      await ada.put(`/projects/${project.id}/settings`, { buildSettings: app.settings })
    const found = (await ada.get(`/projects/${project.id}/detection`)).json
    expect(found).toMatchObject({ kind: app.kind, problem: null })
    const deployment = await project.deploy()
    if (deployment.status !== 'running') console.log((await logOf(ada, deployment)).join('\n'))
    expect([app.name, deployment.status]).toEqual([app.name, 'running'])
    urls.push(new URL(healthPath, deployment.url))
  }
  const texts = await Promise.all(urls.map(async (url) => (await fetch(url)).text()))
  expect(texts.map((text) => text.includes('Hello, world'))).toEqual(names.map(() => true))
})
