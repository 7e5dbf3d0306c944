import { expect, test } from 'bun:test'
import { insertDeployment, listBuiltBetween } from '../../src/deployments/store.ts'
import { insertRelease } from '../../src/runtime/store.ts'
import { testApp, withAda } from '../support/app.ts'
import { aBuild, anApp, aProject } from './apps.ts'
import { pathOf } from './events.ts'

const compared = (deployment: Parameters<typeof pathOf>[0]) => `${pathOf(deployment)}/compare`

test('a deployment is compared with the live one, without values of secrets', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('first'))
  await project.set({ key: 'GREETING', value: 'hunter22', secret: true })
  const first = await project.deploy()
  await project.set({ key: 'COLOUR', value: 'blue' })
  await project.configure({ memoryMb: 128 })
  project.repository.commit(anApp('second'), { message: 'Say it better' })
  const second = await project.deploy()
  project.repository.commit(aBuild('exit 1'), { message: 'Break it' })
  const failed = await project.deploy()

  const { json } = await ada.get(compared(first))
  expect(json).toEqual({
    liveId: second.id,
    deploymentId: first.id,
    isLive: false,
    commit: {
      from: { ...second.commit, pulled: null, upload: null },
      to: { ...first.commit, pulled: null, upload: null },
    },
    between: {
      direction: 'back',
      count: 1,
      items: [
        {
          deploymentId: second.id,
          number: second.number,
          ...second.commit,
          pulled: null,
          upload: null,
        },
      ],
    },
    image: { from: second.image, to: first.image },
    variables: [{ key: 'COLOUR', change: 'removed', secret: false, from: 'blue', to: null }],
    settings: [{ name: 'memoryMb', from: 128, to: 512 }],
  })
  const { text } = await ada.page(compared(first))
  for (const shown of ['Say it better', 'COLOUR', 'memory', `Roll back to #${first.number}…`])
    expect(text).toContain(shown)
  expect(text).not.toContain('hunter22')

  expect((await ada.get(compared(failed))).json).toMatchObject({
    liveId: second.id,
    commit: { to: { message: 'Break it' } },
    between: { direction: 'forward', count: 0 },
    variables: null,
    settings: null,
  })
  expect((await ada.page(compared(failed))).text).toContain('Not known')
  expect((await ada.get(compared(second))).json.isLive).toBe(true)
  expect((await ada.page(compared(second))).text).toContain('This deployment is live')

  const { text: list } = await ada.page(`/projects/${project.id}/deployments`)
  for (const { id } of [first, failed]) expect(list).toContain(`${id}/compare"`)
  expect(list).not.toContain(`${second.id}/compare"`)
  expect((await ada.page(pathOf(failed))).text).toContain(`href="${compared(failed)}"`)
})

test('where nothing is live there is nothing to compare with', async () => {
  const { t, ada } = withAda(testApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const deployment = insertDeployment(t.db, {
    ...{ projectId: project.id, environmentId: environment.id, repositoryUrl },
    ...{ status: 'failed', trigger: 'manual', triggeredBy: ada.user.email },
  })
  const { json } = await ada.get(compared(deployment))
  expect(json).toMatchObject({ liveId: null, isLive: false, between: { direction: 'same' } })
  expect((await ada.page(compared(deployment))).text).toContain('Nothing is live yet')
})

test('of many builds between the newest are listed, and all are counted', async () => {
  const { t, ada } = withAda(testApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const [{ id: environmentId }] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const all = Array.from({ length: 6 }, () =>
    insertDeployment(t.db, {
      ...{ projectId: project.id, environmentId, repositoryUrl },
      ...{ status: 'superseded', trigger: 'manual', triggeredBy: ada.user.email },
    }),
  )
  const workload = { id: environmentId, kind: 'app' } as const
  for (const { id } of all.toSpliced(3, 1))
    // one never ran
    insertRelease(t.db, { workload, id, components: null, slots: [] })
  const between = { environmentId, older: all[0]!.id, newer: all[5]!.id, limit: 2 }
  const { count, rows } = listBuiltBetween(t.db, between)
  expect([count, rows.map(({ number }) => number)]).toEqual([4, [6, 5]])
})
