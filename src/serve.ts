import type { Server } from 'bun'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fillLabels } from './addresses/labels.ts'
import { hasUsers, resetFutureTimes } from './accounts/store.ts'
import { recoverRemovals } from './admin/recover.ts'
import { assemble } from './assemble.ts'
import { listSought, listToLoad } from './db/restored.ts'
import { openDataDir, refuseHalfRestored } from './backup/data-dir.ts'
import { releaseAll } from './backups/hold.ts'
import { originOf } from './config.ts'
import type { Config } from './config.ts'
import { recoverTerminals } from './containers/terminal/recover.ts'
import { watchContainers } from './containers/crash-loop.ts'
import { DiskReserve } from './db/disk-reserve.ts'
import { lockDataDir } from './db/instance-lock.ts'
import { closeCleanly, persistWal, markInUse, refuseLostWal } from './db/wal-guard.ts'
import type { Deps } from './assemble.ts'
import { recover } from './deployments/recover.ts'
import { apps } from './deployments/observe.ts'
import { writeFileAtomically } from './platform/atomic-write.ts'
import { lazyApp } from './front.ts'
import { appJobs } from './environments/app-steps.ts'
import { jobKinds } from './jobs/store.ts'
import { retryWhileEngineDown, waitForEngine } from './docker/retry-while-engine-down.ts'
import { Failure } from './platform/errors.ts'
import { journal, reported } from './platform/journal.ts'
import { removeBackupContainers } from './runtime/backup-containers.ts'
import { excludeEnded } from './runtime/exclude-ended.ts'
import { watchWorkloads } from './runtime/observe.ts'
import { recoverServices } from './services/recover.ts'
import { services } from './services/observe.ts'
import { serviceJobs } from './services/state.ts'
import { firstSignal } from './platform/signals.ts'
import { version } from './platform/root.ts'
import { webSockets } from './web/web-socket.ts'
import type { Peer } from './web/web-socket.ts'
import { startWatchdog } from './platform/watchdog.ts'

/** Milliseconds after which the process exits even if work is left. */
const shutdownLimit = 20_000

/** Milliseconds after which everything that only runs at the start has run. */
const startTime = 2000

const databases = ['davit.db', 'logs.db']

/** Runs the server until a signal ends it. Ends in reverse order: streams, requests, work, files. */
export async function serve(config: Config) {
  process.umask(0o077) // no one else may read databases, mirrors and keys
  const signalled = firstSignal() // handled from the start: an early signal must not kill the process
  openDataDir(config.dataDir)
  refuseHalfRestored(config.dataDir)
  const hold = lockDataDir(config.dataDir)
  const reserve = new DiskReserve(config.dataDir)
  await reserve.makeRoomToStart()
  for (const name of databases) refuseLostWal(join(config.dataDir, name))
  const deps = assemble(config)
  for (const { $client } of [deps.db, deps.logDb]) {
    persistWal($client)
    markInUse($client.filename)
  }
  resetFutureTimes(deps.db)
  fillLabels(deps.db, config)
  for (const { $client } of [deps.db, deps.logDb]) $client.reserve = reserve
  const stop = new AbortController()
  const respond = lazyApp(deps, async () => {
    const { createApp } = await import('./app.tsx')
    // code of a server without visitors isn't worth compiling: see --compile-jit-policy; of one with few,
    // little is: at 1 its pages are as fast, and 50 of them leave 7 MiB more
    Bun.unsafe.setJITPolicy(10)
    return createApp(deps)
  })
  const server = listen(config, (request, server) => respond(request, { server }))
  const edgeServer = listenToEdge(deps, (request, server) =>
    respond(request, { server, isEdges: true }),
  )

  const background = [
    ...resume(deps, { signal: stop.signal }),
    watchContainers(deps, { signal: stop.signal }),
    deps.collector.run({ signal: stop.signal }),
  ].map(reported)
  announce(deps, server.url)
  startWatchdog(process.env)
  const upkeep = reported(
    import('./upkeep.ts').then(({ keepUp }) => keepUp(deps, reserve, { signal: stop.signal })),
  )
  setTimeout(() => Bun.gc(true), startTime).unref() // otherwise an idle server keeps this memory for minutes

  const signal = await signalled
  journal.info('stopping', { signal })
  setTimeout(() => process.exit(1), shutdownLimit).unref()
  stop.abort()
  await Promise.all([
    deps.streams.endAll(),
    server.stop(),
    edgeServer?.stop(),
    deps.jobs.stop(),
    deps.instanceTasks.stop(),
    deps.watches.stop(),
    ...background,
    upkeep,
  ])
  for (const { $client } of [deps.db, deps.logDb]) closeCleanly($client)
  hold.close()
  journal.info('stopped')
}

/** Resumes the last process's work, and syncs the database with the engine until the signal aborts. */
export function resume(deps: Deps, { signal }: { signal: AbortSignal }): Promise<void>[] {
  const load = (kind: 'service' | 'environment') => async () => {
    if (signal.aborted || listToLoad(deps.db).length === 0) return
    const { loadRestored } = await import('./backups/server/load-restored.ts')
    loadRestored(deps, kind)
  }
  const recovered = recover(deps, { signal }).then(load('environment'))
  const recoveredServices = recoverServices(deps, { signal }).then(load('service'))
  const recovery = [recovered, recoveredServices, recoverJobs(deps, appJobs, { signal })]
  const observedFirst = new Set<string>(['deploy', ...serviceJobs, ...appJobs])
  const others = jobKinds.filter((kind) => !observedFirst.has(kind))
  return [
    ...recovery,
    recovered.then(() => findReturning(deps, { kind: 'app', signal })),
    recovered.then(() => findAfterComing(deps, { signal })),
    recoveredServices.then(() => findReturning(deps, { kind: 'service', signal })),
    removeLeftOfBackups(deps, { signal }).then(() => recoverJobs(deps, others, { signal })),
    Promise.allSettled(recovery).then(() => recoverRemovals(deps, { signal })),
    Promise.allSettled(recovery).then(async () =>
      (await import('./admin/keep-servers.ts')).keepServers(deps, { signal }),
    ),
    watchWorkloads(deps, apps, { signal }),
    watchWorkloads(deps, services, { signal }),
    excludeEnded(deps, { signal }),
    deps.engines.keep((docker, until) => recoverTerminals({ ...deps, docker }, until), { signal }),
    deps.engines.keep((docker, until) => deps.serverEngines.watch(deps.feed, docker, until), {
      signal,
    }),
  ]
}

type Returning = { kind: 'app' | 'service'; signal: AbortSignal }

/** What was restored, and may be on a server that was away at the start. */
async function findReturning(deps: Deps, of: Returning) {
  if (listSought(deps.db, of.kind).length === 0) return
  const { reconcileReturning } = await import('./deployments/reconcile-after-restore.ts')
  await reconcileReturning(deps, of)
}

/** What was restored, and has a deployment that was queued or under way at the start. */
async function findAfterComing(deps: Deps, { signal }: { signal: AbortSignal }) {
  if (listSought(deps.db, 'app').length === 0) return
  const { reconcileAfterComing } = await import('./deployments/reconcile-after-restore.ts')
  await reconcileAfterComing(deps, { signal })
}

/** What a backup of the last process paused or stopped must not wait for the turn of its job. No volume is half filled. */
async function removeLeftOfBackups(deps: Deps, { signal }: { signal: AbortSignal }) {
  const options = { signal, failed: 'what interrupted backups left may still be there' }
  await retryWhileEngineDown(deps.docker, options, async () => {
    await releaseAll(deps, { signal })
    await removeBackupContainers(deps, { signal })
    const { removeMarks } = await import('./backups/server/half-filled.ts')
    await removeMarks({ ...deps, dataDir: deps.config.dataDir }, deps.instanceId)
  })
}

/** Resumes the jobs of these kinds that the last process started, once the engine responds. */
async function recoverJobs(
  { docker, jobs }: Deps,
  kinds: Parameters<Deps['jobs']['recover']>[0],
  { signal }: { signal: AbortSignal },
) {
  if (!(await waitForEngine(docker, { signal }))) return
  await jobs.recover(kinds)
  jobs.wake()
}

/** Seconds for the head of a request, however slowly it arrives, and between two on one connection. */
const headersWithin = 6

type Fetch = (request: Request, server: Server<Peer>) => Response | Promise<Response>

const serving = (
  { requestTimeout, repositorySize }: Pick<Config, 'requestTimeout' | 'repositorySize'>,
  fetch: Fetch,
) => {
  const idleSeconds = Math.min(requestTimeout + 15, 255) // Davit itself ends slow responses first
  return {
    websocket: webSockets,
    maxRequestBodySize: Math.max(repositorySize, 128 * 2 ** 20), // an upload; all else has lower limits
    development: false, // otherwise an error shows its stack to the client
    fetch(request: Request, server: Server<Peer>) {
      server.timeout(request, idleSeconds)
      return fetch(request, server)
    },
    error: answerBrokenAnswer,
  }
}

/**
 * The timeout of a single request can't be set on a Unix socket: each would end after 10 idle
 * seconds. Bun's types lack this option for Unix sockets, but it works.
 */
const untimed: object = { idleTimeout: 0 }

/** A server on a socket that only Davit's own Caddy reaches; null when there is none. */
function listenToEdge({ config, edge }: Pick<Deps, 'config' | 'edge'>, fetch: Fetch) {
  const unix = edge.openSocket()
  return unix === null ? null : Bun.serve({ unix, ...untimed, ...serving(config, fetch) })
}

function listen(config: Config, fetch: Fetch) {
  const { host, port } = config
  try {
    return Bun.serve({
      hostname: host,
      port,
      idleTimeout: headersWithin,
      ...serving(config, fetch),
    })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'another program listens there' : message
    throw new Failure(
      'cannot_listen',
      `Davit can’t listen on ${host} port ${port}: ${why}.`,
      'Set DAVIT_HOST and DAVIT_PORT to an address of this host and a free port.',
      { cause },
    )
  }
}

/** The response when the error handler itself fails. */
function answerBrokenAnswer(error: Error) {
  journal.error('the error handler failed', error)
  return new Response('Internal error\n', { status: 500 })
}

/** Prints the address. The setup code is also written to a file, for whoever installs Davit. */
function announce({ db, setupCode, config }: Deps, address: URL) {
  const url = config.url || config.domain ? originOf(config) : address.origin
  const codeFile = join(config.dataDir, 'setup-code')
  const code = hasUsers(db) ? null : setupCode
  if (code) writeFileAtomically(codeFile, `${code}\n`)
  else rmSync(codeFile, { force: true })
  process.stdout.write(`Davit ${version} listens on ${address.origin}\n`)
  if (url !== address.origin) process.stdout.write(`Its public address is ${url}\n`)
  if (hasUsers(db)) return
  process.stdout.write(`Create the first account at ${url}/auth/register\n`)
  if (code) process.stdout.write(`Setup code: ${code}\n`)
}
