import { expect, onTestFinished, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { aProject, logOf } from '../deployments/apps.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import { startRegistry } from '../support/registry.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

// Runs in the network of the first server, as Davit does; see registry.long.test.ts.

const others = [process.env.SECOND, process.env.THIRD].map((host, at) =>
  connectDocker({ host: host!, serverId: serverId(at + 2) }),
)
const user = { username: 'pusher', password: 'a password that opens it' }

/** With three megabytes that stay the same, below what each version changes. */
const anApp = (text: string) => ({
  'www/index.html': text,
  Dockerfile: [
    'FROM busybox',
    'RUN head -c 3000000 /dev/urandom > /large',
    'COPY www /www',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

async function onServers({ registry }: { registry?: string } = {}) {
  const abort = new AbortController()
  const env = { DAVIT_ALLOW_HOSTS: '198.19.0.0/24', ...(registry && { DAVIT_REGISTRY: registry }) }
  const t = await edgeApp({ otherEngines: others, env })
  storeServers(
    t.db,
    [{ zone: 'home' }, { zone: 'away' }, { zone: 'away' }],
    (n) => `198.19.0.${10 + n}`,
  )
  const feeds = others.map((docker) => t.feed.run(docker, abort))
  onTestFinished(async () => {
    abort.abort()
    await Promise.all(feeds)
  })
  const [root, ada] = [t.logInAsAdmin(), t.logIn('ada@example.com')]
  const settings = {
    ...{ domains: ['app.test'], watchSeconds: 0, drainSeconds: 0 },
    processes: [{ name: 'web', replicas: 2 }],
    placement: { labels: { zone: 'away' }, spread: 'servers' } as const,
  }
  const project = await aProject(t, ada, anApp('one'), settings)
  const kept = await ada.put(`/projects/${project.id}/settings`, { keepImages: 1 })
  expect(kept.status).toBe(200)
  const labels = [`davit.project=${project.id}`]
  return {
    ...{ t, root, ada, project },
    async deploy(text: string) {
      project.repository.commit(anApp(text))
      const deployment = await project.deploy()
      const log = await logOf(ada, deployment)
      expect([deployment.status, log]).toEqual(['running', expect.anything()])
      expect(await t.text('app.test')).toBe(text)
      await t.jobs.idle()
      return log.join('\n')
    },
    images: () => Promise.all(others.map((docker) => docker.listImages({ labels }))),
    async remove() {
      await ada.delete(`/projects/${project.id}`, { confirm: 'site' })
      await until(async () => (await this.images()).flat().length === 0)
    },
  }
}

test('a built image reaches two servers by the user’s registry, the same one, and its old ones leave it', async () => {
  const registry = await startRegistry(user, { address: '198.19.0.11' })
  onTestFinished(registry.stop)
  const s = await onServers({ registry: `${registry.host}/davit` })
  const login = await s.root.post('/settings/registries', { host: registry.host, ...user })
  expect(login.status).toBe(201)
  const headers = { Authorization: `Basic ${btoa(`${user.username}:${user.password}`)}` }
  const tags = async () => {
    const url = `http://${registry.host}/v2/davit/${s.project.id}/tags/list`
    return ((await (await fetch(url, { headers })).json()) as { tags?: string[] | null }).tags ?? []
  }

  const begun = performance.now()
  const first = await s.deploy('one')
  console.error(`by the registry: ${Math.round(performance.now() - begun)} ms`)
  const digests = Array.from(first.matchAll(/has (sha256:[0-9a-f]{64})/g), ([, digest]) => digest)
  expect([digests.length, new Set(digests).size]).toEqual([2, 1])
  expect(await tags()).toHaveLength(1)
  // no one finds it by a name of the registry, on any of them
  const named = await Promise.all([s.t.docker, ...others].map((docker) => docker.listImages()))
  expect(
    named.flat().flatMap((one) => one.tags.filter((tag) => tag.includes(registry.host))),
  ).toEqual([])

  for (const text of ['two', 'three']) await s.deploy(text)
  expect(await tags()).toHaveLength(2) // of the live version, and the one before, which is kept
  await registry.stop()
  s.project.repository.commit(anApp('four'))
  const failed = await s.project.deploy()
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'image_not_delivered' } })
  expect(await s.t.text('app.test')).toBe('three')
  await s.remove()
}, 200_000)

test('without one it is copied, and a new version without the layers that are there', async () => {
  const s = await onServers()
  const units = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20 }
  const bytes = (log: string) =>
    Array.from(
      log.matchAll(/Copied ([\d.]+) (B|KiB|MiB) in/g),
      ([, amount, unit]) => Number(amount) * units[unit as keyof typeof units],
    )
  expect(bytes(await s.deploy('one')).every((size) => size > 2.8 * units.MiB)).toBe(true)
  const second = bytes(await s.deploy('two'))
  console.error(`copied: ${second}`)
  expect(second).toHaveLength(2)
  expect(second.every((size) => size < 0.5 * units.MiB)).toBe(true)
  await s.remove()
}, 200_000)
