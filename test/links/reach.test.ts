import { expect, test } from 'bun:test'
import { links } from '../../src/db/schema.ts'
import { aCommand, anApp, answerOf, aProject, logOf } from '../deployments/apps.ts'
import { collect } from '../logs/collecting.ts'
import { driving } from '../runs/runs.ts'
import { leftOf, made, settled, site } from '../services/instances.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { execIn } from '../support/exec.ts'

/** Serves what the service answers to its first line. */
const client = aCommand(
  'mkdir -p /www && wget -qO /www/index.html "http://$SITE_HOST:$SITE_PORT/" && exec httpd -f -p 8080 -h /www',
)

test('a release command and a run reach a linked service, too', async () => {
  const t = testApp()
  collect(t)
  const ada = t.logIn('ada@example.com')
  const service = await made(t, ada, site, { name: 'Greeter' })
  const ask = 'wget -qO- "http://$SITE_HOST:$SITE_PORT/"'
  const project = await aProject(t, ada, aCommand('exec sleep 999'), {
    port: 0,
    releaseCommand: ['sh', '-c', ask],
  })
  const variables = { SITE_HOST: 'host', SITE_PORT: 'port' }
  const link = { environmentId: project.environmentId, serviceId: service.id, variables }
  t.db.insert(links).values(link).run()
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  expect(await logOf(ada, deployment)).toContain('hello')
  const runs = driving(t, ada, `/envs/${project.environmentId}/runs`)
  const run = await runs.start(['sh', '-c', ask])
  expect(await runs.ended(run)).toMatchObject({ status: 'succeeded' })
  expect(await runs.linesOf(run)).toContain('hello')
})

test('an app reaches a linked service at its first line, and no one else’s app does', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, site, { name: 'Greeter' })
  expect(service.host).toBe('greeter')
  const project = await aProject(t, ada, client)
  t.db
    .insert(links)
    .values({
      environmentId: project.environmentId,
      serviceId: service.id,
      variables: { SITE_HOST: 'host', SITE_PORT: 'port' },
    })
    .run()
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  expect((await answerOf(deployment)).trim()).toBe('hello')
  const network = `davit-${service.id}`
  const { addresses } = (await t.docker.inspectContainer(service.containers[0].id))!
  expect(
    Object.keys((await t.docker.inspectContainer(deployment.containerId))!.addresses),
  ).toContain(network)

  const bob = t.logIn('bob@example.com')
  const other = await aProject(t, bob, aCommand('exec sleep 999'), { name: 'other', port: 0 })
  const { containerId } = await other.deploy()
  const ask = async (id: string, host: string) =>
    (await execIn(id, ['timeout', '3', 'wget', '-qO-', `http://${host}/`])).output
  const hosts = ['greeter', 'web', addresses[network]!, `greeter.${network}`]
  const ofAll = (id: string) => Promise.all(hosts.map((host) => ask(id, host)))
  const [linked, others] = await Promise.all([ofAll(deployment.containerId), ofAll(containerId)])
  expect(linked).toEqual(hosts.map(() => 'hello'))
  expect(others.join()).not.toContain('hello')

  // a service that is recreated takes its name along
  await ada.put(`/services/${service.id}`, { GREETING: 'hello again' })
  await settled(t, ada, service)
  expect(await ask(deployment.containerId, 'greeter')).toBe('hello again')

  // one that is removed leaves nothing, and its apps run on
  expect((await ada.delete(`/services/${service.id}`, { force: true, volumes: true })).status).toBe(
    200,
  )
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
  expect((await answerOf(deployment)).trim()).toBe('hello')
})

test('a service whose first start fails leaves no network behind, and takes its apps back', async () => {
  // a start counts once it has stayed up: on a busy machine its end may come late
  const { t, ada } = withAda(testApp({}, { config: { settleTime: 1000 } }))
  const fragile = `services: {web: {image: busybox, stop_grace_period: 1s, ports: ["80"], environment: {WELL: "\${WELL:-no}"},
    command: [sh, -c, 'test "$$WELL" = yes || exit 3; mkdir /www && echo well > /www/index.html && exec httpd -f -h /www']}}`
  const service = await made(t, ada, fragile, { name: 'fragile' })
  expect(service.status).toBe('failed')
  const project = await aProject(t, ada, aCommand('exec sleep 999'), { port: 0 })
  await ada.post(`/envs/${project.environmentId}/links`, { serviceId: service.id })
  const { containerId } = await project.deploy()
  const ask = () => execIn(containerId, ['timeout', '5', 'wget', '-qO-', 'http://fragile/'])
  expect((await leftOf(t, service)).networks).toHaveLength(1)

  await ada.post(`/services/${service.id}/restart`)
  expect(await settled(t, ada, service)).toMatchObject({ status: 'failed' })
  expect((await leftOf(t, service)).networks).toEqual([])
  expect(await t.docker.inspectContainer(containerId)).toMatchObject({ state: 'running' })

  await ada.put(`/services/${service.id}`, { WELL: 'yes' })
  expect(await settled(t, ada, service)).toMatchObject({ status: 'running' })
  expect(await ask()).toEqual({ exitCode: 0, output: 'well' })
})

test('a service that is deleted while an app is about to join it leaves no network', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, site, { name: 'Greeter' })
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  const variables = { SITE_HOST: 'host' }
  const link = { environmentId: project.environmentId, serviceId: service.id, variables }
  t.db.insert(links).values(link).run()
  t.faults.listNetworks = async (options = {}) => {
    if (options.labels?.includes(`davit.service=${service.id}`)) {
      delete t.faults.listNetworks
      await ada.delete(`/services/${service.id}`, { force: true, volumes: true })
    }
    return t.docker.listNetworks(options)
  }
  expect(await project.deploy()).toMatchObject({ status: 'running', error: null })
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
})
