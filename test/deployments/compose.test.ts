import { expect, test } from 'bun:test'
import { noteWhatRan } from '../../src/db/restored.ts'
import { reconcileAfterRestore } from '../../src/deployments/reconcile-after-restore.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { aProject, finished, logOf, rollBack } from './apps.ts'

const compose = `services:
  site:
    build: ./web
    ports: ["8000:8080"]
    depends_on: {migrate: {condition: service_completed_successfully}}
  worker:
    build: {context: worker, args: {MODE: "\${MODE:-slow}"}}
    environment: [DATABASE=db:5432, "TOKEN=\${TOKEN}"]
  migrate:
    image: busybox
    command: [sh, -c, exit 0]
    depends_on: {db: {condition: service_started}}
  db:
    image: postgres:17
    environment: {POSTGRES_PASSWORD: "\${TOKEN}"}
    volumes: [data:/var/lib/postgresql/data]
volumes: {data: {}}
`

const app = (text: string): Files => ({
  'web/Dockerfile': 'FROM busybox\nCOPY . /www\n',
  'web/index.html': text,
  'worker/Dockerfile': 'FROM busybox\nCOPY . /w\n',
  'worker/run': 'one',
  'compose.yaml': compose,
})

async function start(files: Files, settings: Record<string, unknown> = {}) {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, files)
  const at = `/projects/${project.id}`
  const set = (more: Record<string, unknown>) => ada.put(`${at}/settings`, more)
  expect((await set({ composeFile: 'compose.yaml', ...settings })).status).toBe(200)
  const shown = async () => (await ada.get(`${at}/envs/${project.environmentId}`)).json
  const live = async () => {
    const entries = ((await shown()).live?.instances ?? []).map(
      ({ process, containerId }: Record<string, string>) => [process, containerId],
    )
    return Object.fromEntries(entries) as Record<string, string>
  }
  const deploy = async (more: Record<string, unknown> = {}) => {
    const deployment = await project.deploy(more)
    return { deployment, log: (await logOf(ada, deployment)).join('\n'), live: await live() }
  }
  const inspect = (id: string | undefined) => t.docker.inspectContainer(id!)
  return { t, ada, project, at, set, shown, live, deploy, inspect }
}

test('the services of a Compose file run as the environment', async () => {
  const { t, project, deploy, inspect, shown } = await start(app('one'))
  await project.set({ key: 'TOKEN', value: 'secret-token', secret: true })
  const { deployment, log, live } = await deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  expect(log).toContain('postgres:17')
  expect(Object.keys(live).toSorted()).toEqual(['db', 'migrate', 'web', 'worker'])

  const web = (await inspect(live.web))!
  expect(deployment.containerId).toBe(web.id)
  expect(web.env).toContain('PORT=8080')
  expect(web.env).toContain('TOKEN=secret-token')
  const worker = (await inspect(live.worker))!
  expect(worker.env).toContain('DATABASE=db:5432')
  expect(worker.env.join()).not.toContain('PORT=')
  const db = (await inspect(live.db))!
  expect(db.env).toContain('POSTGRES_PASSWORD=secret-token')
  expect(db.env.join()).not.toContain('DAVIT_')
  expect(db.mounts).toMatchObject([{ source: `davit-${project.environmentId}-data` }])

  const own = `davit-${project.environmentId}`
  const namesOn = ({ networks }: typeof db) => networks.find(({ name }) => name === own)!.aliases
  expect(namesOn(db)).toContain('db')
  expect(namesOn(web)).toContain('site')
  expect((await t.docker.listNetworks()).map(({ name }) => name)).toContain(own)

  const environment = await shown()
  expect(environment).toMatchObject({
    port: 8080,
    fromCode: { file: 'compose.yaml', settings: ['port', 'processes'] },
    pendingChanges: [],
  })
})

test('a push rebuilds and recreates only what it changes', async () => {
  const { t, ada, project, deploy } = await start(app('one'))
  await project.set({ key: 'TOKEN', value: 'secret-token' })
  const first = await deploy()
  const again = await deploy()
  expect(again.live).toEqual({ ...first.live, migrate: again.live.migrate! })
  expect(again.live.migrate).not.toBe(first.live.migrate!)
  expect(again.log).not.toContain('Building')
  expect(again.deployment).toMatchObject({ status: 'running', containerId: first.live.web })

  project.repository.commit({ 'worker/run': 'two' })
  const second = await deploy()
  expect(second.log).toContain('Building the service worker')
  expect(second.log).not.toContain('Building the service site')
  expect(second.live.worker).not.toBe(first.live.worker!)
  expect(second.live).toMatchObject({ web: first.live.web, db: first.live.db })
  expect(await t.docker.inspectContainer(first.live.worker!)).toMatchObject({ state: 'exited' })

  await project.set({ key: 'MODE', value: 'fast', secret: true })
  const third = await deploy()
  expect(third.log).toContain('Building the service worker')
  expect(third.log).toMatch(/readable in the image: MODE$/m)
  expect(third.live.db).toBe(first.live.db!)
  expect(third.live.web).not.toBe(first.live.web!) // it has all variables

  const { containers } = (await ada.get('/containers/api')).json
  type Shown = { process: string; kept: boolean }
  const processes = containers.filter(({ kept }: Shown) => !kept).map((one: Shown) => one.process)
  expect(processes.toSorted()).toEqual(['db', 'migrate', 'web', 'worker'])
})

test('a rollback has the images and the file of that deployment', async () => {
  const { t, ada, project, deploy, live, inspect } = await start(app('one'))
  const first = await deploy()
  const image = (await inspect(first.live.worker))!.imageId
  const without = compose.replace(/ {2}db:[^]*?(?=volumes: \{)/, '')
  project.repository.commit({
    'worker/run': 'two',
    'compose.yaml': without.replace(/\n {4}depends_on: \{db.*/, ''),
  })
  const second = await deploy()
  expect(second.deployment).toMatchObject({ status: 'running', error: null })
  expect(Object.keys(second.live).toSorted()).toEqual(['migrate', 'web', 'worker'])
  expect(second.log).toContain(`davit-${project.environmentId}-data`)
  expect(await t.docker.inspectContainer(first.live.db!)).toMatchObject({ state: 'exited' })
  const volumes = (await t.docker.listVolumes()).map(({ name }) => name)
  expect(volumes).toContain(`davit-${project.environmentId}-data`)

  const back = await finished(ada, (await rollBack(ada, first.deployment)).json)
  expect(back).toMatchObject({ status: 'running', error: null })
  const now = await live()
  expect(Object.keys(now).toSorted()).toEqual(['db', 'migrate', 'web', 'worker'])
  expect((await inspect(now.worker))!.imageId).toBe(image)
  expect((await inspect(now.db))!.mounts).toMatchObject([
    { source: `davit-${project.environmentId}-data` },
  ])
})

test('images of all services are kept as long as one can roll back to them', async () => {
  const { t, ada, project, set, deploy } = await start(app('one'))
  await set({ keepImages: 1 })
  const first = await deploy()
  project.repository.commit({ 'worker/run': 'two', 'web/index.html': 'two' })
  const second = await deploy()
  await t.jobs.idle()
  const names = (await t.docker.listImages()).flatMap(({ tags }) => tags)
  const ours = names.filter((name) => name.startsWith('davit/'))
  expect(ours).toHaveLength(4)
  expect(ours.every((name) => name.startsWith(second.deployment.image))).toBe(true)
  expect((await rollBack(ada, first.deployment)).status).toBe(409)

  await ada.delete(`/projects/${project.id}`)
  await t.jobs.idle()
  const left = (await t.docker.listImages()).flatMap(({ tags }) => tags)
  expect(left.filter((name) => name.startsWith('davit/'))).toEqual([])
  expect((await t.docker.listNetworks()).filter(({ name }) => name.startsWith('davit-'))).toEqual(
    [],
  )
})

const broken: [what: string, files: Files, code: string, settings?: Record<string, unknown>][] = [
  ['no Compose file', { 'compose.yaml': null, 'a.txt': '' }, 'compose_missing'],
  [
    'a mistake',
    { 'compose.yaml': 'services:\n  web:\n    image: a\n    privileged: true' },
    'compose_invalid',
  ],
  ['no Dockerfile', { 'web/Dockerfile': null }, 'no_dockerfile'],
  [
    'two that could have the address',
    { 'compose.yaml': 'services: {a: {image: a}, b: {image: b}}' },
    'compose_service_unknown',
  ],
  ['processes in davit.yaml', { 'davit.yaml': 'processes: [{name: web}]' }, 'davit_file_invalid'],
]
for (const [what, files, code] of broken)
  test(`a commit with ${what} fails with its reason, and what runs stays`, async () => {
    const { t, project, deploy } = await start(app('one'))
    const first = await deploy()
    const before = (await t.docker.listImages()).flatMap(({ tags }) => tags).toSorted()
    project.repository.commit(files)
    const { deployment, live } = await deploy()
    expect(deployment).toMatchObject({ status: 'failed', error: { code } })
    expect(live).toEqual(first.live)
    const after = (await t.docker.listImages()).flatMap(({ tags }) => tags).toSorted()
    expect(after).toEqual(before)
  })

const mounting = (path: string) => ({
  'compose.yaml': `services: {web: {image: a, volumes: ["${path}:/m"]}}`,
})
const unreadable: [what: string, files: Files, code: string][] = [
  ['a link out of the repository', { ...mounting('./l'), l: { to: '../../etc' } }, 'path_outside'],
  ['a file that isn’t text', { ...mounting('./f'), f: 'a\u0000b' }, 'compose_invalid'],
  ['a file of over 1 MiB', { ...mounting('./f'), f: 'x'.repeat(2 ** 20 + 1) }, 'compose_too_large'],
  [
    'a directory of 201 files',
    {
      ...mounting('./d'),
      ...Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`d/${at}`, ''])),
    },
    'compose_too_large',
  ],
]
test('what a commit mounts is text of the repository, and not too much of it', async () => {
  for (const [what, files, code] of unreadable) {
    const { deploy } = await start(files)
    expect((await deploy()).deployment.error, what).toMatchObject({ code })
  }
})

test('a service that was stopped by hand is created again, though nothing else has changed', async () => {
  const { t, deploy } = await start(app('one'))
  const first = await deploy()
  await t.docker.stopContainer(first.live.worker!)
  const second = await deploy()
  expect(second.deployment.status).toBe('running')
  expect(second.live.worker).not.toBe(first.live.worker!)
  expect(second.live).toMatchObject({ web: first.live.web, db: first.live.db })
})

test('the service that a user chose has the addresses, and those that restart with another one follow it', async () => {
  const both = `services:
  a: {build: web, ports: ["8080"], depends_on: {b: {condition: service_started, restart: true}}}
  b: {build: worker, ports: ["9090"]}
`
  const { ada, at, project, set, deploy, inspect } = await start({
    ...app('one'),
    'compose.yaml': both,
  })
  expect((await deploy()).deployment.error).toMatchObject({ code: 'compose_service_unknown' })
  expect((await ada.get(`${at}/detection`)).json.reasons.join()).toContain('a, b')
  await set({ composeService: 'b' })
  const first = await deploy()
  expect(Object.keys(first.live).toSorted()).toEqual(['a', 'web'])
  expect((await inspect(first.live.web))!.env).toContain('PORT=9090')
  project.repository.commit({ 'worker/run': 'two' })
  const second = await deploy()
  expect(second.live.a).not.toBe(first.live.a!)
})

test('a service that fails leaves all as they were, those that were kept too', async () => {
  const { t, ada, project, deploy, live } = await start(app('one'))
  const first = await deploy()
  const fails = compose.replace('exit 0', 'exit 1')
  project.repository.commit({ 'worker/run': 'two', 'compose.yaml': fails })
  const second = await deploy()
  expect(second.deployment).toMatchObject({ status: 'failed', error: { step: 'deploying' } })
  expect(second.live).toEqual(first.live)
  for (const id of Object.values(first.live))
    expect(await t.docker.inspectContainer(id)).not.toBeNull()
  await ada.post(`/envs/${project.environmentId}/restart`)
  await t.jobs.idle()
  expect(await live()).toMatchObject({ db: first.live.db })
})

test('after a restore what was kept from an earlier deployment is left alone', async () => {
  const { t, ada, at, project, deploy } = await start(app('one'))
  await deploy()
  project.repository.commit({ 'worker/run': 'two' })
  const second = await deploy()
  await t.jobs.idle()
  noteWhatRan(t.db)
  await reconcileAfterRestore(t.deps, { signal: new AbortController().signal })
  await t.jobs.idle()
  const [newest] = (await ada.get(`${at}/deployments`)).json.items
  expect(newest).toMatchObject({ id: second.deployment.id, status: 'running' })
})

test('the detection shows the services, what they need, and a mistake with its place', async () => {
  const { ada, project, at, set } = await start({
    ...app('one'),
    'compose.yaml': compose.replace('TOKEN}', 'TOKEN:?set it}'),
  })
  const look = async () => (await ada.get(`${at}/detection`)).json
  const found = await look()
  expect(found).toMatchObject({ kind: 'Compose', problem: null, dockerfile: null })
  expect(found.services).toContainEqual({
    ...{ name: 'site', image: null, context: 'web', replicas: 1, web: true },
  })
  expect(found.links).toMatchObject([{ template: 'postgresql' }])
  expect(found.reasons.join()).toContain('TOKEN')
  expect((await ada.page(`${at}/detection`)).text).toContain('<code>postgres:17</code>')

  project.repository.commit({ 'compose.yaml': 'services:\n  web:\n    image: a\n    pid: host\n' })
  expect((await look()).problem).toMatchObject({ code: 'compose_invalid' })
  expect((await look()).problem.message).toContain('compose.yaml, line 4, column 5')

  await set({ composeFile: null })
  expect(await look()).toMatchObject({ composeFiles: ['compose.yaml'], services: [] })
})
