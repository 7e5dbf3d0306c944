import { expect, test } from 'bun:test'
import { followPath } from '../../src/git/tree-paths.ts'
import { projectForm, projectUpdateForm } from '../../src/projects/forms.ts'
import { buildForm } from '../../src/projects/build-form.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import {
  endless,
  hostileBranches,
  hostileRepositories,
  hostileTexts,
  privateRepositories,
} from '../support/hostile.ts'
import { contentsOf, escaped, expectRefusals } from '../support/refusals.ts'

const valid = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }
const strict = { DAVIT_ALLOW_LOCAL_REPOS: '0', DAVIT_ALLOW_HOSTS: '' }

const wrongProject = {
  name: ['', '   ', 'n'.repeat(61), endless, 'a\u0000b', 'a\nb', 'a\u2028b', 7, true, [], {}, null],
  repositoryUrl: [
    '',
    7,
    [],
    null,
    endless,
    `https://example.com/${'a'.repeat(2000)}`,
    ...hostileRepositories,
    ...privateRepositories,
  ],
  branch: [7, [], {}, true, endless, ...hostileBranches],
  sourceId: [7, {}],
  repository: ['owner', 'owner/../other', '/etc/passwd', 'a/b c', 'owner/repo?x=1', {}],
}

async function aProject(t: TestApp) {
  const ada = t.logIn('ada@example.com')
  const project = (await ada.post('/projects', valid)).json
  return { ada, project }
}

test('a new project with a wrong field is refused by its name', async () => {
  const { t, ada } = withAda(testApp(strict))
  await expectRefusals(t, ada, {
    method: 'POST',
    path: '/projects',
    valid,
    wrong: { ...wrongProject, composeFile: [...paths, 7, [], {}], deploy: ['maybe', 7] },
    schema: projectForm(t.config),
    notShown: ['sourceId', 'repository', 'deploy'],
  })
})

test('a new project needs a name and a repository', async () => {
  const { ada } = withAda(testApp(strict))
  const answer = await ada.post('/projects', {})
  expect(answer.status).toBe(422)
  expect(answer.json.errors.map((e: { field: string }) => e.field)).toEqual([
    'name',
    'repositoryUrl',
  ])
  expect((await ada.form('/projects', {})).status).toBe(422)
  expect((await ada.get('/projects')).json.items).toEqual([])
})

test('a project is not changed by a wrong field', async () => {
  const t = testApp(strict)
  const { ada, project } = await aProject(t)
  await expectRefusals(t, ada, {
    method: 'PUT',
    path: `/projects/${project.id}`,
    valid: {},
    wrong: wrongProject,
    schema: projectUpdateForm(t.config),
    notShown: ['sourceId', 'repository'],
  })
})

const paths = ['../../etc/passwd', '/etc/passwd', 'a/../../b', '..', 'a\u0000b', 'a\\b', '..%2fx']

test('the form and the build refuse the same paths', async () => {
  const tree = { entries: new Map(), read: () => Promise.reject(new Error('There is no link.')) }
  for (const path of [...paths, 'Dockerfile', '.', 'a/../b', 'a//b', '..a', 'a%2fb', 'a b']) {
    const built = await followPath(tree, path).then(
      () => true,
      () => false,
    )
    expect(buildForm.safeParse({ dockerfilePath: path }).success, path).toBe(built)
    expect(built, path).toBe(!paths.includes(path))
  }
})

test('settings are not changed by a wrong field', async () => {
  const t = testApp(strict)
  const { ada, project } = await aProject(t)
  await expectRefusals(t, ada, {
    method: 'PUT',
    path: `/projects/${project.id}/settings`,
    valid: {},
    wrong: {
      dockerfilePath: [...paths, 'd'.repeat(501), endless, 7, [], {}],
      contextDir: [...paths, 'd'.repeat(501), endless, 7, [], {}],
      composeFile: [...paths, 'd'.repeat(501), endless, 7, [], {}],
      composeService: ['s'.repeat(64), 'a\nb', 'a\u0000b', endless, 7, [], {}],
      buildArgs: [
        'broken',
        '1A=x',
        'A-B=x',
        '=x',
        'A B=c',
        [],
        7,
        'A=\u0000',
        { '': 'x' },
        { A: 7 },
        { A: { B: 'c' } },
        { A: 'x'.repeat(32_769) },
        { [endless]: 'x' },
        Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`A${i}`, 'x'])),
      ],
      autoDeploy: ['maybe', 'constructor', '__proto__', 2, [], {}],
      keepImages: ['0', '101', '-1', '1.5', '1e2', 'many', '0x10', 0, 101, 1.5, [], true],
      webhookSecret: ['short', 's'.repeat(257), 'line\nbreak in a long secret', 7, []],
    },
    schema: buildForm,
    notShown: ['webhookSecret', 'autoDeploy'],
  })
})

test('odd but legal values are stored and shown as they are', async () => {
  const t = testApp(strict)
  const { ada, project } = await aProject(t)
  for (const text of hostileTexts) {
    const changed = await ada.put(`/projects/${project.id}`, { name: text })
    expect(changed.json.name, text).toBe(text.trim())
    for (const path of ['', '/settings', '/deployments', '/envs', '/delete', '/envs/new']) {
      const { text: html, status } = await ada.page(`/projects/${project.id}${path}`)
      expect(status).toBe(200)
      expect(html).not.toContain('<script>alert')
      expect(html).not.toContain('<img src=x')
      if (!path.startsWith('/envs/')) expect(html, path).toContain(escaped(text))
    }
  }
  for (const branch of ['$(id)', 'a;b', 'a`id`', '<script>', 'feature/ä', "it's"]) {
    const changed = await ada.put(`/projects/${project.id}`, { branch })
    expect(changed.json.branch, branch).toBe(branch)
    expect((await ada.page(`/projects/${project.id}/settings`)).text).toContain(escaped(branch))
  }
  const buildArgs = { A: '$(id) "x" #y', B: '', __proto__x: 'z', constructor: 'c' }
  expect((await ada.put(`/projects/${project.id}/settings`, { buildArgs })).json.buildArgs).toEqual(
    buildArgs,
  )
})

test('a build argument called __proto__ is one like any other', async () => {
  const t = testApp(strict)
  const { ada, project } = await aProject(t)
  const answer = await ada.send(`/projects/${project.id}/settings`, {
    method: 'PUT',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: '{"buildArgs": {"__proto__": "x", "A": "y"}}',
  })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('"buildArgs":{"__proto__":"x","A":"y"}')
})

test('a Compose file is of a repository, and a service with the addresses is of such a file', async () => {
  const { ada, project } = await aProject(testApp(strict))
  const path = `/projects/${project.id}/settings`
  const refused = (field: string) => ({ status: 422, json: { errors: [{ field }] } })
  expect(await ada.put(path, { composeService: 'web' })).toMatchObject(refused('composeService'))
  const set = { composeFile: 'deploy/compose.yaml', composeService: 'web' }
  expect((await ada.put(path, set)).json).toMatchObject(set)
  expect((await ada.page(path)).text).toContain('value="deploy/compose.yaml"')
  expect((await ada.put(path, { composeFile: null })).json.composeFile).toBeNull()

  const image = { name: 'image', image: 'nginx:1.29' }
  const both = await ada.post('/projects', { ...image, composeFile: 'compose.yaml' })
  expect(both).toMatchObject(refused('composeFile'))
  const made = (await ada.post('/projects', image)).json
  expect(await ada.put(`/projects/${made.id}/settings`, { composeFile: 'a' })).toMatchObject(
    refused('composeFile'),
  )
  const stack = await ada.post('/projects', { ...valid, name: 'stack', composeFile: 'a/c.yaml' })
  expect(stack).toMatchObject({ status: 201, json: { composeFile: 'a/c.yaml' } })
})

test('a change touches only the fields that were sent, and null goes back to the default', async () => {
  const t = testApp(strict)
  const { ada, project } = await aProject(t)
  const path = `/projects/${project.id}`
  const set = {
    dockerfilePath: 'docker/Dockerfile',
    contextDir: 'app',
    buildArgs: { A: '1' },
    autoDeploy: false,
    keepImages: 2,
  }
  expect((await ada.put(`${path}/settings`, set)).json).toMatchObject(set)
  expect((await ada.put(`${path}/settings`, { keepImages: 3 })).json).toMatchObject({
    ...set,
    keepImages: 3,
  })
  await ada.put(path, { branch: 'main' })
  expect((await ada.put(path, { name: 'other' })).json).toMatchObject({
    ...valid,
    name: 'other',
    branch: 'main',
  })
  expect((await ada.put(path, {})).json).toMatchObject({ name: 'other', branch: 'main' })

  const cleared = {
    ...set,
    dockerfilePath: null,
    contextDir: null,
    buildArgs: null,
    autoDeploy: null,
    keepImages: null,
  }
  const defaults = {
    dockerfilePath: null,
    contextDir: '.',
    buildArgs: {},
    autoDeploy: true,
    keepImages: 5,
  }
  expect((await ada.put(`${path}/settings`, cleared)).json).toMatchObject(defaults)
  expect((await ada.put(path, { branch: null })).json.branch).toBeNull()

  await ada.put(`${path}/settings`, set)
  const emptied = {
    dockerfile_path: '',
    context_dir: '',
    build_args: '',
    auto_deploy: '',
    keep_images: '',
  }
  const form = (fields: Record<string, string>, to = `${path}/settings`) =>
    ada.send(to, {
      method: 'PUT',
      body: new URLSearchParams(fields),
      headers: { Accept: 'application/json' },
    })
  expect(await (await form({ keep_images: '4' })).json()).toMatchObject({ ...set, keepImages: 4 })
  expect(await (await form(emptied)).json()).toMatchObject(defaults)
  await ada.put(path, { branch: 'main' })
  expect(await (await form({ branch: '' }, path)).json()).toMatchObject({
    name: 'other',
    branch: null,
  })
})

test('fields that are not for the user to set are ignored', async () => {
  const t = testApp(strict)
  const { ada, project } = await aProject(t)
  const bob = t.logIn('bob@example.com')
  const before = contentsOf(t)
  const forged = {
    id: bob.user.id,
    ownerId: bob.user.id,
    owner_id: bob.user.id,
    userId: bob.user.id,
    createdAt: '2000-01-01T00:00:00Z',
    deletingAt: 1,
    webhookSecret: 'a secret that is long enough',
  }
  await ada.put(`/projects/${project.id}`, forged)
  expect(contentsOf(t)).toEqual(before)
  const made = (await ada.post('/projects', { ...valid, ...forged, name: 'forged' })).json
  expect(made.id).not.toBe(bob.user.id)
  expect(made.webhookSecret).not.toBe(forged.webhookSecret)
  expect((await bob.get('/projects')).json.items).toEqual([])
})

test('two projects of one user can’t share a name, those of two users can', async () => {
  const t = testApp(strict)
  const { ada, project } = await aProject(t)
  const again = await ada.post('/projects', valid)
  expect(again.status).toBe(409)
  expect(again.json.errors[0].field).toBe('name')
  const other = (await ada.post('/projects', { ...valid, name: 'other' })).json
  expect((await ada.put(`/projects/${other.id}`, { name: project.name })).status).toBe(409)
  expect(
    (await ada.form('/projects', { name: 'site', repository_url: valid.repositoryUrl })).text,
  ).toContain('id="field-name-error"')
  expect((await t.logIn('bob@example.com').post('/projects', valid)).status).toBe(201)
})
