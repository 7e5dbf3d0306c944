import { connectDocker } from '../../src/docker/index.ts'
import type { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { aBuild, aCommand, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import type { Launch } from '../support/installation.ts'
import { comesTrue } from '../support/until.ts'
import { startPrivateEngine } from './private-engine.ts'
import type { FaultReport } from './report.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

/** Seconds in which a build must fail, and a stream go on. */
const limit = 5

const ticking = 'trap "exit 0" TERM; while :; do echo tick $((i=i+1)); sleep 0.1; done'

const pages = ['/dashboard', '/containers', '/settings/prune']

/**
 * The engine is stopped and killed by turns, and started again, in the middle of a build and while
 * the log, the use and the kept output of an app are followed.
 */
export async function restartTheEngine({
  rounds,
  command,
}: { rounds: number } & Launch): Promise<FaultReport> {
  await using engine = await startPrivateEngine()
  const davit = anInstallation({ command }, { DOCKER_HOST: engine.host })
  const docker = connectDocker({ host: engine.host })
  const took = { fail: 0, goOn: 0 }
  let bad = 0
  try {
    const { client } = await davit.start()
    const app = await aTickingApp(client, davit.directory)
    const build = aRepository(davit.directory, aBuild('echo be""gun; sleep 3333'), 'build.git')
    const site = await aSite(client, 'build', build.url)
    const id = app.containerId!
    const addresses = async () => (await docker.inspectContainer(id))?.addresses
    const given = await addresses()
    const heard = {
      log: listen(client, `/containers/${id}/logs?format=json`),
      use: listen(client, `/containers/${id}/stats?format=json`),
      output: listen(client, `${app.environment}/output/stream?format=json`),
    }
    for (let round = 0; round < rounds; round++) {
      const broken = await restartOnce(round % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
      for (const what of broken) console.error(what)
      if (broken.length > 0) bad++
    }
    if (!(await isWhole())) bad = rounds

    async function restartOnce(signal: 'SIGTERM' | 'SIGKILL') {
      const broken: string[] = []
      const expect = (holds: unknown, what: string) => holds || broken.push(`${signal}: ${what}`)
      const deployment = await client.post<Deployment>(`/projects/${site}/deployments`)
      await watch(client, deployment).hears('begun')
      await comesTrue(limit, () => heard.use.last.includes('"running"'))

      const stopped = performance.now()
      const ending = engine.stop(signal)
      const error = await errorOf(client, deployment)
      took.fail = Math.max(took.fail, performance.now() - stopped)
      expect(error === 'engine_unreachable', `the build has ${error} after ${limit} s`)
      await ending
      expect(/"ok"/.test(await client.page('/health')), 'it is not well')
      for (const page of pages) {
        const asked = performance.now()
        const text = await client.page(page).catch((error: Error) => error.message)
        expect(text.includes('Docker at'), `${page} does not say what is wrong`)
        expect(performance.now() - asked < 2000, `${page} takes too long`)
      }

      await engine.start()
      const back = performance.now()
      // an engine that was killed ends what runs when it comes back, and may leave it so
      if ((await docker.inspectContainer(id))?.state !== 'running') await docker.startContainer(id)
      expect(Bun.deepEquals(await addresses(), given), 'the app has another address')
      const counts = { log: heard.log.items.length, output: heard.output.items.length }
      for (const name of ['log', 'output'] as const) {
        const goesOn = () => heard[name].items.length > counts[name]
        expect(await comesTrue(limit, goesOn), `the ${name} does not go on`)
      }
      const isMeasured = () => heard.use.last.includes('"running"')
      expect(await comesTrue(limit, isMeasured), 'the use is not measured again')
      took.goOn = Math.max(took.goOn, performance.now() - back)
      expect(
        await comesTrue(limit, async () => (await listed()) === 'running'),
        'the list is wrong',
      )
      return broken
    }

    async function listed() {
      const { containers } = await client.get<{ containers: { id: string; state: string }[] }>(
        '/containers/api',
      )
      return containers.find((container) => container.id === id)?.state
    }

    /** Whether each line that the engine has was told once, in order. */
    async function isWhole() {
      await docker.stopContainer(id, { timeoutSeconds: 1 })
      const written: string[] = []
      for await (const lines of docker.containerLogs(id)) written.push(...lines.map((l) => l.text))
      const last = written.at(-1)
      const ends = (name: 'log' | 'output') => () => heard[name].items.at(-1) === last
      for (const name of ['log', 'output'] as const) {
        await comesTrue(limit * 2, ends(name))
        const { items } = heard[name]
        if (Bun.deepEquals(items, written.slice(-items.length)) && items.length > rounds * 10)
          continue
        console.error(`the ${name} has ${items.length} lines, the engine ${written.length}`)
        return false
      }
      return heard.output.items.length === written.length
    }
  } finally {
    await davit.leave()
  }
  return {
    what: 'the engine stopped and killed in a build and under followers, and started again',
    unit: 'restarts that broke a promise',
    rounds,
    bad,
    figures: `a build failed within ${seconds(took.fail)}, all streams went on within ${seconds(took.goOn)}`,
  }
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`

async function aSite(client: DavitClient, name: string, repositoryUrl: string) {
  const { id } = await client.post<{ id: string }>('/projects', { name, repositoryUrl })
  return id
}

/** An app that publishes nothing: what it does is seen by its lines. */
async function aTickingApp(client: DavitClient, directory: string) {
  const { url } = aRepository(directory, aCommand(ticking), 'ticking.git')
  const id = await aSite(client, 'ticking', url)
  const { items } = await client.get<{ items: { id: string }[] }>(`/projects/${id}/envs`)
  const environment = `/projects/${id}/envs/${items[0]!.id}`
  await client.put(environment, { port: 0 })
  const deployment = await client.post<Deployment>(`/projects/${id}/deployments`)
  await watch(client, deployment).ended
  return { environment, ...(await client.get<Deployment>(pathOf(deployment))) }
}

async function errorOf(client: DavitClient, deployment: Deployment) {
  let code: string | undefined
  await comesTrue(limit, async () => {
    const { error } = await client.get<{ error: { code: string } | null }>(pathOf(deployment))
    code = error?.code
    return error !== null
  })
  return code
}

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
