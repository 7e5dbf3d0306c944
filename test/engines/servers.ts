import { join } from 'node:path'
import { lastLine, run } from '../support/machine/command.ts'
import { aHost } from '../faults/private-host.ts'
import { startPrivateEngine } from '../faults/private-engine.ts'

/** Outlives checkouts: making a root takes minutes. */
export const engineFolder = join(process.env.XDG_CACHE_HOME || '/var/cache', 'davit-test-engines')

export type Server = Awaited<ReturnType<typeof startServers>>['servers'][number]

type Options = {
  /** The root file system whose engine they have. */
  root: string
  /** Images of this machine that each has, beside busybox. */
  images?: string[]
  /** More of their `daemon.json`. */
  config?: Record<string, unknown>
  /** Gives each a disk of so many MiB, that can be filled. */
  diskMb?: number
}

/**
 * Servers with an engine each, on one network of their own: they see each other at 198.19.0.11 and on,
 * this machine sees them at the address of their engine, and they see nothing else.
 */
export async function startServers(count: number, options: Options) {
  const { root, images = [], config = {}, diskMb = 0 } = options
  await using undo = new AsyncDisposableStack()
  const hub = undo.use(await aHost())
  await must([...hub.inside, 'ip', 'link', 'add', 'hub', 'type', 'bridge'])
  await must([...hub.inside, 'ip', 'link', 'set', 'hub', 'up'])
  const servers: Awaited<ReturnType<typeof aServer>>[] = []
  for (let n = 1; n <= count; n++) {
    servers.push(
      undo.use(
        await aServer(n, {
          ...{ root, images, config, diskMb, hub: hub.pid },
        }),
      ),
    )
  }
  const owned = undo.move()
  return { servers, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

type ServerOptions = Required<Options> & { hub: string }

async function aServer(n: number, { hub, ...options }: ServerOptions) {
  const address = `198.19.0.${10 + n}`
  const cuts = new Set<string>()
  const engine = await startPrivateEngine({
    ...options,
    within: engineFolder,
    hostname: `server${n}`,
    async prepare({ pid, inside }) {
      const far = `s${n}-${pid}`
      const enter = ['nsenter', '--target', hub, '--net', '--']
      const cable = ['name', far, 'netns', hub, 'type', 'veth', 'peer', 'name', 'eth1']
      await must(['ip', 'link', 'add', ...cable, 'netns', pid])
      await must([...enter, 'ip', 'link', 'set', far, 'master', 'hub', 'up'])
      await must([...inside, 'ip', 'address', 'add', `${address}/24`, 'dev', 'eth1'])
      await must([...inside, 'ip', 'link', 'set', 'eth1', 'up'])
      for (const other of cuts) await must([...inside, 'ip', 'route', 'add', 'blackhole', other])
    },
  })
  const route = (verb: string, other: string) =>
    must([...engine.inside, 'ip', 'route', verb, 'blackhole', other])
  return Object.assign(engine, {
    name: `server${n}`,
    /** Where the other servers see it. */
    peerAddress: address,
    /** Nothing goes to that server any more; of both sides, nothing passes between them. */
    async cut(other: string) {
      cuts.add(other)
      await route('add', other)
    },
    async mend(other: string) {
      cuts.delete(other)
      await route('del', other)
    },
  })
}

async function must(command: string[]) {
  const { exitCode, output } = await run(command)
  if (exitCode !== 0) throw new Error(`The test can't make servers: ${lastLine(output)}`)
}

/** Resolves with the ids of their nodes. */
export async function formSwarm(manager: Server, workers: Server[]) {
  const place = ({ peerAddress }: Server) => ({
    ListenAddr: `${peerAddress}:2377`,
    AdvertiseAddr: peerAddress,
    DataPathAddr: peerAddress,
  })
  const Spec = { Dispatcher: { HeartbeatPeriod: 3e9 } } // as of one that Davit begins
  await ask(manager, 'POST', '/swarm/init', { ...place(manager), Spec })
  const { JoinTokens } = await ask<{ JoinTokens: { Worker: string } }>(manager, 'GET', '/swarm')
  const join = { RemoteAddrs: [`${manager.peerAddress}:2377`], JoinToken: JoinTokens.Worker }
  for (const worker of workers)
    await ask(worker, 'POST', '/swarm/join', { ...place(worker), ...join })
  const nodes = [manager, ...workers].map((server) =>
    ask<{ Swarm: { NodeID: string } }>(server, 'GET', '/info'),
  )
  return (await Promise.all(nodes)).map(({ Swarm }) => Swarm.NodeID)
}

/** Calls its engine. */
export async function ask<T>(
  { socket: unix }: Server,
  method: string,
  path: string,
  body?: object,
) {
  const answer = await fetch(`http://localhost${path}`, {
    ...{ unix, method },
    ...(body && {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The engine refuses ${path}: ${text}`)
  return (
    answer.headers.get('Content-Type')?.startsWith('application/json') ? JSON.parse(text) : text
  ) as T
}
