import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { aProject, logOf } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import { ensureStandIns } from '../support/images/stand-ins.ts'
import { askEngine } from '../support/machine/engine.ts'
import { withLock } from './lock-file.ts'
import { greeting } from './real-app.ts'
import type { RealApp } from './real-app.ts'

/** Beside what an image has by itself, these must be nowhere in it. */
const secrets = {
  variable: 'b7f1-a-secret-of-the-build',
  dotenv: '93ce-a-secret-of-dotenv-local',
  git: '5d0a-the-message-of-a-commit',
}

/** A server that ends waits for connections that are kept. */
const closing = { headers: { Connection: 'close' } }

/** Files that lie about in repositories, and that no image gets. */
const litterFor = (files: Record<string, string>) => ({
  '.env.local': `SECRET=${secrets.dotenv}\n`,
  ...((files['package.json'] ?? files['deno.json']) && {
    'node_modules/left/index.js': `module.exports = '${secrets.dotenv}'\n`,
  }),
})

/**
 * Builds and runs each without a Dockerfile, and looks at what then runs: the response, on the port that is
 * asked for and after a change of the code; the user; the end by a signal; and what is in the image.
 */
export function testRealBuilds(apps: RealApp[]) {
  setDefaultTimeout(600_000)
  beforeAll(() => ensureStandIns([...new Set(apps.flatMap(({ images }) => images))]), 900_000)

  test.each(apps.map((app) => [app.name, app] as const))(
    '%s is built without a Dockerfile, responds, and stops when it is told to',
    async (_, app) => {
      const { t, ada } = withAda(testApp())
      const files = await withLock(app)
      const all = { ...litterFor(files), ...files }
      const project = await aProject(t, ada, all, { port: 4567 })
      await project.set({
        key: 'BUILD_SECRET',
        value: secrets.variable,
        secret: true,
        buildTime: true,
      })
      const { settings: buildSettings = {}, directory: contextDir = '.' } = app
      const changed = await ada.put(`/projects/${project.id}/settings`, {
        buildSettings,
        contextDir,
      })
      expect(changed.status).toBe(200)
      const found = (await ada.get(`/projects/${project.id}/detection`)).json
      expect(found).toMatchObject({ kind: app.kind, problem: null })

      project.repository.commit(greeting(app, 'Ada'), { message: secrets.git })
      const deployment = await project.deploy()
      if (deployment.status !== 'running')
        console.log(found.dockerfile, (await logOf(ada, deployment)).join('\n'))
      expect(deployment).toMatchObject({ status: 'running', error: null })
      const response = await fetch(new URL(app.path ?? '/', deployment.url), closing)
      expect(await response.text()).toContain('Hello, Ada')
      for (const path of ['.davit.Dockerfile', 'Dockerfile', '.env.local']) {
        const file = await fetch(new URL(path, deployment.url), closing)
        expect(await file.text()).not.toMatch(/FROM |SECRET=/)
      }

      const [container] = await t.docker.listContainers({
        labels: [`davit.deployment=${deployment.id}`],
      })
      const { id } = container!
      expect(await usersOf(id)).not.toContain('0')
      expect(await historyOf(id)).not.toContain(secrets.variable)
      for (const path of app.without) expect([path, await has(id, path)]).toEqual([path, false])
      expect(await needlesIn(id, Object.values(secrets))).toEqual([])

      const begun = performance.now()
      await askEngine(`/containers/${id}/stop?t=10`, { method: 'POST' })
      expect(performance.now() - begun).toBeLessThan(app.stopsIn ?? 2500)
    },
  )
}

/** The users of all its processes but the first, which is Docker's and passes signals on. */
async function usersOf(id: string) {
  const answer = await askEngine(`/containers/${id}/top?ps_args=-eo%20pid,uid,args`)
  const { Processes } = (await answer.json()) as { Processes: string[][] }
  expect(Processes.length).toBeGreaterThan(1)
  return Processes.filter(([, , args]) => !args!.startsWith('/sbin/docker-init')).map(
    ([, uid]) => uid,
  )
}

/** All that is known of how the image was made, and what a container of it gets. */
async function historyOf(id: string) {
  const inspected = await (await askEngine(`/containers/${id}/json`)).json()
  const { Image } = inspected as { Image: string }
  const image = await (await askEngine(`/images/${Image}/json`)).text()
  return image + (await (await askEngine(`/images/${Image}/history`)).text())
}

const has = async (id: string, path: string) =>
  (
    await askEngine(`/containers/${id}/archive?path=${encodeURIComponent(path)}`, {
      method: 'HEAD',
    })
  ).ok

/** Which of the texts are in one of its files. */
async function needlesIn(id: string, texts: string[]) {
  const needles = texts.map((text) => Buffer.from(text))
  const found = new Set<string>()
  let rest = Buffer.alloc(0)
  const { body } = await askEngine(`/containers/${id}/export`)
  for await (const chunk of body!) {
    const bytes = Buffer.concat([rest, chunk])
    for (const [index, needle] of needles.entries())
      if (bytes.includes(needle)) found.add(texts[index]!)
    rest = bytes.subarray(-100)
  }
  return [...found]
}
