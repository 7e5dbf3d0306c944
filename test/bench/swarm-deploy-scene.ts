import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { aProject } from '../deployments/apps.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import { withAda } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { inPairs } from './ratio.ts'

// Runs in the network of the first server, as Davit does; see swarm-deploy.ts.

const pairs = 7

const hosts = [process.env.SECOND!, process.env.THIRD!]
const others = hosts.map((host, at) => connectDocker({ host, serverId: serverId(at + 2) }))

const addressOf = (n: number) => `198.19.0.${10 + n}`

const anApp = (text: string) => ({
  'index.html': text,
  Dockerfile: 'FROM busybox\nCOPY index.html /www/\nEXPOSE 80\nCMD ["httpd", "-f", "-h", "/www"]',
})

async function run(...command: string[]) {
  const child = Bun.spawn(command, {
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(said)
}

/** What a person does on the first server, who has no registry either. */
function byHand(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'davit-by-hand-'))
  // each server asks the registry first, which answers at once that there is none
  const image = (version: number) => `127.0.0.1:9/by-hand:v${version}`
  async function bring(version: number) {
    const tree = join(folder, `${version}`)
    await run('git', 'clone', '--quiet', '--depth', '1', url, tree)
    await run('docker', 'build', '--quiet', '--tag', image(version), tree)
    const copy = 'docker save "$0" | docker --host "$1" load'
    await Promise.all(
      hosts.map((host) => run('bash', '-o', 'pipefail', '-c', copy, image(version), host)),
    )
  }
  return {
    async begin() {
      await bring(0)
      const where = ['--constraint', 'node.role==worker', '--endpoint-mode', 'dnsrr']
      const what = ['--name', 'by-hand', '--replicas', '2', '--init', '--no-resolve-image']
      const order = ['--update-order', 'start-first', '--update-parallelism', '0']
      const options = [...where, ...what, ...order, '--update-monitor', '100ms']
      await run('docker', 'service', 'create', ...options, image(0))
    },
    async update(version: number) {
      await bring(version)
      const options = ['--no-resolve-image', '--image', image(version)]
      await run('docker', 'service', 'update', ...options, 'by-hand')
    },
    async end() {
      await run('docker', 'service', 'rm', 'by-hand')
      rmSync(folder, { recursive: true })
    },
  }
}

test('versions of an app come to two servers, beside those of a service by hand', async () => {
  const { t, ada } = withAda(
    await edgeApp({ otherEngines: others, env: { DAVIT_CLUSTER_ADDRESS: addressOf(1) } }),
  )
  storeServers(t.db, [{}, { zone: 'far' }, { zone: 'far' }], addressOf)
  const abort = new AbortController()
  const feeds = others.map((docker) => t.serverEngines.watch(t.feed, docker, abort))
  await until(() => others.every((docker) => !t.engines.isAway(docker)))
  const project = await aProject(t, ada, anApp('v0'), {
    ...{ domains: ['app.test'], watchSeconds: 60 },
    placement: { labels: { zone: 'far' }, spread: 'servers' },
    processes: [{ name: 'web', replicas: 2 }],
  })
  const deploy = async () =>
    expect(await project.deploy()).toMatchObject({ status: 'running', downtimeMs: null })
  await deploy()
  const hand = byHand(project.repository.url)
  await hand.begin()

  let [isOver, version, count] = [false, 0, 0]
  const wrong: string[] = []
  const visitors = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const seen = await t
        .get('app.test')
        .then(async (one) => `${one.status} ${await one.text()}`, String)
      count++
      if (!/^200 v\d+$/.test(seen)) wrong.push(seen)
      await Bun.sleep(20) // the servers share few processors
    }
  })
  const seconds = async (work: () => Promise<unknown>) => {
    const begun = performance.now()
    await work()
    return (performance.now() - begun) / 1000
  }
  const figures = await inPairs(pairs, {
    davit: () => seconds(deploy),
    floor() {
      project.repository.commit(anApp(`v${++version}`))
      return seconds(() => hand.update(version))
    },
  })
  isOver = true
  await Promise.all(visitors)
  console.error(`${count} requests, ${wrong.length} wrong; ${JSON.stringify(figures)}`)
  expect(wrong).toEqual([])
  await Bun.write(process.env.FIGURES!, JSON.stringify(figures))
  await hand.end()
  await ada.delete(`/projects/${project.id}`, { confirm: 'site' })
  const labels = [`davit.instance=${t.instanceId}`]
  await until(async () => (await t.docker.listNetworks({ labels })).length === 0)
  abort.abort()
  await Promise.all(feeds)
}, 600_000)
