import { expect, onTestFinished } from 'bun:test'
import { join } from 'node:path'
import { aBuild, aCommand, anApp } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { answerOf, aProject } from '../faults/project.ts'
import type { Deployment, Viewer } from '../faults/watch.ts'
import { startGitServer } from '../support/git-server.ts'
import type { Operation } from './harness.ts'

/** It writes when it is deleted, too. */
const talking = aCommand('while :; do echo tick; sleep 0.05; done & exec httpd -f -p 8080')

const page = (text: string) => `mkdir /www; printf ${text} > /www/index.html`
const serve = 'httpd -f -p 8080 -h /www'

/**
 * Deployments in each state, one of them a rollback and one being cancelled, and deletions of a project and
 * an environment: Davit is killed somewhere in all of that.
 */
export const everything: Operation = async (start) => {
  const davit = await start({ DAVIT_BUILD_CONCURRENCY: '8' })
  const git = startGitServer(join(davit.directory, 'repositories'))
  onTestFinished(() => git.stop())
  const make = (name: string, settings = {}) => aProject(davit, anApp(name), { name, ...settings })
  const worker = { name: 'worker', command: ['sleep', '9999'], replicas: 2 }
  const [calm, built, rolled, cancelled, switched, cloned] = await Promise.all([
    ...['calm', 'built', 'rolled', 'cancelled'].map((name) => make(name)),
    make('switched', { processes: [{ name: 'web' }, worker] }),
    make('cloned', { url: `${git.url}cloned.git` }),
  ] as const)
  const apps = [calm!, built!, rolled!, cancelled!, switched!, cloned!]
  const doomed = await aProject(davit, talking, { name: 'doomed' })
  const environments = `/projects/${calm!.id}/envs`
  const staging = await davit.client.post<{ id: string }>(environments, { name: 'staging' })
  const deletions = [`/projects/${doomed.id}`, `${environments}/${staging.id}`]
  const [urls] = await Promise.all([
    Promise.all(
      apps.map(async (app) => {
        const { status, error, url } = await app.deploy()
        expect({ app: app.name, status, error }).toEqual({
          app: app.name,
          status: 'running',
          error: null,
        })
        return [app.name, url] as const
      }),
    ),
    doomed.deploy(),
    calm!.trigger({ environmentId: staging.id }).then(({ ended }) => ended),
  ])
  let viewers: Viewer[] = []
  const silent = async (names: string[]) => {
    const answers = urls.map(async ([name, url]) => [name, await answerOf(url)] as const)
    return (await Promise.all(answers))
      .filter(([name, answer]) => names.includes(name) && answer !== name)
      .map(([name, answer]) => `the app ${name} answers ${answer}`)
  }

  return {
    moments: [
      {
        name: 'somewhere in it',
        async begin() {
          git.mode = 'hang'
          cancelled!.commit(aBuild('sleep 60'))
          switched!.commit(aCommand(`sleep 1; ${page('switched')}; exec ${serve}`))
          const app = `EXPOSE 8080\nCMD ${JSON.stringify(serve.split(' '))}`
          built!.commit(aBuild(`sleep 3; ${page('built')}`, app))
          viewers = await Promise.all([
            cancelled!.trigger(),
            cloned!.trigger(),
            switched!.trigger(),
            rolled!.rollBack(),
          ])
          const states = ['building', 'cloning', 'deploying', 'deploying']
          await Promise.all(states.map((state, at) => viewers[at]!.hears(`status ${state}`)))
          viewers.push(await built!.trigger())
          await viewers.at(-1)!.hears('status building')
          viewers.push(await built!.trigger()) // waits
          await Bun.sleep(Math.random() * 1500)
          const cancel = davit.client.post(`${pathOf(viewers[0]!.deployment)}/cancel`)
          for (const asked of [cancel, ...deletions.map((path) => davit.client.delete(path))])
            asked.catch(() => {}) // the answer may never come
          await Bun.sleep(Math.random() ** 2 * 1000) // rather soon: the answers take no longer
        },
        async meanwhile() {
          // no switch takes these off the net
          expect(await silent(['calm', 'cloned', 'built', 'cancelled'])).toEqual([])
        },
        /** Asks again for what the last process has not heard. */
        async end() {
          git.mode = 'serve'
          const { deployment } = viewers[0]!
          const { status } = await davit.client.get<Deployment>(pathOf(deployment))
          if (status !== 'cancelled')
            await davit.client.post(`${pathOf(deployment)}/cancel`).catch(() => {}) // it has ended by now
          for (const path of deletions) {
            const found = await davit.client.get<{ deleting: boolean }>(path).catch(() => null)
            if (found && !found.deleting) await davit.client.delete(path)
          }
        },
      },
    ],
    faults: async () => [
      ...(await silent(urls.map(([name]) => name))),
      ...viewers.flatMap(linesLost),
    ],
  }

  /** Lines that a viewer was shown and that are not stored, or not as they were shown. */
  function linesLost({ deployment, seen }: Viewer) {
    const lines = new Map(davit.lines(deployment).map(({ seq, text }) => [seq, text]))
    return [...seen]
      .filter(([seq, text]) => lines.get(seq) !== text)
      .map(([seq, text]) => `line ${seq} of ${deployment.id} was shown, “${text}”, and is lost`)
  }
}
