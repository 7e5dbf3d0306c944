import { expect, test } from 'bun:test'
import { getEnvironmentIn } from '../../src/environments/store.ts'
import { untouchedBy } from '../../src/webhooks/watch-paths.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import type { Files } from '../support/git-server.ts'
import { anApp, aProject, finished, logOf, rollBack } from './apps.ts'

const yaml = `port: 8080
health_path: /ready
processes:
  - name: web
  - name: worker
    command: sleep 999
release_command: "true"
watch_paths: [src]
`

async function start(files: Files) {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, files)
  const path = `/projects/${project.id}/envs/${project.environmentId}`
  const shown = async () => (await ada.get(path)).json
  return { t, ada, project, path, shown, settings: `/projects/${project.id}/settings` }
}

const coded = { port: 8080, healthPath: '/ready', releaseCommand: 'true' }

test('a commit’s settings win, can’t be edited then, and end with the commits that have them', async () => {
  const { ada, project, path, shown } = await start({ ...anApp('one'), 'davit.yaml': yaml })
  await project.configure({ port: 9090, healthTimeout: 20 })
  const first = await project.deploy()
  expect(first).toMatchObject({ status: 'running', error: null })
  expect((await logOf(ada, first)).join('\n')).toContain('From davit.yaml: ')
  expect(await shown()).toMatchObject({
    ...coded,
    healthTimeout: 20,
    processes: [{ name: 'web' }, { name: 'worker', command: 'sleep 999' }],
    fromCode: { file: 'davit.yaml' },
    pendingChanges: [],
    live: { instances: [{ process: 'web' }, { process: 'worker' }] },
  })

  expect(await ada.put(path, { port: 7070 })).toMatchObject({
    status: 409,
    json: { errors: [{ field: 'port' }] },
  })
  expect((await ada.put(path, { port: 8080, healthTimeout: 30 })).status).toBe(200)
  const form = (await ada.page(`${path}/edit`)).text
  expect(form).toMatch(/<input[^>]*id="field-port"[^>]*disabled/)
  expect(form).not.toMatch(/<input[^>]*id="field-health_timeout"[^>]*disabled/)
  expect((await ada.htmx('PUT', path, { health_timeout: '40' })).status).toBeLessThan(400)

  expect((await project.deployFiles({ 'davit.yaml': null })).status).toBe('running')
  const own = { port: 9090, healthPath: null, releaseCommand: null, healthTimeout: 40 }
  expect(await shown()).toMatchObject({ ...own, processes: [{ name: 'web' }], fromCode: null })
  await project.configure({ port: 9191 })

  await finished(ada, (await rollBack(ada, first)).json)
  expect(await shown()).toMatchObject({ ...coded, fromCode: { file: 'davit.yaml' } })
  await project.deploy({ reuseImage: true })
  expect(await shown()).toMatchObject({ ...coded, fromCode: { file: 'davit.yaml' } })
})

test('a failed deployment changes nothing, and says where the mistake is', async () => {
  const { project, shown } = await start({ ...anApp('one'), 'davit.yaml': 'port: 8080\nprot: 1\n' })
  const failed = await project.deploy()
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'davit_file_invalid' } })
  expect(failed.error.message).toContain('davit.yaml, line 2, column 1')
  expect(await shown()).toMatchObject({ port: null, fromCode: null })
})

test('a process gets no more than the environment, not by a rollback either', async () => {
  const limits = 'processes:\n  - name: web\n    memory_mb: 512\n'
  const { ada, project } = await start({ ...anApp('one'), 'davit.yaml': limits })
  await project.configure({ memoryMb: 256 })
  const above = await project.deploy()
  expect(above.error).toMatchObject({ code: 'davit_file_invalid' })
  expect(above.error.message).toContain('line 3, column 5')
  await project.configure({ memoryMb: 512 })
  const first = await project.deploy()
  expect(first.status).toBe('running')
  await project.configure({ memoryMb: 256 })
  const again = await finished(ada, (await rollBack(ada, first)).json)
  expect(again.error).toMatchObject({ code: 'davit_file_invalid' })
})

test('it has no more replicas than requests reach', async () => {
  const spread = 'processes:\n  - name: web\n    replicas: 2\n'
  const { ada, project, path } = await start({ ...anApp('one'), 'davit.yaml': spread })
  expect((await project.deploy()).error).toMatchObject({ code: 'davit_file_invalid' })
  await ada.put(path, { port: 0 }) // a worker needs no requests
  expect(await project.deploy()).toMatchObject({ status: 'running', error: null })
})

test('it takes no port from an app whose environment has a host port of its own', async () => {
  const { ada, project, path, shown } = await start(anApp('one'))
  const hostPort = freePort()
  await project.configure({ hostPort })
  for (const text of ['port: 0\n', 'processes:\n  - name: worker\n']) {
    project.repository.commit({ 'davit.yaml': text })
    expect((await project.deploy()).error).toMatchObject({ code: 'davit_file_invalid' })
    expect(await shown()).toMatchObject({ port: null, hostPort })
  }
  await ada.put(path, { hostPort: null })
  expect((await project.deploy()).status).toBe('running')
})

test('schedules are those of the live commit, also after a rollback', async () => {
  const scheduled = (time: string) =>
    `schedules:\n  - {name: clean, command: 'true', schedule: '${time}'}\n`
  const { ada, project } = await start({ ...anApp('one'), 'davit.yaml': scheduled('0 3 * * *') })
  const first = await project.deploy()
  const times = async () => {
    const { items } = (await ada.get(`/envs/${project.environmentId}/schedules`)).json
    return items.map(({ schedule }: { schedule: string }) => schedule)
  }
  expect(await times()).toEqual(['0 3 * * *'])
  await project.deployFiles({ 'davit.yaml': scheduled('@hourly') })
  expect(await times()).toEqual(['@hourly'])
  await project.deployFiles({ 'davit.yaml': null })
  expect(await times()).toEqual([])
  await finished(ada, (await rollBack(ada, first)).json)
  expect(await times()).toEqual(['0 3 * * *'])
})

test('how a repository without a Dockerfile is built can be in its davit.yaml', async () => {
  const { ada, project, settings } = await start({
    'package.json': JSON.stringify({
      scripts: { start: 'node x.js' },
      dependencies: { express: '5' },
    }),
    'package-lock.json': '{}',
    'davit.yaml': 'build:\n  start: node y.js\nwatch_paths: [src]\n',
  })
  await ada.put(settings, { buildSettings: { start: 'node z.js' } })
  const detection = `/projects/${project.id}/detection`
  expect((await ada.get(detection)).json.dockerfile).toContain('["node","y.js"]')
  expect((await project.deploy()).status).toBe('running')
  for (const [field, value] of Object.entries({ buildSettings: {}, watchPaths: ['x'] }))
    expect(await ada.put(settings, { [field]: value })).toMatchObject({
      status: 409,
      json: { errors: [{ field }] },
    })
  const page = (await ada.page(settings)).text
  expect(page).not.toContain('name="build_settings.start"')
  expect(page).toMatch(/<textarea[^>]*id="field-watch_paths"[^>]*disabled/)
  expect((await ada.htmx('PUT', settings, { keep_images: '3' })).status).toBe(200)

  await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })
  expect((await ada.put(settings, { watchPaths: ['x'] })).status).toBe(200)
})

test('beside a Compose file it decides about a push as well, and so do both files', async () => {
  const { t, ada, project, settings } = await start({
    'deploy/compose.yaml': 'services: {web: {image: busybox, command: [sleep, "999"]}}',
    'app/davit.yaml': 'watch_paths: [src]\n',
  })
  await project.configure({ port: 0 })
  await ada.put(settings, { composeFile: './deploy/compose.yaml', contextDir: 'app' })
  expect(await project.deploy()).toMatchObject({ status: 'running', error: null })
  const { environment, project: row } = getEnvironmentIn(t.db, project.environmentId)!
  const deploys = async (path: string) =>
    (await untouchedBy({ paths: [path] }, [{ project: row, environments: [environment] }])).size ===
    0
  expect(await deploys('docs/x')).toBe(false)
  for (const path of ['src/x', 'deploy/compose.yaml', 'app/davit.yaml'])
    expect([path, await deploys(path)]).toEqual([path, true])
})
