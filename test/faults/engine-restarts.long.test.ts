import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import type { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { aBuild, aCommand } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { startPrivateEngine } from './private-engine.ts'
import { aProject } from './project.ts'
import type { Ended } from './project.ts'

/** Seconds in which a build must fail, and a stream go on. */
const limit = 5

const ticking = 'trap "exit 0" TERM; while :; do echo tick $((i=i+1)); sleep 0.1; done'

/** In the middle of a build, and while the log, the use and the kept output of an app are followed. */
test.each(['SIGTERM', 'SIGKILL'] as const)(
  'an engine that ends by %s and comes back fails a build, and streams go on without a gap',
  async (signal) => {
    await using engine = await startPrivateEngine()
    const davit = anInstallation({}, { DOCKER_HOST: engine.host })
    const docker = connectDocker({ host: engine.host })
    try {
      const { client } = await davit.start()
      const app = await aProject(davit, aCommand(ticking), { name: 'ticking', port: 0 })
      const { containerId } = await app.deploy()
      const id = containerId!
      const building = aBuild('echo be""gun; sleep 3333')
      const build = await aProject(davit, building, { name: 'build' })
      const given = (await docker.inspectContainer(id))!.addresses
      const heard = {
        log: listen(client, `/containers/${id}/logs?format=json`),
        use: listen(client, `/containers/${id}/stats?format=json`),
        output: listen(client, `${app.path}/output/stream?format=json`),
      }
      const viewer = await build.trigger()
      await viewer.hears('begun')
      await until(() => heard.use.last.includes('"running"'), limit)

      const ending = engine.stop(signal)
      const failed = () => client.get<Ended>(pathOf(viewer.deployment))
      await until(async () => (await failed()).error !== null, limit)
      expect((await failed()).error!.code).toBe('engine_unreachable')
      await ending
      expect((await client.get<{ status: string }>('/health')).status).toBe('ok')
      for (const page of ['/dashboard', '/containers', '/settings/prune']) {
        const isShown = async () => {
          const asked = performance.now()
          const answer = await client.ask('GET', page, { headers: { Accept: 'text/html' } })
          const text = await answer.text()
          expect(performance.now() - asked, page).toBeLessThan(2000)
          return text.includes(engine.host)
        }
        await until(isShown, limit) // what measures the disk gives up later
      }

      await engine.start()
      // an engine that was killed ends what runs when it comes back, and may leave it so
      if ((await docker.inspectContainer(id))?.state !== 'running') await docker.startContainer(id)
      expect((await docker.inspectContainer(id))!.addresses).toEqual(given)
      const counts = [heard.log.items.length, heard.output.items.length]
      const goOn = () =>
        heard.log.items.length > counts[0]! && heard.output.items.length > counts[1]!
      await until(goOn, limit)
      await until(() => heard.use.last.includes('"running"'), limit)
      type List = { containers: { id: string; state: string }[] }
      const listed = async () =>
        (await client.get<List>('/containers/api')).containers.find((one) => one.id === id)?.state
      await until(async () => (await listed()) === 'running', limit)

      // each line that the engine has was told once, in order
      await docker.stopContainer(id, { timeoutSeconds: 1 })
      const written: string[] = []
      for await (const lines of docker.containerLogs(id)) written.push(...lines.map((l) => l.text))
      for (const name of ['log', 'output'] as const) {
        const { items } = heard[name]
        await until(() => items.at(-1) === written.at(-1), limit * 2)
        expect(items, name).toEqual(written.slice(-items.length))
        expect(items.length, name).toBeGreaterThan(10)
      }
      expect(heard.output.items).toHaveLength(written.length)
    } finally {
      await davit.leave()
    }
  },
)

/** Follows a stream for good: the lines of a container, and its last event. */
function listen(client: DavitClient, path: string) {
  const heard = { items: [] as string[], last: '' }
  void (async () => {
    for await (const { name, data } of readEvents(await client.stream(path, null))) {
      if (name !== 'message') continue
      heard.last = data
      const { stream, text } = JSON.parse(data) as { stream?: string; text?: string }
      if (stream === 'stdout') heard.items.push(text!)
    }
  })().catch(() => {}) // Davit is stopped
  return heard
}
