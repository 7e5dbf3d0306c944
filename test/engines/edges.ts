import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Placement } from '../../src/db/schema.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { healthPath } from '../../src/edge/elsewhere.ts'
import { updateServer } from '../../src/servers/store.ts'
import { aProject, finished } from '../deployments/apps.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import { pathOf } from '../deployments/events.ts'
import { anAuthority } from '../edge/pebble.ts'
import { withAda } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import type { Files } from '../support/git-server.ts'
import { aNameServer } from '../support/name-server.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

// Runs in the network of the first server, as Davit does; see edges.long.test.ts.

const others = [process.env.SECOND, process.env.THIRD].map((host, at) =>
  connectDocker({ host: host!, serverId: serverId(at + 2) }),
)

const power = (verb: 'crash' | 'boot' | 'freeze' | 'thaw', n: number) =>
  fetch(`http://localhost/${verb}/${n}`, { unix: process.env.POWER!, method: 'POST' })

const addressOf = (n: number) => `198.19.0.${10 + n}`
const [first, second] = [addressOf(1), addressOf(2)]

/** Where visitors are, as each edge sees them. */
const visitor = first

/** Responds with the text, whom it takes for the visitor, and the secret of an edge if it got one. */
const anApp = (text: string): Files => ({
  'www/cgi-bin/index.cgi': [
    '#!/bin/sh',
    "printf 'Content-Type: text/plain\\r\\n\\r\\n'",
    `echo ${text} $HTTP_X_FORWARDED_FOR $HTTP_X_REAL_IP $HTTP_X_FORWARDED_PROTO $HTTP_DAVIT_EDGE`,
  ].join('\n'),
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'RUN chmod +x /www/cgi-bin/index.cgi',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

const says = (text: string, scheme = 'http') => `${text} ${visitor} ${visitor} ${scheme}\n`

const usual = { watchSeconds: 0, drainSeconds: 0 }

async function onServers(options: Partial<Parameters<typeof edgeApp>[0]> = {}) {
  const abort = new AbortController()
  const { t, ada } = withAda(
    await edgeApp({
      ...{ otherEngines: others, edgeQuietTime: 2000 },
      ...options,
      env: { DAVIT_CLUSTER_ADDRESS: first, ...options.env },
    }),
  )
  storeServers(t.db, [{}, {}, {}], addressOf)
  const feeds = others.map((docker) => t.serverEngines.watch(t.feed, docker, abort))
  await until(() => others.every((docker) => !t.engines.isAway(docker)))
  const labels = [`davit.instance=${t.instanceId}`]
  const site = (name: string, placement: Placement | null) =>
    aProject(t, ada, anApp(name), { name, domains: [`${name}.test`], placement, ...usual })
  const get = async (edge: string, name: string) =>
    (await t.get(`${name}.test`, '/', { signal: AbortSignal.timeout(10_000) }, edge)).text()
  const health = async (edge = second) => (await t.get('x.test', healthPath, {}, edge)).status
  return {
    ...{ t, ada, site, health, labels },
    edges: async () =>
      (await others[0]!.listContainers({ labels, all: true })).filter(
        (one) => one.labels['davit.kind'] === 'edge',
      ),
    serves: (edge: string, name: string, text = name) =>
      until(async () => (await get(edge, name).catch(String)) === says(text), 90),
    /** The server has an edge from now on, which serves that app. */
    async begin(name: string, text = name) {
      updateServer(t.db, serverId(2), { roles: ['apps', 'edge'] })
      await this.serves(second, name, text)
    },
    /** Visits these apps at these edges while the work is done. Each may say these texts, and no one else is the visitor. */
    async visits(
      texts: Record<string, string[]>,
      work: () => Promise<unknown>,
      edges = [first, second],
    ) {
      const begun = performance.now()
      const wrong: string[] = []
      let [isOver, count] = [false, 0]
      const visit = async (name: string, edge: string, keepalive: boolean) => {
        const expected = texts[name]!.map((text) => `200 ${says(text)}`)
        while (!isOver) {
          const seen = await t
            .get(`${name}.test`, '/', { keepalive }, edge)
            .then(async (answer) => `${answer.status} ${await answer.text()}`, String)
          count++
          if (!expected.includes(seen)) wrong.push(`${name} at ${edge}: ${seen}`)
          await Bun.sleep(10) // the servers of a test share few processors
        }
      }
      const visitors = Object.keys(texts).flatMap((name) =>
        edges.flatMap((edge) => [true, false].map((keepalive) => visit(name, edge, keepalive))),
      )
      await work().finally(() => (isOver = true))
      await Promise.all(visitors)
      const took = Math.round(performance.now() - begun)
      console.error(
        `${JSON.stringify(texts)}: ${count} requests, ${wrong.length} wrong, ${took} ms`,
      )
      expect(wrong).toEqual([])
    },
    async [Symbol.asyncDispose]() {
      await power('thaw', 2).catch(() => {}) // where a scene failed
      for (const { id, name } of (await ada.get('/projects')).json.items)
        await ada.delete(`/projects/${id}`, { confirm: name })
      await until(async () => (await t.docker.listNetworks({ labels })).length === 0)
      abort.abort()
      await Promise.all(feeds)
    },
  }
}

test('visitors of both edges see no failure while versions come, move and go back, and one edge leaves', async () => {
  await using s = await onServers()
  const { t, ada } = s
  const project = await s.site('app', null)
  const far = await s.site('far', { server: 'server3' })
  const begun = await project.deploy()
  expect(begun).toMatchObject({ status: 'running' })
  expect(await far.deploy()).toMatchObject({ status: 'running' })

  // what runs from before is reached through Davit's own edge
  await s.begin('app')
  await s.serves(second, 'far')

  let said = 'app'
  const switchTo = async (text: string, work: () => Promise<{ status: string }>) => {
    await s.visits({ app: [said, text], far: ['far'] }, async () =>
      expect(await work()).toMatchObject({ status: 'running', downtimeMs: null }),
    )
    said = text
    for (const edge of [first, second]) await s.serves(edge, 'app', text)
  }
  const deploy = (text: string) =>
    switchTo(text, () => {
      project.repository.commit(anApp(text))
      return project.deploy()
    })

  await deploy('two')
  await project.configure({ placement: { server: 'server3' } })
  await deploy('three')
  await switchTo('app', async () => {
    const { json } = await ada.post(`${pathOf(begun)}/rollback`)
    return finished(ada, json)
  })
  await project.configure({ placement: { server: 'server2' } })
  await deploy('four')
  await project.configure({ placement: null })
  await deploy('five')

  // a balancer sees that it leaves before it ends
  expect(await s.health()).toBe(200)
  await s.visits(
    { far: ['far'] },
    async () => {
      await s.visits(
        { app: ['five'] },
        async () => {
          updateServer(t.db, serverId(2), { roles: ['apps'] })
          await until(async () => (await s.health()) === 503)
        },
        [second],
      )
      await until(async () => (await s.edges()).length === 0, 60)
    },
    [first],
  )
  const { labels } = s
  await until(async () => (await others[0]!.listVolumes({ labels })).length === 0)
  await s.begin('app', 'five')
}, 300_000)

test('a server with an edge loses power and returns, and one that can’t be reached has what is new once it can be', async () => {
  await using s = await onServers()
  const { t } = s
  const project = await s.site('app', { server: 'server3' })
  const home = await s.site('home', null)
  for (const one of [project, home]) expect(await one.deploy()).toMatchObject({ status: 'running' })
  await s.begin('app')
  await s.serves(second, 'home')

  const becomes = (state: string) =>
    until(() => t.edge.others!.stateOf(serverId(2)).state === state, 150)
  const deploy = async (text: string) => {
    project.repository.commit(anApp(text))
    const from = performance.now()
    expect(await project.deploy()).toMatchObject({ status: 'running', downtimeMs: null })
    console.error(`${text} is deployed in ${Math.round(performance.now() - from)} ms`)
  }

  // its power is cut
  await s.visits(
    { app: ['app', 'two'], home: ['home'] },
    async () => {
      await power('crash', 2)
      await until(() => t.engines.isAway({ serverId: serverId(2) }), 60)
      await deploy('two')
      await power('boot', 2)
      await until(async () => (await s.health().catch(() => 0)) === 200, 60)
      // before it has what is new, and from then on
      await s.visits({ app: ['two'], home: ['home'] }, () => becomes('serving'), [second])
    },
    [first],
  )

  // its engine hangs, while its edge serves on
  await power('freeze', 2)
  await s.visits({ app: ['two', 'three'], home: ['home'] }, () => deploy('three'))
  await s.visits({ app: ['two', 'three'], home: ['home'] }, async () => {
    expect(await s.health()).toBe(200)
    await becomes('outdated')
    await power('thaw', 2)
    const from = performance.now()
    await becomes('serving')
    console.error(`the edge has caught up after ${Math.round(performance.now() - from)} ms`)
  })
  await s.visits({ app: ['three'] }, () => s.serves(second, 'home'))
}, 500_000)

test('certificates that Davit asks for are served by all edges, whichever the authority visits', async () => {
  const names = await aNameServer({ 'app.test': [second] })
  const ports = { http: freePort(), https: freePort() }
  const pebble = await anAuthority({ http: ports.http, nameServer: names.address })
  const folder = mkdtempSync(join(tmpdir(), 'davit-acme-'))
  const root = join(folder, 'root.pem')
  await Bun.write(root, pebble.root)
  onTestFinished(() => {
    names.stop()
    rmSync(folder, { recursive: true })
  })
  await using s = await onServers({
    nameServers: [names.address],
    env: {
      DAVIT_EDGE_PORTS: `${ports.http},${ports.https}`,
      DAVIT_ACME_URL: pebble.directory,
      DAVIT_ACME_CA: root,
      DAVIT_PUBLIC_ADDRESS: [first, second].join(','),
    },
  })
  const project = await s.site('app', { server: 'server3' })
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  await s.begin('app')
  const over = new AbortController()
  const asking = s.t.certificates.run(over) // the authority visits the second edge
  const ca = await pebble.ca()
  const secure = async (edge: string) => {
    const tls = { ca, serverName: 'app.test' }
    const url = `https://${edge}:${ports.https}/`
    const answer = await fetch(url, { tls, keepalive: false, headers: { Host: 'app.test' } })
    return answer.text()
  }
  for (const edge of [first, second])
    await until(async () => (await secure(edge).catch(String)) === says('app', 'https'), 90)
  for (const edge of [first, second])
    await until(async () => (await s.t.get('app.test', '/', {}, edge)).status === 308, 60)
  over.abort()
  await asking
}, 300_000)
