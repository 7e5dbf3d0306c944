import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import type { Docker } from '../../src/docker/index.ts'
import { aProject } from '../deployments/apps.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import { settled } from '../services/instances.ts'
import { withAda } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

// Runs in the network of the first server, as Davit does; see move.long.test.ts.

const others = [process.env.SECOND, process.env.THIRD].map((host, at) =>
  connectDocker({ host: host!, serverId: serverId(at + 2) }),
)
const carrier = process.env.DAVIT_RESTIC_IMAGE!
const machine = connectDocker({ host: process.env.MACHINE! })

const minutes = 60_000

async function load(image: string, ...engines: Docker[]) {
  for (const docker of engines)
    if (!(await docker.hasImage(image))) await docker.loadImage(machine.saveImage(image))
}

async function onServers() {
  const abort = new AbortController()
  const env = { DAVIT_RESTIC_IMAGE: carrier }
  const { t, ada } = withAda(await edgeApp({ env, otherEngines: others }))
  storeServers(t.db, [{}, {}, {}], (n) => `198.19.0.${10 + n}`)
  const feeds = others.map((docker) => t.serverEngines.watch(t.feed, docker, abort))
  const engines = [t.docker, ...others]
  await load(carrier, t.docker)
  const labels = [`davit.instance=${t.instanceId}`]
  const there = (docker: Docker) => docker.listContainers({ labels: [...labels, 'davit.part'] })
  return {
    ...{ t, ada },
    /** Runs it in the container on that server, for what it prints. */
    async run(on: number, script: string) {
      const [{ id } = { id: '' }] = await there(engines[on - 1]!)
      const options = { command: ['sh', '-c', script], signal: abort.signal }
      const { exitCode, output } = await engines[on - 1]!.runInContainer(id, options)
      expect([exitCode, exitCode === 0 ? '' : output]).toEqual([0, ''])
      return output.trim()
    },
    /** Moves it, and returns the move. */
    async move(path: string, to: number) {
      expect((await ada.post(path, { server: `server${to}` })).json).toMatchObject({
        to: serverId(to),
      })
      await until(async () => {
        await t.jobs.idle()
        return !/pending|running/.test((await ada.get(path)).json.last.status)
      }, 600)
      const { last } = (await ada.get(path)).json
      expect([last.status, last.error]).toEqual(['succeeded', null])
      return last as { outageMs: number; bytes: number; from: string; leftOn: string }
    },
    /** Which servers run a container of it, and which have volumes. */
    async state() {
      const runs = engines.map(async (docker) => (await there(docker)).length > 0)
      const has = engines.map(async (docker) => (await docker.listVolumes({ labels })).length > 1)
      const numbers = (all: boolean[]) => all.flatMap((is, at) => (is ? at + 1 : []))
      return { runs: numbers(await Promise.all(runs)), has: numbers(await Promise.all(has)) }
    },
    async left() {
      const all = engines.map(async (docker) => [
        ...(await docker.listContainers({ labels, all: true })),
        ...(await docker.listVolumes({ labels })),
      ])
      const found = (await Promise.all(all)).flat()
      return found.filter((one) => one.labels['davit.kind'] !== 'edge').map(({ name }) => name)
    },
    async [Symbol.asyncDispose]() {
      abort.abort()
      await Promise.all(feeds)
    },
  }
}

const shown = (what: string, { bytes, outageMs }: { bytes: number; outageMs: number }) =>
  console.error(`${what}: ${(bytes / 2 ** 20).toFixed(1)} MB, no response for ${outageMs} ms`)

test(
  'a database moves from server to server and back, with all it has',
  async () => {
    await using s = await onServers()
    const { t, ada } = s
    await load('postgres:17.11', ...others)
    const body = { template: 'postgresql', name: 'data', placement: { server: 'server2' } }
    const made = (await ada.post('/services', body)).json
    await until(
      async () => !/pulling|creating|starting/.test((await settled(t, ada, made)).status),
      600,
    )
    const service = await settled(t, ada, made)
    expect(service).toMatchObject({ status: 'running', error: null, pinnedTo: serverId(2) })
    const path = `/services/${service.id}/move`
    const sql = (on: number, query: string) =>
      s.run(on, `psql -v ON_ERROR_STOP=1 -At -U "$POSTGRES_USER" -d "$POSTGRES_DB" -c "${query}"`)
    const all = "SELECT count(*) || ' ' || md5(string_agg(at, ',' ORDER BY n)) FROM visits"
    await sql(
      2,
      "CREATE TABLE visits AS SELECT n, repeat('x', 1000) || n AS at FROM generate_series(1, 20000) n",
    )
    const before = await sql(2, all)
    shown('postgresql there', await s.move(path, 3))
    expect(await sql(3, all)).toBe(before)
    await sql(3, "INSERT INTO visits VALUES (20001, 'there')")
    const later = await sql(3, all)
    shown('postgresql back', await s.move(path, 2))
    expect(await sql(2, all)).toBe(later)
    expect(await settled(t, ada, service)).toMatchObject({
      ...{ status: 'running', pinnedTo: serverId(2) },
    })
    expect((await s.state()).runs).toEqual([2])
    expect((await ada.delete(path)).json).toMatchObject({ leftOn: null })
    expect((await others[1]!.listVolumes({ labels: [`davit.service=${service.id}`] })).length).toBe(
      0,
    )
    await ada.delete(`/services/${service.id}`, { confirm: 'data', volumes: true })
    await until(async () => (await s.left()).length === 0)
  },
  20 * minutes,
)

/** Says at `/` how many bytes its volume has, with their sum. */
const anApp = {
  'www/cgi-bin/sum': "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'; cat /data/sum",
  'www/index.html': 'here',
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'RUN chmod +x /www/cgi-bin/sum',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
}

test(
  'an app with a volume moves under visitors, there and back',
  async () => {
    await using s = await onServers()
    const { t, ada } = s
    const project = await aProject(t, ada, anApp, {
      ...{ domains: ['app.test'], drainSeconds: 0, volumes: ['data:/data'] },
    })
    expect(await project.deploy()).toMatchObject({ status: 'running' })
    const write =
      'cd /data && mkdir -p a/b && dd if=/dev/urandom of=a/b/big bs=1M count=64 2>/dev/null && ln -s big a/b/link && chown -R 1234:77 a && chmod 640 a/b/big && sha256sum a/b/big > sum && cat sum'
    const sum = await s.run(1, write)
    const path = `/envs/${project.environmentId}/move`
    for (const to of [2, 1]) {
      let [isOver, longest, failed, count, last] = [false, 0, 0, 0, performance.now()]
      const visit = async () => {
        while (!isOver) {
          const answer = await t
            .get('app.test', '/', { signal: AbortSignal.timeout(10_000) })
            .then(async (one) => one.ok && (await one.text()) === 'here')
            .catch(() => false)
          count++
          if (!answer) failed++
          else {
            longest = Math.max(longest, performance.now() - last)
            last = performance.now()
          }
          await Bun.sleep(20)
        }
      }
      const visitors = [visit(), visit()]
      const moved = await s.move(path, to)
      await until(async () => (await t.text('app.test')) === 'here')
      isOver = true
      await Promise.all(visitors)
      shown(`app to server${to}`, moved)
      console.error(`${failed} of ${count} requests failed, none answered for ${longest | 0} ms`)
      expect(longest).toBeLessThan(moved.outageMs + 15_000)
      expect(await t.text('app.test', '/cgi-bin/sum')).toBe(`${sum}\n`)
      expect(await s.run(to, 'cd /data && sha256sum a/b/link | cut -c-64')).toBe(sum.slice(0, 64))
      expect(await s.run(to, 'stat -c "%u %g %a" /data/a/b/big')).toBe('1234 77 640')
      expect(await s.state()).toMatchObject({ runs: [to] })
    }
    await ada.delete(`/projects/${project.id}`, { confirm: 'site', volumes: true })
    await until(async () => (await s.left()).length === 0)
  },
  20 * minutes,
)

test.each(['copying', 'starting'])(
  'a Davit that is killed while it is %s leaves it running, with all its data, once it has started again',
  async (moment) => {
    const folder = await mkdtemp(join(tmpdir(), 'davit-move-'))
    await load('busybox', ...others)
    const first = connectDocker({ host: process.env.DOCKER_HOST! })
    await load(carrier, first)
    const davit = (phase: string) =>
      Bun.spawn([process.execPath, join(import.meta.dir, 'move-davit.ts'), folder, phase], {
        ...{ env: process.env, stdout: 'pipe', stderr: 'inherit' },
      })
    const killed = davit('move')
    const is = moment === 'copying' ? 'davit.kind=backup' : 'davit.kind=service'
    const labels = ['davit.instance', is]
    await until(async () => (await others[1]!.listContainers({ labels })).length > 0, 300)
    killed.kill('SIGKILL')
    await killed.exited
    const next = davit('resume')
    const said = JSON.parse(await new Response(next.stdout).text())
    expect(await next.exited).toBe(0)
    console.error(`killed while ${moment}:`, said)
    expect(said.up).toEqual(said.pinned === serverId(3) ? [0, 1] : [1, 0])
    expect(said.sums).toEqual(said.sums.map(() => said.wrote))
    expect(said.carriers).toBe(0)
    await rm(folder, { recursive: true })
  },
  15 * minutes,
)
