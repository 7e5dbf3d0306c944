import { describe, expect, test } from 'bun:test'
import { recover } from '../../src/deployments/recover.ts'
import { insertOnce, listOnce } from '../../src/runtime/once-store.ts'
import { collect } from '../logs/collecting.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { anApp, answerOf, aProject, cancel, finished, logOf, rollBack } from './apps.ts'
import { logs } from './events.ts'

/** A project of Ada's, of whose app one version runs, and what its next deployment does. */
async function aLiveApp({ isSimulated = true } = {}) {
  const t = isSimulated ? simulatedApp() : testApp()
  if (!isSimulated) collect(t)
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, anApp('old'), { volumes: ['data:/data'] })
  const first = await project.deploy()
  project.repository.commit(anApp('new'))
  const labels = [`davit.environment=${project.environmentId}`]
  const deployWith = async (releaseCommand: string | string[], settings = {}) => {
    await project.configure({ releaseCommand, ...settings })
    return project.trigger()
  }
  return {
    ...t,
    ada,
    project,
    first,
    deployWith,
    /** How it failed, while the old version serves on and nothing is left. */
    async failureOf(command: string[], settings = {}) {
      const deployment = await finished(ada, await deployWith(command, settings))
      expect(deployment).toMatchObject({ status: 'failed', error: { step: 'releasing' } })
      await oldServesAlone()
      const log = await logOf(ada, deployment)
      const { code, message, hint } = deployment.error
      expect(log.at(-1)).toBe(`Failed: ${message} ${hint}`)
      return { code, message, log }
    },
    oldServesAlone,
  }

  async function oldServesAlone() {
    if (!isSimulated) expect(await answerOf(first)).toBe('old')
    const containers = await t.docker.listContainers({ labels, all: true })
    expect(containers).toMatchObject([{ id: first.containerId, state: 'running' }])
    expect(listOnce(t.db, project.environmentId)).toEqual([])
  }
}

const stepsOf = ({ steps }: { steps: { name: string }[] }) => steps.map(({ name }) => name)

describe('the release command', () => {
  test('runs in the new image before the switch, with what the app itself has', async () => {
    const { ada, project, first, deployWith } = await aLiveApp({ isSimulated: false })
    await project.set({ key: 'GREETING', value: 'hello' })
    await project.set({ key: 'PASSWORD', value: 'a-long-password', secret: true })
    const script =
      'cat /www/index.html; echo; echo $GREETING $PASSWORD; touch /data/migrated; sleep 2'
    const begun = await deployWith(['sh', '-c', script])
    await until(async () => (await logOf(ada, begun)).includes('new'))
    const { json } = await ada.get(`/projects/${project.id}/deployments/${begun.id}`)
    expect([json.status, stepsOf(json).at(-1)]).toEqual(['deploying', 'releasing'])
    expect(await answerOf(first)).toBe('old')
    const page = await ada.page(`/projects/${project.id}/deployments/${begun.id}`)
    expect(page.text).toContain('Release command')

    const deployment = await finished(ada, begun)
    expect(deployment.status).toBe('running')
    expect(await answerOf(deployment)).toBe('new')
    expect(stepsOf(deployment)).toEqual(['cloning', 'building', 'releasing', 'deploying'])
    const log = await logOf(ada, deployment)
    const from = log.findIndex((text) => text.startsWith('Running the release command: sh -c'))
    const own = log.slice(from + 1, log.indexOf('The release command succeeded'))
    expect(own).toEqual(['new', expect.stringMatching(/^hello (?!a-long)/)])
  })

  test('runs for a rollback, too', async () => {
    const { ada, first, project } = await aLiveApp()
    await project.deploy()
    await project.configure({ releaseCommand: 'true' })
    const deployment = await finished(ada, (await rollBack(ada, first)).json)
    expect(deployment.status).toBe('running')
    expect(stepsOf(deployment)).toEqual(['releasing', 'deploying'])
  })

  test('of the first deployment leaves nothing behind when it fails', async () => {
    const { t, ada } = withAda(simulatedApp())
    const project = await aProject(t, ada, anApp('old'), { releaseCommand: 'false' })
    expect(await project.deploy()).toMatchObject({ status: 'failed', error: { code: 'exited' } })
    expect(t.db.$client.query('SELECT count(*) AS n FROM releases').get()).toEqual({ n: 0 })
    await project.configure({ releaseCommand: null })
    expect(await project.deploy()).toMatchObject({ status: 'running' })
  })
})

describe('a deployment fails, and the old version serves on, when its release command', () => {
  test.each([
    ['fails', ['sh', '-c', 'exit 4'], 'exited', {}],
    ['hangs', ['sleep', '999'], 'timeout', { releaseTimeout: 1 }],
    ['isn’t in the image', ['/no/such/program'], 'command_not_found', {}],
  ] as const)('%s', async (_, command, code, settings) => {
    const { failureOf } = await aLiveApp()
    expect((await failureOf([...command], settings)).code).toBe(code)
  })

  test('needs more memory than it may have, and its last lines are kept', async () => {
    const { failureOf } = await aLiveApp({ isSimulated: false })
    const script = 'echo no such table >&2; sleep 1; tail /dev/zero'
    const { code, log } = await failureOf(['sh', '-c', script], { memoryMb: 16 })
    expect(code).toBe('out_of_memory')
    expect(log).toContain('no such table')
  })
})

test('a cancel ends the release command', async () => {
  const { ada, deployWith, oldServesAlone } = await aLiveApp()
  const begun = await deployWith('sleep 999')
  await logs(ada, begun, 'sleep 999')
  expect((await cancel(ada, begun)).status).toBe(200)
  expect(await finished(ada, begun)).toMatchObject({ status: 'cancelled' })
  await oldServesAlone()
})

test('what a killed Davit left of a release command is removed before anything resumes', async () => {
  const { db, docker, deps, project, first, oldServesAlone } = await aLiveApp()
  const id = Bun.randomUUIDv7()
  const workload = { id: project.environmentId, kind: 'app' } as const
  const of = { id, releaseId: id, component: 'release', serverId: docker.serverId }
  insertOnce(db, { workload, ...of })
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
