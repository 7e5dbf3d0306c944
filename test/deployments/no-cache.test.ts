import { expect, test } from 'bun:test'
import { recover } from '../../src/deployments/recover.ts'
import { moveDeployment } from '../../src/deployments/store.ts'
import { claimJob } from '../../src/jobs/store.ts'
import { testApp, withAda } from '../support/app.ts'
import { aBuild, aProject, logOf } from './apps.ts'
import { pathOf } from './events.ts'

test('one deployment can be built without the cache, by JSON and from its row', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, aBuild('echo "the step ran"'), { port: 0 })
  const ran = async (asked: Record<string, unknown>) => {
    const deployment = await project.deploy(asked)
    const lines = await logOf(ada, deployment)
    return {
      noCache: deployment.noCache,
      step: lines.some((line) => /^(#\d+ )?the step ran$/.test(line)),
      said: lines.some((line) => line.endsWith(', without the build cache')),
    }
  }
  const cached = { noCache: false, step: false, said: false }
  expect(await ran({})).toEqual({ ...cached, step: true })
  expect(await ran({})).toEqual(cached)
  expect(await ran({ noCache: true })).toEqual({ noCache: true, step: true, said: true })
  expect(await ran({ noCache: null })).toEqual(cached)

  const list = `/projects/${project.id}/deployments`
  expect((await ada.page(list)).text).toContain('without cache')
  const fields = { environment_id: project.environmentId, no_cache: '1' }
  const { headers } = await ada.form(list, fields)
  expect((await ada.get(headers.get('Location')!)).json.noCache).toBe(true)
  await t.jobs.idle()

  const both = await ada.post(list, { noCache: true, reuseImage: true })
  expect(both.status).toBe(422)
  expect(both.json.errors[0].field).toBe('noCache')
  expect((await ada.post(list, { noCache: 'please' })).status).toBe(422)
})

test('a deployment that was interrupted is resumed without the cache, too', async () => {
  const { t, ada } = withAda(testApp({}, { jobsWait: true }))
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: 'file:///srv/x.git',
  })
  const asked = { noCache: true }
  const { json: deployment } = await ada.post(`/projects/${project.id}/deployments`, asked)
  claimJob(t.db, deployment.id)
  moveDeployment(t.db, { id: deployment.id, from: ['pending'], status: 'building' })
  await recover(t.deps, { signal: new AbortController().signal })
  const { json } = await ada.get(pathOf(deployment))
  expect(json).toMatchObject({ status: 'pending', noCache: true })
})
