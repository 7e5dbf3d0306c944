import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { aProject, deployed, finished, logOf } from '../deployments/apps.ts'
import { updateServer } from '../../src/servers/store.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import { pathOf } from '../deployments/events.ts'
import { made, site } from '../services/instances.ts'
import { withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

// Runs in the network of the first server, as Davit does; see placed-apps.long.test.ts.

const others = [process.env.SECOND, process.env.THIRD].map((host, at) =>
  connectDocker({ host: host!, serverId: serverId(at + 2) }),
)

/** Responds with the text, and at `/cgi-bin/ask?host:port` with what that host does. */
const anAsking = (text: string): Files => ({
  'www/index.html': text,
  'www/cgi-bin/ask': [
    '#!/bin/sh',
    "printf 'Content-Type: text/plain\\r\\n\\r\\n'",
    // busybox's wget crashes on these engines
    'address=$(nslookup "${QUERY_STRING%:*}" | sed -n "/^Name:/,\\$s/^Address: //p" | head -n 1)',
    'printf "GET / HTTP/1.0\\r\\n\\r\\n" | nc -w 5 "$address" "${QUERY_STRING#*:}" | tail -n 1',
  ].join('\n'),
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'RUN chmod +x /www/cgi-bin/ask',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

async function onServers() {
  const abort = new AbortController()
  const { t, ada } = withAda(await edgeApp({ otherEngines: others }))
  storeServers(
    t.db,
    [{ zone: 'home' }, { zone: 'away' }, { zone: 'away' }],
    (n) => `198.19.0.${10 + n}`,
  )
  const feeds = others.map((docker) => t.feed.run(docker, abort))
  const liveOn = () =>
    t.db.$client
      .query(
        "SELECT name FROM servers JOIN instances ON server_id = servers.id WHERE state = 'live' ORDER BY name",
      )
      .all()
      .map((row) => (row as { name: string }).name)
  return {
    ...{ t, ada, liveOn },
    /** What all engines have of this installation, besides what serves it. */
    async left() {
      const labels = [`davit.instance=${t.instanceId}`]
      const lists = [t.docker, ...others].map(async (docker) => [
        ...(await docker.listContainers({ labels, all: true })).filter(
          (one) => one.labels['davit.kind'] !== 'edge',
        ),
        ...(await docker.listImages({ labels })),
        ...(await docker.listNetworks({ labels })),
      ])
      return (await Promise.all(lists)).flat().map((one) => ('name' in one ? one.name : one.tags))
    },
    async [Symbol.asyncDispose]() {
      abort.abort()
      await Promise.all(feeds)
    },
  }
}

test('an app moves to another server, from version to version and back, without a failed request', async () => {
  await using s = await onServers()
  const { t, ada } = s
  const settings = { domains: ['app.test'], watchSeconds: 0, drainSeconds: 0 }
  const project = await aProject(t, ada, anAsking('one'), settings)
  const first = await project.deploy()
  expect(await t.text('app.test')).toBe('one')
  let said = 'one'
  const switchTo = async (text: string, work: () => Promise<{ status: string }>) => {
    const begun = performance.now()
    const visited = await t.visited('app.test', [said, text], async () => {
      expect(await work()).toMatchObject({ status: 'running', downtimeMs: null })
    })
    console.error(`${text}: ${visited.count} requests, ${Math.round(performance.now() - begun)} ms`)
    expect(visited.wrong).toEqual([])
    said = text
    expect(await t.text('app.test')).toBe(text)
  }

  await project.configure({ placement: { server: 'server2' } })
  for (const text of ['two', 'three'])
    await switchTo(text, () => {
      project.repository.commit(anAsking(text))
      return project.deploy()
    })
  expect(s.liveOn()).toEqual(['server2'])
  await switchTo('one', async () => {
    const { json } = await ada.post(`${pathOf(first)}/rollback`)
    return finished(ada, json)
  })
  await project.configure({ placement: null })
  await switchTo('home', () => {
    project.repository.commit(anAsking('home'))
    return project.deploy()
  })
  expect(s.liveOn()).toEqual(['server1'])

  await t.jobs.idle()
  await ada.delete(`/projects/${project.id}`, { confirm: 'site' })
  await until(async () => (await s.left()).length === 0)
}, 200_000)

test('replicas are spread by label, and reach services and apps of other servers by their names', async () => {
  await using s = await onServers()
  const { t, ada } = s
  const { host, id: serviceId } = await made(t, ada, site)
  const project = await aProject(t, ada, anAsking('spread'), {
    ...{ domains: ['app.test'], watchSeconds: 0, drainSeconds: 0 },
    processes: [{ name: 'web', replicas: 2 }],
    placement: { labels: { zone: 'away' }, spread: 'servers' },
    releaseCommand: 'hostname',
  })
  const beside = (
    await ada.post(`/projects/${project.id}/envs`, { name: 'beside', domains: ['beside.test'] })
  ).json
  const asked = { environmentId: beside.id }
  expect(await deployed(ada, project.id, asked)).toMatchObject({ status: 'running' })
  await ada.post(`/envs/${project.environmentId}/links`, { serviceId })

  const deployment = await project.deploy()
  expect([deployment.status, await logOf(ada, deployment)]).toEqual(['running', expect.anything()])
  expect(s.liveOn().filter((name) => name !== 'server1')).toEqual(['server2', 'server3'])
  for (let tries = 0; tries < 6; tries++) {
    expect(await t.text('app.test', `/cgi-bin/ask?${host}:80`)).toBe('hello\n')
    expect(await t.text('app.test', '/cgi-bin/ask?beside:8080')).toBe('spread')
  }
  expect(await t.text('beside.test', '/cgi-bin/ask?production:8080')).toBe('spread')

  // a service that is recreated is found again
  await ada.post(`/services/${serviceId}/restart`)
  await t.jobs.idle()
  expect(await t.text('app.test', `/cgi-bin/ask?${host}:80`)).toBe('hello\n')
  await ada.delete(`/projects/${project.id}`, { confirm: 'site' })
  await ada.delete(`/services/${serviceId}`, { confirm: 'thing' })
  await until(async () => (await s.left()).length === 0)
}, 200_000)

test('an image is built on the server with the role builds, and runs here', async () => {
  await using s = await onServers()
  const { t, ada } = s
  const builder = others[1]!
  updateServer(t.db, serverId(3), { roles: ['builds'] })
  const project = await aProject(t, ada, anAsking('built'), { domains: ['app.test'] })
  for (const text of ['built', 'again']) {
    project.repository.commit(anAsking(text))
    const deployment = await project.deploy()
    const log = (await logOf(ada, deployment)).join('\n')
    expect([deployment.status, log]).toEqual(['running', expect.stringContaining('server3')])
    expect(await t.text('app.test')).toBe(text)
    expect(await builder.hasImage(deployment.image!)).toBe(true)
  }
  await ada.delete(`/projects/${project.id}`, { confirm: 'site' })
  await until(async () => (await s.left()).length === 0)
}, 200_000)
