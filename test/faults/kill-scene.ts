import { join } from 'node:path'
import { aBuild, aCommand, anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { startGitServer } from '../support/git-server.ts'
import type { Installation } from '../support/installation.ts'
import { watch } from './watch.ts'
import type { Deployment, Viewer } from './watch.ts'

export type Scene = Awaited<ReturnType<typeof aScene>>

const names = ['calm', 'cloned', 'built', 'switched', 'rolled', 'cancelled'] as const
type Name = (typeof names)[number]

/** It writes when it is deleted, too. */
const talk = 'while :; do echo tick; sleep 0.05; done & exec httpd -f -p 8080'

const server = 'EXPOSE 8080\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]'

/** Apps that run, each of its own project and serving its name, and what is to be deleted. */
export async function aScene(davit: Installation) {
  const git = startGitServer(join(davit.directory, 'repositories'))
  const repositories = Object.fromEntries(
    names.map((name) => [name, aRepository(davit.directory, anApp(name), `${name}.git`)]),
  ) as Record<Name, ReturnType<typeof aRepository>>
  const talking = aRepository(davit.directory, aCommand(talk), 'talking.git')
  let { client } = await davit.start()
  const calm = await aProject('calm', repositories.calm.url)
  const [deployed, first] = await Promise.all([
    Promise.all(names.map(async (name) => [name, await anAppOf(name)] as const)),
    theDoomed(),
  ])
  const apps = Object.fromEntries(deployed) as Record<Name, Deployment>
  let doomed = first

  return {
    stop: () => git.stop(),
    get client() {
      return client
    },
    /** Addresses of the apps that no switch takes off the net. */
    steady: (['calm', 'cloned', 'built', 'cancelled'] as const).map((name) => place(name)),
    all: names.map(place),

    /** Begins a deployment in every state; resolves when they are in it. */
    async begin(): Promise<Viewer[]> {
      git.mode = 'hang'
      repositories.cancelled.commit(aBuild('sleep 60'))
      repositories.switched.commit(
        aCommand(
          'sleep 1; mkdir /www; printf switched > /www/index.html; exec httpd -f -p 8080 -h /www',
        ),
      )
      repositories.built.commit(
        aBuild('sleep 3; mkdir /www; printf built > /www/index.html', server),
      )
      const cloning = await trigger(apps.cloned)
      const cancelling = await trigger(apps.cancelled)
      const switching = await trigger(apps.switched)
      const rollingBack = await client.post<Deployment>(`${pathOf(apps.rolled)}/rollback`)
      const viewers = [cloning, cancelling, switching, rollingBack].map((key) => watch(client, key))
      await Promise.all([
        viewers[0]!.hears('Cloning'),
        viewers[1]!.hears('status building'),
        viewers[2]!.hears('status deploying'),
        viewers[3]!.hears('status deploying'),
      ])
      const building = watch(client, await trigger(apps.built))
      await building.hears('status building')
      const waiting = watch(client, await trigger(apps.built))
      return [...viewers, building, waiting]
    },

    /** Asks for a cancel and for two deletions, whose answers may never come. */
    end(viewers: Viewer[]) {
      const asked = [
        client.post(`${pathOf(viewers[1]!.deployment)}/cancel`),
        client.delete(`/projects/${doomed.project}`),
        client.delete(`/projects/${calm}/envs/${doomed.environment}`),
      ]
      for (const answer of asked) answer.catch(() => {})
    },

    /** After the death of Davit: asks again for what it has not heard, and goes on with the new one. */
    async goOn(viewers: Viewer[], { isLast }: { isLast: boolean }) {
      git.mode = 'serve'
      ;({ client } = await davit.start())
      const { deployment } = viewers[1]!
      const { status } = await client.get<Deployment>(pathOf(deployment))
      if (status !== 'cancelled') await client.post(`${pathOf(deployment)}/cancel`).catch(() => {}) // it has ended by now
      await gone(`/projects/${doomed.project}`)
      await gone(`/projects/${calm}/envs/${doomed.environment}`)
      if (!isLast) doomed = await theDoomed()
    },
  }

  function place(name: Name) {
    return { name, url: apps[name].url }
  }

  function trigger({ projectId }: { projectId: string }, environmentId?: string) {
    return client.post<Deployment>(`/projects/${projectId}/deployments`, {
      ...(environmentId && { environmentId }),
    })
  }

  async function deploy(projectId: string, environmentId?: string) {
    const deployment = await trigger({ projectId }, environmentId)
    const viewer = watch(client, deployment)
    await viewer.ended
    const ended = await client.get<Deployment>(pathOf(deployment))
    if (ended.status === 'running') return ended
    throw new Error(`An app does not run:\n${[...viewer.seen.values()].join('\n')}`)
  }

  async function anAppOf(name: Name) {
    const url = name === 'cloned' ? `${git.url}${name}.git` : repositories[name].url
    const project = name === 'calm' ? calm : await aProject(name, url)
    if (name === 'switched') await withWorker(project)
    return deploy(project)
  }

  /** Two containers beside web, which are switched with it. */
  async function withWorker(project: string) {
    const path = `/projects/${project}/envs`
    const { items } = await client.get<{ items: { id: string }[] }>(path)
    const worker = { name: 'worker', command: ['sleep', '9999'], replicas: 2 }
    await client.put(`${path}/${items[0]!.id}`, { processes: [{ name: 'web' }, worker] })
  }

  async function aProject(name: string, repositoryUrl: string) {
    return (await client.post<{ id: string }>('/projects', { name, repositoryUrl })).id
  }

  /** A project and an environment that are there to be deleted. */
  async function theDoomed() {
    const name = `x-${Bun.randomUUIDv7()}`
    const project = await aProject(name, talking.url)
    const environment = await client.post<{ id: string }>(`/projects/${calm}/envs`, { name })
    await Promise.all([deploy(project), deploy(calm, environment.id)])
    return { project, environment: environment.id }
  }

  /** Deletes what is not being deleted yet. */
  async function gone(path: string) {
    const found = await client.get<{ deleting: boolean }>(path).catch(() => null)
    if (found && !found.deleting) await client.delete(path)
  }
}
