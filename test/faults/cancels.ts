import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { aBuild, aCommand, anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import type { Key } from '../deployments/events.ts'
import { startGitServer } from '../support/git-server.ts'
import { anInstallation } from '../support/installation.ts'
import type { Launch } from '../support/installation.ts'
import { comesTrue } from '../support/until.ts'
import { answerOf } from './answer-of.ts'
import { faultsOf } from './left-behind.ts'
import type { FaultReport } from './report.ts'
import { watch } from './watch.ts'
import type { Deployment, Viewer } from './watch.ts'

/**
 * Each round cancels a deployment in each state, twice at once; deploys, rolls back and cancels at
 * once; triggers twice at once; and deletes a project that builds while it is triggered again.
 */
export async function cancels({
  rounds,
  ...launch
}: Launch & { rounds: number }): Promise<FaultReport> {
  const davit = anInstallation(launch, { DAVIT_BUILD_CONCURRENCY: '8' })
  const git = startGitServer(join(davit.directory, 'repositories'))
  const { client } = await davit.start()
  const bad: string[][] = []
  let slowest = 0
  try {
    const apps = await Promise.all([anAppOf('hung'), anAppOf('switched'), anAppOf('contested')])
    const [hung, switched, contested] = apps as [App, App, App]
    const built = await aProject('built', aRepository(davit.directory, aBuild('true'), 'built.git'))
    for (let round = 0; round < rounds; round++) {
      davit.newRound()
      const viewers = [
        ...(await inEachState({ hung, switched, built })),
        ...(await atOnce(contested)),
        ...(await deletedWhileBuilding()),
      ]
      await Promise.all(viewers.map(({ ended }) => ended))
      const faults = viewers.flatMap(faultsOfEnd)
      let left: string[] = []
      await comesTrue(20, async () => (left = await faultsOf(davit)).length === 0)
      for (const { url, name } of apps) {
        const answer = await answerOf(url)
        if (answer !== name) left.push(`the app ${name} answers “${answer}”`)
      }
      if (faults.length + left.length > 0) bad.push([...faults, ...left])
    }
  } finally {
    git.stop()
    await davit.leave()
  }
  return {
    what: 'cancels in each state, twice, beside triggers, rollbacks and deletions',
    unit: 'rounds with a deployment without one end, or something left',
    rounds,
    bad: bad.length,
    figures: [`the slowest cancel took ${slowest.toFixed(1)} s`, ...bad.flat()].join('; '),
  }

  type Project = { id: string; commit: (files: ReturnType<typeof anApp>) => string }
  type App = Project & { name: string; url: string; first: Deployment }

  async function inEachState({
    hung,
    switched,
    built,
  }: Record<'hung' | 'switched', App> & { built: Project }) {
    git.mode = 'hang'
    const marker = `sleep ${1000 + Math.random() * 1000}`
    built.commit(aBuild(marker))
    switched.commit(aCommand('sleep 999'))
    const cloning = await trigger(hung)
    const building = await trigger(built)
    const switching = await trigger(switched)
    await Promise.all([
      cloning.hears('Cloning'),
      building.hears('RUN sleep'),
      switching.hears(waitingForResponse),
    ])
    const waiting = await trigger(built)
    await Promise.all([waiting, cloning, building, switching].map(cancelTwice))
    git.mode = 'serve'
    const left = await comesTrue(5, () => !isRunning(marker) && !isRunning(git.host))
    if (!left) bad.push(['a command of a build or git runs on'])
    return [waiting, cloning, building, switching]
  }

  async function atOnce(app: App) {
    app.commit(aBuild('true', anApp('').Dockerfile as string))
    const [one, other, back] = await Promise.all([
      trigger(app),
      trigger(app),
      client.post<Deployment>(`${pathOf(app.first)}/rollback`).then((key) => watch(client, key)),
    ])
    await Bun.sleep(Math.random() * 1500) // somewhere in the clone, the build, the switch
    await Promise.all([one, other, back].map(cancelTwice))
    return [one, other, back]
  }

  async function deletedWhileBuilding() {
    const files = aBuild('sleep 60')
    const repository = aRepository(davit.directory, files, `gone-${Bun.randomUUIDv7()}.git`)
    const project = await aProject(repository.path.split('/').at(-1)!, repository)
    const first = await trigger(project)
    await first.hears('RUN sleep')
    const triggers = Array.from({ length: 10 }, () => trigger(project).catch(() => null))
    const deletions = [0, 1].map(() => client.delete(`/projects/${project.id}`).catch(() => null))
    await Promise.all([...triggers, ...deletions])
    return []
  }

  async function cancelTwice({ deployment }: Viewer) {
    const before = performance.now()
    const cancel = () => client.post(`${pathOf(deployment)}/cancel`)
    await Promise.allSettled([cancel(), cancel()]) // one that has ended is refused
    slowest = Math.max(slowest, (performance.now() - before) / 1000)
  }

  /** Told its end once, and stored with it. */
  function faultsOfEnd({ deployment, events }: Viewer) {
    const { id } = deployment
    const ends = events().filter((event) =>
      /^status (running|failed|cancelled|superseded)$/.test(event),
    )
    const [row] = davit.rows<{ status: string }>('SELECT status FROM deployments WHERE id = ?', [
      id,
    ])
    const expected = ['cancelled', 'superseded'].includes(row?.status ?? '')
    return expected && ends.length === 1 && ends[0] === `status ${row!.status}`
      ? []
      : [`deployment ${id} is ${row?.status}, and was told to be: ${ends.join(', ')}`]
  }

  async function trigger({ id }: { id: string }) {
    return watch(client, await client.post<Deployment>(`/projects/${id}/deployments`))
  }

  async function aProject(
    name: string,
    { url, commit }: Pick<ReturnType<typeof aRepository>, 'url' | 'commit'>,
  ): Promise<Project> {
    return {
      ...(await client.post<{ id: string }>('/projects', { name, repositoryUrl: url })),
      commit,
    }
  }

  async function anAppOf(name: string): Promise<App> {
    const repository = aRepository(davit.directory, anApp(name), `${name}.git`)
    const url = name === 'hung' ? `${git.url}${name}.git` : repository.url
    const project = await aProject(name, { ...repository, url })
    const viewer = await trigger(project)
    await viewer.ended
    const first = await client.get<Deployment>(pathOf(viewer.deployment as Key))
    return { ...project, name, url: first.url, first }
  }
}

/** Whether a process whose command line has the text runs on this machine. */
const isRunning = (text: string) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => commandOf(pid).includes(text))

function commandOf(pid: string) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return '' // it has ended
  }
}
