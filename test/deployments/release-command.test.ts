import { describe, expect, test } from 'bun:test'
import { recover } from '../../src/deployments/recover.ts'
import { insertOnce, listOnce } from '../../src/runtime/once-store.ts'
import { collect } from '../logs/collecting.ts'
import { testApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { anApp, answerOf, aProject, cancel, finished, logOf, rollBack } from './apps.ts'

/** A project of Ada's, of whose app one version runs, and what its next deployment does. */
async function aLiveApp() {
  const t = testApp()
  collect(t)
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, anApp('old'), { volumes: ['data:/data'] })
  const first = await project.deploy()
  project.repository.commit(anApp('new'))
  const labels = [`davit.environment=${project.environmentId}`]
  const deployWith = async (script: string, settings = {}) => {
    await project.configure({ releaseCommand: ['sh', '-c', script], ...settings })
    return project.trigger()
  }
  return {
    ...t,
    ada,
    project,
    first,
    deployWith,
    /** How it failed, while the old version serves on and nothing is left. */
    async failureOf(script: string, settings = {}) {
      const deployment = await finished(ada, await deployWith(script, settings))
      expect(deployment).toMatchObject({ status: 'failed', error: { step: 'releasing' } })
      await oldServesAlone()
      const log = await logOf(ada, deployment)
      const { code, message, hint } = deployment.error
      expect(log.at(-1)).toBe(`Failed: ${message} ${hint}`)
      return { code, message, log, deployment }
    },
    oldServesAlone,
  }

  async function oldServesAlone() {
    expect(await answerOf(first)).toBe('old')
    const containers = await t.docker.listContainers({ labels, all: true })
    expect(containers).toMatchObject([{ id: first.containerId, state: 'running' }])
    expect(listOnce(t.db, project.environmentId)).toEqual([])
  }
}

describe('the release command', () => {
  test('runs in the new image before the switch, with what the app itself has', async () => {
    const { ada, project, first, deployWith } = await aLiveApp()
    await project.set({ key: 'GREETING', value: 'hello' })
    await project.set({ key: 'PASSWORD', value: 'a-long-password', secret: true })
    const script =
      'cat /www/index.html; echo; echo $GREETING $PASSWORD; touch /data/migrated; sleep 2'
    const begun = await deployWith(script)
    await until(async () => (await logOf(ada, begun)).includes('new'))
    const { status, steps } = (await ada.get(`/projects/${project.id}/deployments/${begun.id}`))
      .json
    expect([status, steps.at(-1).name]).toEqual(['deploying', 'releasing'])
    expect(await answerOf(first)).toBe('old')
    const page = await ada.page(`/projects/${project.id}/deployments/${begun.id}`)
    expect(page.text).toContain('Release command')

    const deployment = await finished(ada, begun)
    expect(deployment.status).toBe('running')
    expect(await answerOf(deployment)).toBe('new')
    const names = deployment.steps.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['cloning', 'building', 'releasing', 'deploying'])
    const log = await logOf(ada, deployment)
    const from = log.findIndex((text) => text.startsWith('Running the release command: sh -c'))
    const own = log.slice(from + 1, log.indexOf('The release command succeeded'))
    expect(own).toEqual(['new', expect.stringMatching(/^hello (?!a-long)/)])
  })

  test('runs for a rollback, too', async () => {
    const { ada, first, project } = await aLiveApp()
    await project.deploy()
    await project.configure({ releaseCommand: 'echo "back again"' })
    const deployment = await finished(ada, (await rollBack(ada, first)).json)
    expect(deployment.status).toBe('running')
    expect(await logOf(ada, deployment)).toContain('back again')
  })

  test('of the first deployment leaves nothing behind when it fails', async () => {
    const t = testApp()
    collect(t)
    const ada = t.logIn('ada@example.com')
    const project = await aProject(t, ada, anApp('old'), { releaseCommand: 'false' })
    expect(await project.deploy()).toMatchObject({ status: 'failed', error: { code: 'exited' } })
    expect(t.db.$client.query('SELECT count(*) AS n FROM releases').get()).toEqual({ n: 0 })
    await project.configure({ releaseCommand: null })
    expect(await project.deploy()).toMatchObject({ status: 'running' })
  })
})

test('a release command that fails, hangs or can’t run fails the deployment, and the old version serves on', async () => {
  const { failureOf } = await aLiveApp()
  const { code, message, log } = await failureOf('echo no such table >&2; exit 4')
  expect([code, message]).toEqual(['exited', 'Release command failed: it exited with code 4.'])
  expect(log).toContain('no such table')
  for (const [script, wanted, settings] of [
    ['sleep 999', 'timeout', { releaseTimeout: 1 }],
    ['sleep 1; tail /dev/zero', 'out_of_memory', { releaseTimeout: 60, memoryMb: 16 }],
    ['exec /no/such/program', 'command_not_found', { memoryMb: 512 }],
  ] as const)
    expect((await failureOf(script, settings)).code).toBe(wanted)
})

test('a cancel ends the release command', async () => {
  const { ada, deployWith, oldServesAlone } = await aLiveApp()
  const begun = await deployWith('echo begun; sleep 999')
  await until(async () => (await logOf(ada, begun)).includes('begun'))
  expect((await cancel(ada, begun)).status).toBe(200)
  expect(await finished(ada, begun)).toMatchObject({ status: 'cancelled' })
  await oldServesAlone()
})

test('what a killed Davit left of a release command is removed before anything resumes', async () => {
  const { db, docker, deps, project, first, oldServesAlone } = await aLiveApp()
  const id = Bun.randomUUIDv7()
  const workload = { id: project.environmentId, kind: 'app' } as const
  insertOnce(db, { workload, id, releaseId: id, component: 'release' })
  const { labels, image } = (await docker.inspectContainer(first.containerId))!
  const container = await docker.createContainer({
    name: `davit-test-release-${id.slice(-12)}`,
    image,
    command: ['sleep', '999'],
    labels,
    network: `davit-${project.id}`,
    memoryBytes: 16 * 2 ** 20,
    cpus: 1,
    pidsLimit: 16,
  })
  await docker.startContainer(container)
  await recover(deps, { signal: new AbortController().signal })
  await oldServesAlone()
})
