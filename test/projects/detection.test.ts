import { expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { aProject, logOf } from '../deployments/apps.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'

const express: Files = {
  'package.json': JSON.stringify({
    scripts: { start: 'node x.js' },
    dependencies: { express: '5' },
  }),
  'package-lock.json': '{}',
}

async function start(files: Files) {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, files)
  const path = `/projects/${project.id}`
  return { t, ada, project, path, detected: async () => (await ada.get(`${path}/detection`)).json }
}

test('a repository without a Dockerfile is deployed with the one that its settings show', async () => {
  const { ada, project, path, detected } = await start(express)
  const found = await detected()
  expect(found).toMatchObject({ kind: 'Express', problem: null, commit: project.repository.head })
  const file = await ada.get(`${path}/detection?format=dockerfile`)
  expect(file.text).toBe(found.dockerfile)

  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  expect((await logOf(ada, deployment)).join('\n')).toContain(found.reasons.join('; '))

  project.repository.commit({ Dockerfile: 'FROM busybox\nCMD ["sleep", "999"]\n' })
  expect(await detected()).toMatchObject({ kind: 'Dockerfile', links: [] })
})

test('what nothing tells apart is said with its reason, on the page too', async () => {
  const { ada, path, detected } = await start({ 'README.md': 'x' })
  expect(await detected()).toMatchObject({ kind: null, problem: { code: 'not_recognized' } })
  expect((await ada.get(`${path}/detection?format=dockerfile`)).status).toBe(409)
  expect((await ada.htmx('GET', `${path}/detection`)).status).toBe(200)
})

const python = { 'main.py': '' }
const large = JSON.stringify({ scripts: { start: 'node x' }, long: 'x'.repeat(20 * 1024 * 1024) })

test.each<[string, string, Files]>([
  ['a package.json of 20 MB', 'manifest_too_large', { 'package.json': large }],
  ['a package.json cut short', 'manifest_invalid', { 'package.json': '{"name":' }],
  ['Node 99', 'not_recognized', { ...express, '.nvmrc': '99' }],
  ['Go 9.9', 'not_recognized', { 'go.mod': 'module x\n\ngo 9.9\n', 'main.go': '' }],
  ['Python 2.7', 'not_recognized', { ...python, 'runtime.txt': 'python-2.7.18' }],
  ['a Procfile that ends amid a command', 'not_recognized', { ...python, Procfile: 'web: x \\' }],
])('the settings and a deployment say the same of %s: %s', async (_, code, files) => {
  const { project, detected } = await start(files)
  const { problem } = await detected()
  expect(problem).toMatchObject({ code })
  const { status, error } = await project.deploy()
  expect({ status, code: error.code }).toEqual({ status: 'failed', code })
  expect(error.message).toContain(problem.message)
  expect(error.hint).toContain(problem.hint)
})

test('an image of a version that there is none of is asked for where it was written', async () => {
  const { t, project, detected } = await start({ ...express, '.nvmrc': '22.99' })
  expect((await detected()).dockerfile).toContain('FROM node:22.99-slim')
  t.faults.pullImage = () => {
    throw new EngineError(404, 'manifest for node:22.99-slim not found: manifest unknown')
  }
  const { error } = await project.deploy()
  expect(error).toMatchObject({ code: 'base_image_not_found' })
  expect(error.message).toContain('node:22.99-slim')
  expect(error.hint).toContain('Without a Dockerfile')
})

test('what is set wins over what was found, from JSON and from the form, until it is cleared', async () => {
  const { ada, path, detected } = await start(express)
  const settings = `${path}/settings`
  const buildSettings = { version: '22', start: 'node y.js', packages: ['libvips42'], spa: false }
  expect((await ada.put(settings, { buildSettings })).json.buildSettings).toEqual(buildSettings)
  const { dockerfile } = await detected()
  for (const part of ['node:22.23-slim', '["node","y.js"]', 'libvips42'])
    expect(dockerfile).toContain(part)

  const names = ['install', 'build', 'version', 'directory', 'packages', 'spa']
  const empty = Object.fromEntries(names.map((name) => [`build_settings.${name}`, '']))
  const saved = await ada.htmx('PUT', settings, { ...empty, 'build_settings.start': 'node z.js' })
  expect(saved.text).toContain('value="node z.js"')
  expect((await ada.get(settings)).json.buildSettings).toEqual({ start: 'node z.js' })
  expect((await ada.put(settings, { buildSettings: null })).json.buildSettings).toEqual({})
})

test.each([
  ['start', 'node x \\'],
  ['start', '["node"]'],
  ['build', '--mount=type=secret make'],
  ['build', 'cat <<END'],
  ['install', 'a\nb'],
  ['version', '1; rm'],
  ['directory', '../up'],
  ['packages', 'curl; reboot'],
  ['packages', 'curl-'],
  ['unknown', 'x'],
])('the setting %s can’t be %j', async (name, value) => {
  const { ada, path } = await start(express)
  const given = name === 'packages' ? [value] : value
  const refused = await ada.put(`${path}/settings`, { buildSettings: { [name]: given } })
  const field = name === 'unknown' ? 'buildSettings' : `buildSettings.${name}`
  expect(refused).toMatchObject({ status: 422, json: { errors: [{ field }] } })
  expect((await ada.get(`${path}/settings`)).json.buildSettings).toEqual({})
})

test('a form keeps what was entered, with the error at its field', async () => {
  const { ada, path } = await start(express)
  const entered = { 'build_settings.start': 'node x \\', 'build_settings.version': '22' }
  const { status, text } = await ada.htmx('PUT', `${path}/settings`, entered)
  expect(status).toBe(422)
  expect(text).toMatch(/id="field-build_settings\.start"[^>]*aria-invalid="true"/)
  expect(text).toMatch(
    /name="build_settings\.version"[^>]*value="22"|value="22"[^>]*name="build_settings\.version"/,
  )
})
