import { expect, onTestFinished, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { aBuild, aCommand, anApp } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { faultsOf } from '../kills/left-behind.ts'
import { startGitServer } from '../support/git-server.ts'
import { anInstallation } from '../support/installation.ts'
import { comesTrue, until } from '../support/until.ts'
import { answerOf, aProject } from './project.ts'
import type { Viewer } from './watch.ts'

async function anInstallationWithGit() {
  const davit = anInstallation({}, { DAVIT_BUILD_CONCURRENCY: '8' })
  const git = startGitServer(join(davit.directory, 'repositories'))
  onTestFinished(async () => {
    git.stop()
    await davit.leave()
  })
  await davit.start()
  const cancelTwice = async ({ deployment }: Viewer) => {
    const cancel = () => davit.client.post(`${pathOf(deployment)}/cancel`)
    await Promise.allSettled([cancel(), cancel()]) // one that has ended is refused
  }
  /** Each was reported to have one end, and is stored with it; nothing else is left. */
  const haveEnded = async (viewers: Viewer[]) => {
    await Promise.all(viewers.map(({ ended }) => ended))
    for (const { deployment, events } of viewers) {
      const ends = events().filter((event) =>
        /^status (running|failed|cancelled|superseded)$/.test(event),
      )
      const [row] = davit.rows<{ status: string }>('SELECT status FROM deployments WHERE id = ?', [
        deployment.id,
      ])
      expect(row!.status).toBeOneOf(['cancelled', 'superseded'])
      expect(ends).toEqual([`status ${row!.status}`])
    }
    let left: string[] = []
    await comesTrue(30, async () => (left = await faultsOf(davit)).length === 0)
    expect(left).toEqual([])
  }
  return { davit, git, cancelTwice, haveEnded }
}

test('cancelled twice in each state, a deployment comes to one end and leaves nothing', async () => {
  const { davit, git, cancelTwice, haveEnded } = await anInstallationWithGit()
  const hung = await aProject(davit, anApp('hung'), { name: 'hung', url: `${git.url}hung.git` })
  const switched = await aProject(davit, anApp('switched'), { name: 'switched' })
  const marker = `sleep ${1000 + Math.random() * 1000}`
  const built = await aProject(davit, aBuild(marker), { name: 'built' })
  const urls = [(await hung.deploy()).url, (await switched.deploy()).url]
  git.mode = 'hang'
  switched.commit(aCommand('sleep 999'))
  const viewers = await Promise.all([hung.trigger(), built.trigger(), switched.trigger()])
  const heard = ['status cloning', 'RUN sleep', waitingForResponse]
  await Promise.all(heard.map((text, at) => viewers[at]!.hears(text)))
  const waiting = await built.trigger()
  await Promise.all([waiting, ...viewers].map(cancelTwice))
  git.mode = 'serve'
  await until(() => !isRunning(marker) && !isRunning(git.host), 5)
  await haveEnded([waiting, ...viewers])
  expect(await Promise.all(urls.map(answerOf))).toEqual(['hung', 'switched'])
})

test('triggered twice, rolled back and cancelled at once, each deployment comes to one end', async () => {
  const { davit, cancelTwice, haveEnded } = await anInstallationWithGit()
  const contested = await aProject(davit, anApp('contested'))
  const { url } = await contested.deploy()
  contested.commit(aBuild('true', anApp('').Dockerfile as string))
  const viewers = await Promise.all([
    contested.rollBack(),
    contested.trigger(),
    contested.trigger(),
  ])
  await Bun.sleep(Math.random() * 1500) // somewhere in the clone, the build, the switch
  await Promise.all(viewers.map(cancelTwice))
  await haveEnded(viewers)
  expect(await answerOf(url)).toBe('contested')
})

test('a project that is deleted while it builds and is triggered leaves nothing', async () => {
  const { davit, haveEnded } = await anInstallationWithGit()
  const project = await aProject(davit, aBuild('sleep 60'))
  await (await project.trigger()).hears('RUN sleep')
  const triggers = Array.from({ length: 10 }, () => project.trigger().catch(() => null))
  const remove = () => davit.client.delete(`/projects/${project.id}`).catch(() => null)
  await Promise.all([...triggers, remove(), remove()])
  await haveEnded([])
  expect(davit.rows('SELECT 1 FROM projects')).toEqual([])
})

/** True when a process of this machine has the text in its command line. */
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
