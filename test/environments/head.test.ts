import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { anApp as aStoredApp } from '../map/owned.ts'

type Project = { id: string; environmentId: string }

const tabsOf = ({ id, environmentId }: Project) => [
  `/projects/${id}/envs/${environmentId}`,
  `/envs/${environmentId}/variables`,
  `/envs/${environmentId}/variables/text`,
  `/envs/${environmentId}/links`,
  `/envs/${environmentId}/domains`,
  `/envs/${environmentId}/runs`,
  `/projects/${id}/envs/${environmentId}/output`,
  `/projects/${id}/envs/${environmentId}/metrics`,
  `/projects/${id}/envs/${environmentId}/deployments`,
  `/projects/${id}/envs/${environmentId}/edit`,
]

/** The header in the answer of a page, opened or asked again for its live parts. */
async function headOn(client: TestClient, path: string, headers: Record<string, string> = {}) {
  const answer = await client.send(path, { headers: { Accept: 'text/html', ...headers } })
  const text = await answer.text()
  const start = text.indexOf('<div id="environment-head"')
  const end = text.indexOf('</header>', start)
  expect(start, path).toBeGreaterThan(-1)
  const title = /data-title="([^"]*)/.exec(text)?.[1]
  const html = text.slice(start, end)
  const buttons = Array.from(
    html.matchAll(/<button[^>]* aria-label="(\w+) production"/g),
    ([, verb]) => verb,
  )
  return { html, buttons, title }
}

const again = { 'HX-Request': 'true', 'Davit-Live': '1' }

test('each tab of an environment has one header, which follows a stop', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('x'))
  const { url } = await project.deploy()
  await t.jobs.idle()
  for (const path of tabsOf(project)) {
    const { html, buttons, title } = await headOn(ada, path)
    expect(title).toStartWith('Running · ')
    expect(html).toContain('Running')
    expect(html).toContain(`href="${url}"`)
    expect(buttons).toEqual(['Restart', 'Stop', 'Deploy'])
  }

  const [, , , , , , logs] = tabsOf(project)
  const answer = await ada.send(`/envs/${project.environmentId}/stop`, {
    method: 'POST',
    headers: {
      Accept: 'text/html',
      'HX-Request': 'true',
      Host: 'localhost',
      'HX-Current-URL': `http://localhost${logs}`,
    },
  })
  expect(answer.headers.get('HX-Redirect')).toBe(logs!)
  await t.jobs.idle()
  const mallory = t.logIn('mallory@example.com')
  for (const path of tabsOf(project)) {
    const { html, buttons, title } = await headOn(ada, path, again)
    expect(title).toStartWith('Stopped · ')
    expect(html).toContain('Stopped')
    expect(html).not.toContain(url)
    expect(buttons).toEqual(['Start', 'Deploy'])
    expect((await mallory.page(path)).status).toBe(404)
  }
})

test('before the first deployment there is one to start, and nothing to stop', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('x'))
  const { html, buttons } = await headOn(ada, `/envs/${project.environmentId}/domains`)
  expect(html).toContain('Not deployed')
  expect(buttons).toEqual(['Deploy'])
})

test('what is under way stands in the header', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('x'))
  const deployment = await project.deploy()
  await t.jobs.idle()
  await t.jobs.stop() // so that what is queued stays so
  const path = `/envs/${project.environmentId}/domains`
  const queued = await ada.post(`/projects/${project.id}/deployments`)
  expect(queued.status).toBe(201)
  const deploying = await headOn(ada, path)
  expect(deploying.html).toContain('Running')
  expect(deploying.html).toContain('Queued')
  expect(deploying.html).toContain(`/deployments/${queued.json.id}"`)
  expect(deploying.buttons).toEqual(['Deploy'])
  expect(deployment.status).toBe('running')
})

test('all settings are on one page, and at its end the environment is deleted', async () => {
  const { t, ada } = withAda(testApp())
  const values = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }
  const { json: project } = await ada.post('/projects', values)
  const envs = `/projects/${project.id}/envs`
  const [{ id }] = (await ada.get(envs)).json.items
  const settings = async (id: string) => (await ada.page(`${envs}/${id}/edit`)).text
  const only = await settings(id)
  for (const name of ['name', 'port', 'domains', 'processes', 'memory_mb', 'volumes'])
    expect(only).toContain(`name="${name}"`)
  expect(only).toContain('A project must have at least one environment.')
  expect(only).not.toContain('value="DELETE"')

  const { json: staging } = await ada.post(envs, { name: 'staging' })
  const two = await settings(staging.id)
  expect(two.indexOf('value="DELETE"')).toBeGreaterThan(two.indexOf('Save settings'))
  for (const page of [envs, `${envs}/${staging.id}`]) {
    const { text } = await ada.page(page)
    expect(text).toContain(`href="${envs}/${staging.id}/edit"`)
    expect(text).not.toContain('value="DELETE"')
  }

  const refused = await ada.htmx('PUT', `${envs}/${staging.id}`, { name: 'staging', port: 'x' })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('id="environment-head"')
  expect(refused.text).toContain('value="x"')
  t.db.$client.run('UPDATE environments SET deleting_at = 1 WHERE id = ?', [staging.id])
  const failed = await settings(staging.id)
  expect(failed).not.toContain('name="port"')
  expect(failed).toContain('value="DELETE"')
})

test('a commit that isn’t known has no place on the page', async () => {
  const { t, ada } = withAda(testApp())
  const { id, projectId } = await aStoredApp(t, ada, { name: 'shop' })
  const commit = async () =>
    (await ada.page(`/projects/${projectId}/envs/${id}`)).text.includes('<dt>Commit</dt>')
  expect(await commit()).toBe(false)
  t.db.$client.run("UPDATE deployments SET commit_hash = 'a483e6ea483e6e'")
  expect(await commit()).toBe(true)
})
