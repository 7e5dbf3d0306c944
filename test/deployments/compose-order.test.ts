import { expect, test } from 'bun:test'
import { simulatedApp, withAda } from '../support/app.ts'
import { aProject, anApp } from './apps.ts'

const compose = (version: number) => `x-all: &all {environment: [VERSION=${version}]}
services:
  site: {build: ., ports: ["8080"], depends_on: [api], <<: *all}
  api: {image: busybox, command: [sleep, "999"], depends_on: [db], <<: *all}
  db: {image: busybox, command: [sleep, "999"], volumes: ["data:/data"], <<: *all}
  other: {image: busybox, command: [sleep, "999"], <<: *all}
volumes: {data: {}}
`

test('services of a Compose file stop after those that depend on them, and the others meanwhile', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, { ...anApp('one'), 'compose.yaml': compose(1) })
  await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  expect((await project.deploy()).status).toBe('running')
  await t.jobs.idle()

  const stops: string[] = []
  t.faults.stopContainer = async (id, options) => {
    const [, service] = /-production-(\w+)-/.exec((await t.docker.inspectContainer(id))!.name)!
    stops.push(`${service} is told`)
    const done = await t.docker.stopContainer(id, options)
    stops.push(`${service} has ended`)
    return done
  }
  const expectOrder = () => {
    const at = (event: string) => stops.indexOf(event)
    expect(at('site has ended')).toBeGreaterThan(-1)
    expect(at('api is told')).toBeGreaterThan(at('site has ended'))
    expect(at('db is told')).toBeGreaterThan(at('api has ended'))
    expect(at('other is told')).toBeLessThan(at('site has ended'))
    stops.length = 0
  }
  await ada.post(`/envs/${project.environmentId}/restart`)
  await t.jobs.idle()
  expectOrder()

  await ada.post(`/envs/${project.environmentId}/stop`)
  await t.jobs.idle()
  expectOrder()

  await ada.post(`/envs/${project.environmentId}/start`)
  expect((await project.deployFiles({ 'compose.yaml': compose(2) })).status).toBe('running')
  await t.jobs.idle()
  // the volume of db is needed by its next container, so it stops first
  expect(stops.indexOf('api is told')).toBeGreaterThan(stops.indexOf('site has ended'))
})

test.each([
  ['recreated where it is linked, to find that before another one', true],
  ['kept where it is not', false],
])('when the file has a name more, the service with the addresses is %s', async (_, isLinked) => {
  const { t, ada } = withAda(simulatedApp())
  const stack = (services: string) => `services:
  web: {image: busybox, command: [sleep, "999"], ports: ["80"]}
  db: {image: busybox, command: [sleep, "999"]}
${services}`
  const project = await aProject(t, ada, { 'compose.yaml': stack('') }, { port: 0 })
  await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  const linked = { name: 'linked', compose: 'services: {cache: {image: busybox, expose: [80]}}' }
  const { id: serviceId } = (await ada.post('/services/compose', linked)).json
  if (isLinked) await ada.post(`/envs/${project.environmentId}/links`, { serviceId })
  const deployed = async () => {
    expect((await project.deploy()).status).toBe('running')
    const { json } = await ada.get(`/projects/${project.id}/envs/${project.environmentId}`)
    const all = json.live.instances as { process: string; containerId: string }[]
    return Object.fromEntries(all.map(({ process, containerId }) => [process, containerId]))
  }
  const before = await deployed()
  const more = stack('  cache: {image: busybox, command: [sleep, "999"]}\n')
  project.repository.commit({ 'compose.yaml': more })
  const { cache, ...after } = await deployed()
  expect([typeof cache, after.db]).toEqual(['string', before.db])
  expect(after.web === before.web).toBe(!isLinked)

  const [, ...lines] = more.trim().split('\n')
  project.repository.commit({ 'compose.yaml': ['services:', ...lines.reverse(), ''].join('\n') })
  expect(await deployed()).toEqual({ cache: cache!, ...after })
})

test('a rollback says that a volume interrupts it only where its service changes', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, { ...anApp('one'), 'compose.yaml': compose(1) })
  await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  const deployed = async (files: Record<string, string>) => {
    const deployment = await project.deployFiles(files)
    expect(deployment.status).toBe('running')
    return `/projects/${project.id}/deployments/${deployment.id}/rollback`
  }
  const first = await deployed({ 'www/index.html': 'one' })
  const second = await deployed({ 'www/index.html': 'two' })
  const interruption = async (path: string) => (await ada.get(path)).json.interruption
  expect(await interruption(first)).not.toBe('volume')
  await deployed({ 'compose.yaml': compose(2) })
  for (const path of [first, second]) expect(await interruption(path)).toBe('volume')
})
