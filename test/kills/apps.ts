import { expect } from 'bun:test'
import { aCommand, anApp } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { answerOf, aProject } from '../faults/project.ts'
import type { Ended } from '../faults/project.ts'
import type { Viewer } from '../faults/watch.ts'
import type { Installation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { stored } from './harness.ts'
import type { Operation } from './harness.ts'

const sleep = ['sleep', '9999']

/** Queries that find a row at a moment of a deployment. */
export const states = {
  deploying: "SELECT 1 FROM deployments WHERE status = 'deploying'",
  creating: "SELECT 1 FROM instances WHERE state = 'creating'",
  starting: "SELECT 1 FROM instances WHERE state = 'starting'",
  draining: "SELECT 1 FROM instances WHERE state = 'draining'",
}

/** Without an edge, so that the port of the host changes hands. */
export const deployment: Operation = async (start) => {
  const davit = await start()
  const processes = [{ name: 'web' }, { name: 'worker', command: sleep, replicas: 3 }]
  const project = await aProject(davit, anApp('first'), { processes })
  const { url } = await project.deploy()
  let version = 'first'
  const moment = (name: string, comes: () => Promise<unknown>) => {
    let viewer: Viewer
    return {
      name,
      async begin() {
        project.commit(anApp((version = name)))
        viewer = await project.trigger()
        await comes()
      },
      end: async () => expect(await outcomeOf(davit, viewer)).toEqual(['running', undefined]),
    }
  }
  const [web] = idsOf(davit, "component = 'web'")
  return {
    moments: [
      moment('the previous one stopped', async () => {
        await until(async () => (await davit.docker.inspectContainer(web!))?.state === 'exited')
      }),
      ...Object.entries(states).map(([name, sql]) =>
        moment(name, () => stored(davit, sql, { within: 400 })),
      ),
      moment('the new one responded', async () => {
        await until(async () => (await answerOf(url)) === version)
        await Bun.sleep(Math.random() * 400)
      }),
    ],
    async faults() {
      const answer = await answerOf(url)
      const names = davit
        .rows<{ component: string }>("SELECT * FROM instances WHERE state = 'live' ORDER BY id")
        .map(({ component }) => component)
        .join()
      return [
        ...(answer === version ? [] : [`it answers ${answer}`]),
        ...(names === 'web,worker,worker,worker' ? [] : [`it has ${names}`]),
      ]
    },
  }
}

/** Never responds, and fails by itself where nothing kills Davit. */
export const bothTries: Operation = async (start) => {
  const davit = await start()
  const project = await aProject(davit, anApp('first'), { healthTimeout: 10 })
  const { url } = await project.deploy()
  const starting = () => stored(davit, states.starting, { within: 400 })
  let viewer: Viewer
  const moment = {
    name: 'both tries',
    async begin() {
      project.commit(aCommand('sleep 999'))
      viewer = await project.trigger()
      await starting()
      await davit.kill()
      await davit.start()
      await stored(davit, 'SELECT 1 FROM jobs WHERE attempt = 2')
      await starting()
    },
    end: async () => expect(await outcomeOf(davit, viewer)).toEqual(['failed', 'interrupted']),
  }
  const faults = async () => {
    const answer = await answerOf(url)
    return answer === 'first' ? [] : [`the app before it answers ${answer}`]
  }
  return { moments: [moment], faults }
}

/** Of two processes, one of which takes its ten seconds to end. */
export const stopAndRestart: Operation = async (start) => {
  const davit = await start()
  const stubborn = aCommand("trap '' TERM; while :; do sleep 1; done")
  const processes = [{ name: 'web' }, { name: 'worker', command: sleep }]
  const project = await aProject(davit, stubborn, { port: 0, processes })
  await project.deploy()
  const ids = idsOf(davit, 'true')
  let wanted: 'running' | 'exited' = 'running'
  let since = 0
  const inspected = () =>
    Promise.all(ids.map(async (id) => (await davit.docker.inspectContainer(id))!))
  const ask = (verb: string) => davit.client.post(`/envs/${project.environmentId}/${verb}`)
  const amid = (verb: 'stop' | 'restart', state: typeof wanted) => ({
    name: `amid a ${verb}`,
    async begin() {
      ;[wanted, since] = [state, Date.now()]
      ask(verb).catch(() => {}) // the answer never comes
      await until(async () => (await inspected()).some(({ state }) => state === 'exited'))
      expect(davit.rows('SELECT kind FROM jobs')).toEqual([{ kind: `${verb}-app` }])
    },
  })
  return {
    moments: [
      amid('stop', 'exited'),
      { name: 'after a stop', begin: async () => {} },
      { name: 'after a start', begin: () => ((wanted = 'running'), ask('start')) },
      amid('restart', 'running'),
    ],
    async faults() {
      type Shown = { live: { instances: { state: string }[] } }
      const { live } = await davit.client.get<Shown>(project.path)
      const shown = wanted === 'exited' ? 'stopped' : wanted
      const isOld = (startedAt: Date | null) => wanted === 'running' && startedAt!.getTime() < since
      return [
        ...live.instances
          .filter(({ state }) => state !== shown)
          .map(({ state }) => `a process is shown as ${state}, not ${shown}`),
        ...(await inspected())
          .filter(({ state, startedAt }) => state !== wanted || isOld(startedAt))
          .map(({ name, state }) => `${name} is ${state}, not ${wanted} since it was asked`),
      ]
    },
  }
}

/** Containers of live instances. */
const idsOf = (davit: Installation, which: string) =>
  davit
    .rows<{ id: string }>(
      `SELECT container_id AS id FROM instances WHERE state = 'live' AND ${which}`,
    )
    .map(({ id }) => id)

/** Once it has ended: its status, and the code of its error. */
export async function outcomeOf({ client }: Installation, { deployment }: Viewer) {
  let ended: Ended
  await until(async () => {
    ended = await client.get<Ended>(pathOf(deployment))
    return !['pending', 'cloning', 'building', 'deploying'].includes(ended.status)
  })
  return [ended!.status, ended!.error?.code]
}
