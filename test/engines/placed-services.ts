import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { aProject } from '../deployments/apps.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import { settled } from '../services/instances.ts'
import { withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

// Runs in the network of the first server, as Davit does; see placed-services.long.test.ts.

const [second, third] = [process.env.SECOND, process.env.THIRD].map((host, at) =>
  connectDocker({ host: host!, serverId: serverId(at + 2) }),
)
const others = [second!, third!]
const image = 'redis:8.2.9'

const power = (verb: 'crash' | 'boot', n: number) =>
  fetch(`http://localhost/${verb}/${n}`, { unix: process.env.POWER!, method: 'POST' })

/** Says at `/cgi-bin/redis?INCR+visits` what the linked server answers to that, each time by its name. */
const anApp: Files = {
  'www/cgi-bin/redis': [
    '#!/bin/sh',
    "printf 'Content-Type: text/plain\\r\\n\\r\\n'",
    'password=$(echo "$REDIS_URL" | sed "s/.*:\\([^@]*\\)@.*/\\1/")',
    'host=$(echo "$REDIS_URL" | sed "s/.*@\\([^:]*\\):.*/\\1/")',
    'address=$(nslookup "$host" | sed -n "/^Name:/,\\$s/^Address: //p" | head -n 1)',
    'command=$(echo "$QUERY_STRING" | tr + " ")',
    'printf "AUTH %s\\r\\n%s\\r\\n" "$password" "$command" | nc -w 2 "$address" 6379 | tail -n 1',
  ].join('\n'),
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'RUN chmod +x /www/cgi-bin/redis',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
}

async function onServers() {
  const abort = new AbortController()
  const { t, ada } = withAda(await edgeApp({ otherEngines: others }))
  const address = (n: number) => `198.19.0.${10 + n}`
  storeServers(t.db, [{}, {}, {}], address)
  const feeds = others.map((docker) => t.serverEngines.watch(t.feed, docker, abort))
  return {
    ...{ t, ada },
    async left() {
      const labels = [`davit.instance=${t.instanceId}`]
      const lists = [t.docker, ...others].map(async (docker) => [
        ...(await docker.listContainers({ labels, all: true })),
        ...(await docker.listNetworks({ labels })),
        ...(await docker.listVolumes({ labels })),
      ])
      const all = (await Promise.all(lists)).flat()
      return all.filter((one) => one.labels['davit.kind'] !== 'edge')
    },
    async [Symbol.asyncDispose]() {
      abort.abort()
      await Promise.all(feeds)
    },
  }
}

test('a server of another machine is linked by name, and has its data after that lost power', async () => {
  const machine = connectDocker({ host: process.env.MACHINE! })
  await second!.loadImage(machine.saveImage(image))
  await using s = await onServers()
  const { t, ada } = s
  const on = { placement: { server: 'server2' } }
  const body = { template: 'redis', name: 'cache', ...on }
  const service = await settled(t, ada, (await ada.post('/services', body)).json)
  expect(service).toMatchObject({
    ...{ status: 'running', error: null, pinnedTo: serverId(2) },
    containers: [{ serverId: serverId(2), health: 'healthy' }],
  })
  expect(await t.docker.hasImage(image)).toBe(false)

  const project = await aProject(t, ada, anApp, { domains: ['app.test'], drainSeconds: 0 })
  const beside = { name: 'third', domains: ['third.test'], placement: { server: 'server3' } }
  const { json: third } = await ada.post(`/projects/${project.id}/envs`, beside)
  for (const id of [project.environmentId, third.id]) {
    const variables = { REDIS_URL: 'url' }
    const linked = await ada.post(`/envs/${id}/links`, { serviceId: service.id, variables })
    expect([linked.status, linked.text]).toEqual([201, expect.anything()])
    expect(await project.deploy({ environmentId: id })).toMatchObject({ status: 'running' })
  }
  const ask = async (host: string, command: string) =>
    (await (await t.get(host, `/cgi-bin/redis?${command.replaceAll(' ', '+')}`)).text()).trim()
  expect(await ask('app.test', 'INCR visits')).toBe(':1')
  expect(await ask('third.test', 'INCR visits')).toBe(':2')

  await ada.post(`/services/${service.id}/restart`)
  expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
  expect(await ask('third.test', 'INCR visits')).toBe(':3')
  await ada.put(`/services/${service.id}`, { REDIS_MAXMEMORY: '64mb' })
  expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
  expect(await ask('app.test', 'INCR visits')).toBe(':4')
  expect(await ask('app.test', 'BGREWRITEAOF')).toStartWith('+Background')
  await Bun.sleep(1100) // its file is written once a second

  await power('crash', 2)
  await until(() => t.engines.isAway({ serverId: serverId(2) }), 120)
  expect((await ada.page(`/services/${service.id}`)).text).toContain('It waits for')
  expect((await t.docker.listContainers({ labels: [`davit.service=${service.id}`] })).length).toBe(
    0,
  )
  const begun = performance.now()
  await power('boot', 2)
  await until(async () => (await ask('app.test', 'INCR visits')) === ':5', 120)
  console.error(`answers ${Math.round(performance.now() - begun)} ms after its server has power`)
  await until(() => !t.engines.isAway({ serverId: serverId(2) }), 120)
  await until(async () => (await ada.get(`/services/${service.id}`)).json.status === 'running', 60)

  await ada.delete(`/projects/${project.id}`, { confirm: 'site' })
  await ada.delete(`/services/${service.id}`, { confirm: 'cache', volumes: true })
  await until(async () => (await s.left()).length === 0)
}, 600_000)

test('an app with a volume stays on its server, whatever its placement says since', async () => {
  await using s = await onServers()
  const { t, ada } = s
  const files: Files = {
    'www/cgi-bin/count': [
      '#!/bin/sh',
      "printf 'Content-Type: text/plain\\r\\n\\r\\n'",
      'echo x >> /data/visits; wc -l < /data/visits',
    ].join('\n'),
    Dockerfile: (anApp.Dockerfile as string).replace('bin/redis', 'bin/count'),
  }
  const project = await aProject(t, ada, files, {
    ...{ domains: ['app.test'], drainSeconds: 0, volumes: ['data:/data'] },
    placement: { server: 'server2' },
  })
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  const count = async () => Number(await (await t.get('app.test', '/cgi-bin/count')).text())
  expect(await count()).toBe(1)
  const path = `/projects/${project.id}/envs/${project.environmentId}`
  expect((await ada.put(path, { placement: null })).status).toBe(409)
  project.repository.commit({ 'www/index.html': 'two' })
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  expect(await count()).toBe(2)
  expect((await ada.get(path)).json.live.instances).toMatchObject([{ serverId: serverId(2) }])
  await ada.delete(`/projects/${project.id}`, { confirm: 'site', volumes: true })
  await until(async () => (await s.left()).length === 0)
}, 300_000)
