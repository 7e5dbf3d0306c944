import { expect, test } from 'bun:test'
import { links } from '../../src/db/schema.ts'
import { aCommand, answerOf, aProject, logOf } from '../deployments/apps.ts'
import { collect } from '../logs/collecting.ts'
import { driving } from '../runs/runs.ts'
import { leftOf, made, settled, site } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
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

test('an app reaches a linked service at its first line, and nobody else’s app does', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
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
  for (const host of ['greeter', 'web', addresses[network]!, `greeter.${network}`]) {
    const { output } = await execIn(containerId, ['wget', '-T', '2', '-qO-', `http://${host}/`])
    expect(output).not.toContain('hello')
  }

  // a service that is recreated takes its name along
  await ada.put(`/services/${service.id}`, { GREETING: 'hello again' })
  await settled(t, ada, service)
  const { output } = await execIn(deployment.containerId, ['wget', '-qO-', 'http://greeter/'])
  expect(output.trim()).toBe('hello again')

  // one that is removed leaves nothing, and its apps run on
  expect((await ada.delete(`/services/${service.id}`, { force: true, volumes: true })).status).toBe(
    200,
  )
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
  expect((await answerOf(deployment)).trim()).toBe('hello')
})
