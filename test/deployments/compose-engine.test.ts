import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { made } from '../services/instances.ts'
import { answerOf, aProject } from './apps.ts'

const script = `cd /www
wget -qO - http://store:9000/ > store.txt
cat /etc/site.txt > file.txt
exec httpd -f -p 8080 -h /www
`

/** A site that asks an API by its name when it starts, and what that says of its build. */
const files = (text: string): Files => ({
  'deploy/compose.yaml': `services:
  site:
    build: {context: ../site, target: final}
    ports: ["80:8080"]
    depends_on: {store: {condition: service_healthy, restart: true}}
    volumes: ["./site.txt:/etc/site.txt:ro"]
  store:
    extends: {file: ../common.yaml, service: server}
    build: {context: ../store, dockerfile: ../docker/Dockerfile, args: [WORD]}
    healthcheck: {test: [CMD, wget, -qO, /dev/null, "http://127.0.0.1:9000/"], interval: 1s}
  idle:
    image: busybox
    command: [sleep, "9999"]
    stop_grace_period: 0s
    volumes: ["data:/data"]
volumes: {data: {}}
`,
  'deploy/site.txt': 'a file of the repository',
  'common.yaml': 'services: {server: {environment: {SIDE: back}, stop_grace_period: 0s}}\n',
  'docker/Dockerfile':
    'FROM busybox\nARG WORD\nCOPY . /s\nRUN echo "$WORD" >> /s/index.html\nCMD ["httpd", "-f", "-p", "9000", "-h", "/s"]\n',
  'store/index.html': text,
  'site/Dockerfile':
    'FROM busybox AS final\nCOPY run.sh /run.sh\nRUN mkdir /www && echo site > /www/index.html\nCMD ["sh", "/run.sh"]\nFROM busybox AS other\nRUN false\n',
  'site/run.sh': script,
})

test('two services that are built and one that is pulled answer over the address, and by their names', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, files('first '))
  await ada.put(`/projects/${project.id}/settings`, { composeFile: 'deploy/compose.yaml' })
  await project.set({ key: 'WORD', value: 'one', buildTime: true })
  const first = await project.deploy()
  expect(first).toMatchObject({ status: 'running', error: null })
  const page = (path: string) =>
    fetch(new URL(path, first.url)).then(async (response) => (await response.text()).trim())
  expect((await answerOf(first)).trim()).toBe('site')
  expect(await page('/store.txt')).toBe('first one')
  expect(await page('/file.txt')).toBe('a file of the repository')

  type Instance = { process: string; containerId: string; image: string; state: string }
  const live = async () => {
    const { json } = await ada.get(`/projects/${project.id}/envs/${project.environmentId}`)
    return Object.fromEntries(
      json.live.instances.map((one: Instance) => [one.process, one]),
    ) as Record<string, Instance>
  }
  const before = await live()
  expect(before.idle).toMatchObject({ image: 'busybox', state: 'running' })
  const shown = await ada.page(`/projects/${project.id}/envs/${project.environmentId}`)
  expect(shown.text).toContain('<code>busybox</code>')

  const second = await project.deployFiles({ 'store/index.html': 'second ' })
  expect(second).toMatchObject({ status: 'running', error: null })
  await t.jobs.idle() // until then the name of the store leads to its old container, too
  const after = await live()
  expect(after.idle!.containerId).toBe(before.idle!.containerId)
  expect(after.store!.containerId).not.toBe(before.store!.containerId)

  const path = `/envs/${project.environmentId}/runs`
  const command = ['sh', '-c', 'wget -qO - http://store:9000/ | grep -x "second one"']
  const run = (await ada.post(path, { command })).json
  await t.jobs.idle()
  expect((await ada.get(`${path}/${run.id}`)).json).toMatchObject({ exitCode: 0 })
})

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

const linkedStore = `services:
  store:
    image: busybox
    command: [httpd, -f, -p, "9000", -h, /s]
    configs: [{source: page, target: /s/index.html}]
    expose: ["9000"]
    stop_grace_period: 0s
configs: {page: {content: linked}}
`

test('a name in the file leads to its own service, and that of a link to the linked one', async () => {
  const { t, ada } = withAda(testApp())
  // it is older, so Docker asks its network first
  const linked = await made(t, ada, linkedStore, { name: 'store' })
  const project = await aProject(t, ada, {
    'compose.yaml': compose.replace(
      '&& exec httpd -f -p 8080',
      '&& wget -qO linked.html http://$$LINKED:9000/ && exec httpd -f -p 8080',
    ),
  })
  await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  await project.set({ key: 'STAGE', value: 'production' })
  await ada.post(`/envs/${project.environmentId}/links`, {
    ...{ serviceId: linked.id, variables: { LINKED: 'host' } },
  })
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  const page = async (path: string) => (await fetch(new URL(path, deployment.url))).text()
  expect([await page('/'), await page('/linked.html')]).toEqual(['store of production', 'linked'])

  const path = `/envs/${project.environmentId}/runs`
  const command = ['sh', '-c', 'wget -qO - http://store:9000/ | grep -x "store of production"']
  const run = (await ada.post(path, { command })).json
  await t.jobs.idle()
  expect((await ada.get(`${path}/${run.id}`)).json).toMatchObject({ exitCode: 0 })
})

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
