import { expect, test } from 'bun:test'
import { aCommand, aProject } from '../deployments/apps.ts'
import { made, site } from '../services/instances.ts'
import { testApp, withAda } from '../support/app.ts'

test('the map follows a real app and the service that it is linked to, as they run and stop', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, site, { name: 'Greeter' })
  const script = 'mkdir -p /www && exec httpd -f -p 8080 -h /www'
  const project = await aProject(t, ada, aCommand(script), { name: 'shop' })
  const app = project.environmentId
  await ada.post(`/envs/${app}/links`, { serviceId: service.id })
  await project.deploy()
  const states = async () => {
    const { nodes, edges } = (await ada.get('/map')).json
    const found = new Map<string, string>(
      nodes.map(({ id, state }: { id: string; state: string }) => [id, state]),
    )
    expect(edges).toContainEqual({ from: app, to: service.id })
    expect(edges).toContainEqual({ from: `port-${app}`, to: app })
    return [found.get(`port-${app}`), found.get(app), found.get(service.id)]
  }
  expect(await states()).toEqual(['ready', 'running', 'running'])
  const { text } = await ada.page(`/map?focus=${service.id}`)
  expect(text.replaceAll(/<[^>]*>/g, '')).toContain('shop / production (Running).')

  await ada.post(`/services/${service.id}/stop`)
  await t.jobs.idle()
  expect(await states()).toEqual(['ready', 'running', 'stopped'])
  await ada.post(`/envs/${app}/stop`)
  await t.jobs.idle()
  expect(await states()).toEqual(['not_responding', 'stopped', 'stopped'])
})
