import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { aProject, logOf } from '../deployments/apps.ts'
import { npm } from '../detection/workspaces.ts'
import { simulatedApp, withAda } from '../support/app.ts'

async function start() {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, npm)
  const path = `/projects/${project.id}`
  return { t, ada, project, path, detected: async () => (await ada.get(`${path}/detection`)).json }
}

const place = { contextDir: 'apps/api', watchPaths: ['apps/api', 'packages/db'] }

test('the apps of a repository are shown, and one is built from its root', async () => {
  const { ada, project, path, detected } = await start()
  const found = await detected()
  expect(found).toMatchObject({ kind: null, problem: { code: 'not_recognized' } })
  const api = found.workspaces.find(({ directory }: any) => directory === 'apps/api')
  expect(api).toMatchObject({ kind: 'Fastify', tool: 'npm', dependsOn: ['packages/db'] })

  const { contextDir, watchPaths } = { contextDir: api.directory, watchPaths: api.watchPaths }
  expect((await ada.put(`${path}/settings`, { contextDir, watchPaths })).status).toBe(200)
  expect(await detected()).toMatchObject({ kind: 'Fastify', problem: null })
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  const log = (await logOf(ada, deployment)).join('\n')
  expect(log).toContain('writes one for Fastify')
  // Without apps/web, packages/ui, packages/util and packages/tsconfig, which it doesn't need.
  expect(log).toMatch(/Building \S+ with 4 files/)
})

test('another project of the repository is made from a link that fills in the form', async () => {
  const { t, ada, project, path } = await start()
  const { text } = await ada.htmx('GET', `${path}/detection`)
  const [link] = /\/projects\/new\?[^"]*apps%2Fapi[^"]*/.exec(text) ?? []
  const form = await ada.page(link!.replaceAll('&amp;', '&'))
  for (const value of [project.repository.url, 'apps/api', 'packages/db'])
    expect(form.text).toContain(value)

  const foreign = await t.logIn('bob@example.com').page(`/projects/new?like=${project.id}`)
  expect(foreign.status).toBe(404)
  expect(foreign.text).not.toContain(project.repository.url)

  const repositoryUrl = project.repository.url
  const made = await ada.post('/projects', { name: 'api', repositoryUrl, ...place })
  expect(made).toMatchObject({ status: 201, json: place })
})

test('projects of one repository share its mirror, also while both are deployed', async () => {
  const { t, ada, project, path } = await start()
  const { url } = project.repository
  await ada.put(`${path}/settings`, { contextDir: 'apps/web' })
  const other = await aProject(t, ada, {}, { name: 'api', url })
  await ada.put(`/projects/${other.id}/settings`, place)
  const deployed = await Promise.all([project.deploy(), other.deploy()])
  expect(deployed).toMatchObject([{ status: 'running' }, { status: 'running' }])
  expect(readdirSync(join(t.dataDir, 'mirrors'))).toHaveLength(1)
})

test('a form without a name takes that of the directory', async () => {
  const { ada, project } = await start()
  const sent = await ada.htmx('POST', '/projects', {
    repository_url: project.repository.url,
    context_dir: 'apps/api',
    watch_paths: 'apps/api\npackages/db',
    name: '',
  })
  expect(sent.status).toBeLessThan(400)
  const { items } = (await ada.get('/projects')).json
  expect(items[0]).toMatchObject({ name: 'api', ...place })
})

test('the look at an address shows what a repository holds', async () => {
  const { ada, project } = await start()
  const query = new URLSearchParams({ repository_url: project.repository.url })
  const { workspaces, detected } = (await ada.get(`/api/git/look?${query}`)).json
  expect(detected).toBeNull()
  expect(workspaces).toContainEqual(
    expect.objectContaining({ directory: 'apps/web', kind: 'Next.js' }),
  )
  const { text } = await ada.htmx('GET', `/api/git/look?${query}`)
  expect(text).toContain('&quot;context_dir&quot;:&quot;apps/web&quot;')
})

test.each<[string, object]>([
  ['contextDir', { contextDir: '../up' }],
  ['watchPaths', { watchPaths: ['!a'] }],
  ['image', { repositoryUrl: undefined, image: 'nginx:1', contextDir: 'a' }],
])('a wrong %s is refused', async (field, given) => {
  const { ada, project } = await start()
  const body = { name: 'b', repositoryUrl: project.repository.url, ...given }
  const { status, json } = await ada.post('/projects', body)
  expect({ status, fields: json.errors.map((error: any) => error.field) }).toEqual({
    status: 422,
    fields: [field],
  })
})

test('projects of one owner share the key of a repository over ssh, others don’t', async () => {
  const { t, ada, path } = await start()
  const make = async (
    client: typeof ada,
    name: string,
    repositoryUrl = 'git@git.example.com:team/app',
  ) => (await client.post('/projects', { name, repositoryUrl })).json.deployKey
  const key = await make(ada, 'a')
  expect(key).toStartWith('ssh-ed25519 ')
  expect(await make(ada, 'b')).toBe(key)
  expect(await make(ada, 'c', 'git@git.example.com:team/other')).not.toBe(key)
  expect(await make(t.logIn('bob@example.com'), 'a')).not.toBe(key)
  await ada.put(path, { repositoryUrl: 'git@git.example.com:team/app' })
  expect((await ada.get(path)).json.deployKey).toBe(key)
})

test('a package.json that is a link out of the repository is no one’s, with a Dockerfile or without', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, {
    Dockerfile: 'FROM busybox\nCMD ["sleep", "999"]\n',
    'package.json': { to: '../../etc/package.json' },
  })
  expect(await project.deploy()).toMatchObject({ status: 'running', error: null })
})
