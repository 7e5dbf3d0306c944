import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { aProject } from './apps.ts'

/** The site has what the store says when it starts. */
const compose = `services:
  site:
    image: busybox
    command: ["sh", "-c", "mkdir /w && cd /w && wget -qO index.html http://store:9000/ && exec httpd -f -p 8080"]
    ports: ["8080"]
    depends_on: {store: {condition: service_healthy}}
  store:
    image: busybox
    command: [httpd, -f, -p, "9000", -h, /s]
    configs: [{source: page, target: /s/index.html}]
    healthcheck: {test: [CMD, wget, -qO, /dev/null, "http://127.0.0.1:9000/"], interval: 1s}
configs: {page: {content: "store of \${STAGE}"}}
`

test('services find each other by their names, and never those of another environment', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, { 'compose.yaml': compose })
  await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  await project.set({ key: 'STAGE', value: 'production' })
  const made = await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })
  const staging = made.json.id as string
  await ada.post(`/envs/${staging}/variables`, { key: 'STAGE', value: 'staging' })
  const pageOf = async (asked: Record<string, unknown>) => {
    const deployment = await project.deploy(asked)
    expect(deployment).toMatchObject({ status: 'running', error: null })
    return (await fetch(deployment.url)).text()
  }
  expect(await pageOf({})).toBe('store of production')
  expect(await pageOf({ environmentId: staging })).toBe('store of staging')

  await ada.delete(`/projects/${project.id}/envs/${staging}`)
  await t.jobs.idle()
  const networks = (await t.docker.listNetworks()).map(({ name }) => name)
  expect(networks).not.toContain(`davit-${staging}`)
  expect(networks).toContain(`davit-${project.environmentId}`)
})
