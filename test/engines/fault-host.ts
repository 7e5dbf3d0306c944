import { keepServers } from '../../src/admin/keep-servers.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { firstServer } from '../../src/platform/root.ts'
import { getServer, listServers, updateServer } from '../../src/servers/store.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import { withAda } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

/** A server as the scenes know it: its engine here, and its login as Davit has it. */
export type Host = {
  engine: string
  address: string
  ssh: string
  hostKey: string
  privateKey: string
  nodeId: string
}

const hosts: Host[] = JSON.parse(process.env.HOSTS ?? '[]')

/** Has something befall servers, by their numbers: see faults.long.test.ts. */
export async function befall(what: string, ...servers: number[]) {
  const url = `http://servers/${[what, ...servers].join('/')}`
  const { ok, status } = await fetch(url, { unix: process.env.FAULTS! })
  if (!ok) throw new Error(`That could not befall ${servers}: ${what}, ${status}`)
}

const near = hosts.map(({ engine }) => connectDocker({ host: engine }))

/** Removes what these engines have of installations; the removal of an app’s own knows the first alone. */
async function removeAll(labels: string[]) {
  for (const docker of near)
    for (const { id } of await docker.listContainers({ labels, all: true }))
      await docker.removeContainer(id, { force: true, volumes: true })
  const removed = ({ id }: { id: string }) =>
    near[0]!.removeNetwork(id).then(
      () => true,
      () => false, // the swarm hasn't heard yet that nothing is on it
    )
  for (const network of await near[0]!.listNetworks({ labels }))
    await until(() => removed(network), 60)
}

/** Davit on the first of three servers, which it joined. The first is at home, the others are away from it. */
export async function onThree() {
  const abort = new AbortController()
  const { signal } = abort
  await removeAll(['davit.instance']) // of a scene that failed
  const { t, ada } = withAda(await edgeApp())
  const addressOf = (n: number) => hosts[n - 1]!.address
  storeServers(t.db, [{ zone: 'home' }, { zone: 'away' }, { zone: 'away' }], addressOf)
  for (const [at, { nodeId, ssh, hostKey, privateKey }] of hosts.entries()) {
    const id = serverId(at + 1)
    const login = { ssh, hostKey, privateKey: t.serverEngines.seal(id, privateKey) }
    updateServer(t.db, id, { nodeId, ...(id !== firstServer && login) })
    t.serverEngines.open(getServer(t.db, id)!)
  }
  const work = [
    keepServers(t.deps, { signal }),
    t.engines.keep(
      async (docker, until) => {
        if (docker.serverId !== firstServer) await t.serverEngines.watch(t.feed, docker, until)
      },
      { signal },
    ),
  ]
  const labels = [`davit.instance=${t.instanceId}`]
  const stateOf = (n: number) => getServer(t.db, serverId(n))!.state
  await until(() => listServers(t.db).every(({ state }) => state === 'ready'), 60)
  return {
    ...{ t, ada, stateOf },
    /** The kinds and levels of events of the server. */
    told: () =>
      t.db.$client
        .query<{ event: string }, []>("SELECT kind || ' ' || level AS event FROM events")
        .all()
        .map(({ event }) => event),
    /** The servers of an environment’s live containers. */
    liveOn: (environmentId: string) =>
      t.db.$client
        .query(
          `SELECT name FROM servers JOIN instances ON server_id = servers.id WHERE state = 'live' AND workload_id = '${environmentId}' ORDER BY name`,
        )
        .all()
        .map((row) => (row as { name: string }).name),
    /** Containers of apps that engines have, and no row says should run or be kept. */
    async strays(...servers: number[]) {
      const known = new Set(
        t.db.$client
          .query("SELECT container_id AS id FROM instances WHERE state IN ('live', 'standby')")
          .all()
          .map((row) => (row as { id: string }).id),
      )
      const lists = servers.map((n) => near[n - 1]!.listContainers({ labels, all: true }))
      return (await Promise.all(lists))
        .flat()
        .filter(({ id, labels }) => labels['davit.kind'] === 'app' && !known.has(id))
        .map(({ name, state }) => `${name} ${state}`)
    },
    /** Visits a host until it is stopped and answers; counts requests and failures, and the longest time without an answer. */
    visits(host: string) {
      let [isOver, answers] = [false, true]
      let [count, failed, longest, last] = [0, 0, 0, performance.now()]
      const visit = async () => {
        while (!isOver || !answers) {
          const answer = await t
            .get(host, '/', { keepalive: false, signal: AbortSignal.timeout(10_000) })
            .then(async (response) => response.ok && (await response.text()))
            .catch(() => false)
          count++
          answers = Boolean(answer)
          if (!answers) failed++
          else {
            longest = Math.max(longest, performance.now() - last)
            last = performance.now()
          }
          await Bun.sleep(20)
        }
      }
      const visitors = [visit(), visit()]
      return {
        async end() {
          isOver = true
          await Promise.all(visitors)
          return { count, failed, seconds: Math.round(longest / 100) / 10 }
        },
      }
    },
    /** All is as before what befell servers, also where a scene failed in its middle. */
    async [Symbol.asyncDispose]() {
      await befall('restore')
      await until(() => listServers(t.db).every(({ state }) => state === 'ready'), 60)
      await t.instanceTasks.idle()
      abort.abort()
      await Promise.all(work)
      await removeAll(labels)
    },
  }
}
