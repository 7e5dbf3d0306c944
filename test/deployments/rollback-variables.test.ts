import { expect, test } from 'bun:test'
import { pastSecrets, releases } from '../../src/db/schema.ts'
import { recover } from '../../src/deployments/recover.ts'
import { moveDeployment } from '../../src/deployments/store.ts'
import { claimJob } from '../../src/jobs/store.ts'
import { collect } from '../logs/collecting.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { aCommand, anApp, aProject, finished, logOf, rollBack } from './apps.ts'
import { pathOf } from './events.ts'

type Project = Awaited<ReturnType<typeof aProject>>
type Key = Parameters<typeof pathOf>[0]

const environmentPath = ({ id, environmentId }: Project) => `/projects/${id}/envs/${environmentId}`

const preview = async (client: TestClient, deployment: Key) =>
  (await client.get(`${pathOf(deployment)}/rollback`)).json

async function variablesOf(client: TestClient, { environmentId }: Project) {
  const { items } = (await client.get(`/envs/${environmentId}/variables`)).json
  const byKey = new Map<string, { id: string; value: string | null }>()
  for (const item of items) byKey.set(item.key, item)
  const path = (key: string) => `/envs/${environmentId}/variables/${byKey.get(key)!.id}`
  return { path, values: Object.fromEntries([...byKey].map(([key, { value }]) => [key, value])) }
}

/** One deployment with a colour and a password, and one after they were changed. */
async function twoReleases(client: TestClient, project: Project) {
  await project.set({ key: 'COLOUR', value: 'red' })
  await project.set({ key: 'GREETING', value: 'hunter22', secret: true })
  const first = await project.deploy()
  project.repository.commit({ 'second.txt': 'x' }, { message: 'Say it better' })
  const { path } = await variablesOf(client, project)
  await client.put(path('COLOUR'), { value: 'blue' })
  await client.delete(path('GREETING'))
  await project.set({ key: 'ADDED', value: 'new' })
  const second = await project.deploy()
  return { first, second }
}

test('a rollback with the variables of that time has them for that deployment only', async () => {
  const { t, ada } = withAda(testApp())
  const says = aCommand('echo "the greeting is $GREETING"; exec sleep 9999')
  const project = await aProject(t, ada, says, { port: 0 })
  const { first, second } = await twoReleases(ada, project)

  const shown = await preview(ada, first)
  expect(shown).toMatchObject({
    deploymentId: first.id,
    refused: null,
    isLive: false,
    commit: { from: { hash: second.commit.hash }, to: { hash: first.commit.hash } },
    between: { direction: 'back', count: 1, items: [{ deploymentId: second.id }] },
    image: { from: second.image, to: first.image },
    settings: [],
    releaseCommand: null,
    interruption: null,
  })
  expect(shown.variables).toEqual({
    today: { refused: null, changes: [] },
    release: {
      refused: null,
      changes: [
        { key: 'ADDED', change: 'removed', secret: false, from: 'new', to: null },
        { key: 'COLOUR', change: 'changed', secret: false, from: 'blue', to: 'red' },
        { key: 'GREETING', change: 'added', secret: true, from: null, to: null },
      ],
    },
  })
  const dialog = await ada.page(`${pathOf(first)}/rollback`)
  expect(dialog.text).toContain('Say it better')
  expect(dialog.text).not.toContain('hunter22')

  t.db.delete(pastSecrets).run() // as if it had been deleted long ago
  const back = await finished(ada, (await rollBack(ada, first, { variables: 'release' })).json)
  expect(back).toMatchObject({ status: 'running', image: first.image, rollbackOf: first.id })
  const root = t.logInAsAdmin('root@example.com')
  const events = (await root.get('/settings/audit?action=deployment.rolled_back')).json.items
  expect(events).toMatchObject([
    {
      action: 'deployment.rolled_back',
      details: { to: `#${first.number}`, variables: 'from that deployment' },
    },
  ])
  const env = async (id: string) => (await t.docker.inspectContainer(id))!.env
  const had = await env(back.containerId)
  expect(had).toEqual(expect.arrayContaining(['COLOUR=red', 'GREETING=hunter22']))
  expect(had.join('\n')).not.toContain('ADDED=')

  const { values } = await variablesOf(ada, project)
  expect(values).toEqual({ COLOUR: 'blue', ADDED: 'new' })
  const environment = (await ada.get(environmentPath(project))).json
  expect(environment.pendingChanges).toEqual(['ADDED', 'COLOUR', 'GREETING'])
  collect(t)
  const output = async () => (await ada.get(`/containers/${back.containerId}/logs`)).text
  await until(async () => (await output()).includes('the greeting is ***'))
  expect(await output()).not.toContain('hunter22')
  expect((await logOf(ada, back)).join('\n')).not.toContain('hunter22')

  const { environmentId } = project
  const apply = { environmentId, reuseImage: true }
  const applied = await project.deploy(apply)
  expect(applied).toMatchObject({ status: 'running', image: first.image })
  const today = await env(applied.containerId)
  expect(today).toEqual(expect.arrayContaining(['COLOUR=blue', 'ADDED=new']))
  expect(today.join('\n')).not.toContain('GREETING=')
  expect((await preview(ada, back)).variables.release.changes).toHaveLength(3)
})

test('what a rollback was given outlives an end of Davit, and a change of what is stored', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  const { first } = await twoReleases(ada, project)
  const { jobs } = t.deps
  const wake = jobs.wake.bind(jobs)
  jobs.wake = () => {}
  const { id } = (await rollBack(ada, first, { variables: 'release' })).json
  claimJob(t.db, id)
  moveDeployment(t.db, { id, from: ['pending'], status: 'deploying' })
  t.db.update(releases).set({ settings: null }).run()
  jobs.wake = wake
  await recover(t.deps, { signal: new AbortController().signal })
  const back = await finished(ada, { projectId: project.id, id })
  expect(back.status).toBe('running')
  const { env } = (await t.docker.inspectContainer(back.containerId))!
  expect(env).toEqual(expect.arrayContaining(['COLOUR=red', 'GREETING=hunter22']))
})

test('the variables of that time are dropped with the image, and an earlier version kept none', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  const { first } = await twoReleases(ada, project)
  const kept = () =>
    t.db
      .select()
      .from(releases)
      .all()
      .filter(({ settings }) => settings !== null)
  expect(kept()).toHaveLength(2)
  expect(JSON.stringify(kept())).not.toContain('hunter22')

  t.faults.removeImage = () => Promise.reject(new Error('in use'))
  await ada.put(`/projects/${project.id}/settings`, { keepImages: 1 })
  await project.deployFiles({ 'third.txt': 'x' })
  await t.jobs.idle()
  expect(kept(), 'what could not be removed keeps them').toHaveLength(3)
  delete t.faults.removeImage
  const last = await project.deployFiles({ 'fourth.txt': 'x' })
  await t.jobs.idle()
  expect(kept().map(({ id }) => id)).toEqual([last.id])
  expect((await preview(ada, first)).refused).toBeString()

  project.repository.commit({ 'fifth.txt': 'x' })
  await ada.put(`/projects/${project.id}/settings`, { keepImages: 5 })
  await project.deploy()
  t.db.update(releases).set({ settings: null }).run()
  const { variables } = await preview(ada, last)
  expect(variables.today).toEqual({ refused: null, changes: null })
  expect(variables.release.refused).toContain('weren’t kept')
  const refused = await rollBack(ada, last, { variables: 'release' })
  expect(refused.status).toBe(409)
  expect(refused.json.detail).toContain('Roll back with the current variables')
  const dialog = await ada.page(`${pathOf(last)}/rollback`)
  expect(dialog.text).toMatch(/value="release"[^>]*disabled/)
  const unknown = await rollBack(ada, last, { variables: 'tomorrow' })
  expect(unknown.status).toBe(422)
  expect((await rollBack(ada, last, { variables: 'today' })).status).toBe(201)
})

test('the preview says what stands in the way, and what is live already', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  const first = await project.deploy()
  await project.configure({ memoryMb: 64, releaseCommand: 'true' })
  expect(await preview(ada, first)).toMatchObject({
    isLive: true,
    refused: null,
    between: { direction: 'same', count: 0 },
    settings: [
      { name: 'memoryMb', from: 512, to: 64 },
      { name: 'releaseCommand', from: null, to: 'true' },
    ],
    releaseCommand: 'true',
  })
  await project.configure({ port: 8080 })
  expect((await preview(ada, first)).interruption).toBe('port')
  await project.configure({ volumes: ['data:/data'] })
  expect((await preview(ada, first)).interruption).toBe('volume')
  const { text } = await ada.page(`${pathOf(first)}/rollback`)
  expect(text).toContain('both use the same volume')
  expect(text).toContain('This deployment is live')
  expect(text).toContain('Runs the current release command first')

  t.deps.jobs.wake = () => {}
  const waiting = await project.trigger()
  expect((await preview(ada, waiting)).refused).toContain('hasn’t ended')
  await t.docker.removeImage(first.image, { force: true })
  expect((await preview(ada, first)).refused).toContain('doesn’t exist anymore')
  expect((await ada.page(`${pathOf(first)}/rollback`)).text).not.toContain('name="variables"')
})
