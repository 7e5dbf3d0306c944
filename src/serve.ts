import type { Server } from 'bun'
import { join } from 'node:path'
import { hasUsers, resetFutureTimes } from './accounts/store.ts'
import { recoverRemovals } from './admin/remove-user.ts'
import { createApp } from './app.tsx'
import { recoverApps } from './apps/app-jobs.ts'
import { assemble } from './assemble.ts'
import { keepEvents } from './audit/retention.ts'
import { openDataDir, refuseHalfRestored } from './backup/restore.ts'
import type { Config } from './config.ts'
import { recoverCleanUps } from './containers/clean-up/clean-ups.ts'
import { keepSchedule } from './containers/clean-up/schedule.ts'
import { recoverTerminals } from './containers/terminal/recover.ts'
import { watchConditions } from './containers/crash-loop.ts'
import { sampleUsage } from './containers/usage/sampler.ts'
import { DiskReserve } from './db/disk-reserve.ts'
import { lockDataDir } from './db/instance-lock.ts'
import { closeCleanly, persistWal, markInUse, refuseLostWal } from './db/wal-guard.ts'
import type { Deps } from './assemble.ts'
import { keepLogs } from './logs/retention.ts'
import { recover } from './deployments/recover.ts'
import { apps } from './deployments/observe.ts'
import { Failure } from './platform/errors.ts'
import { journal } from './platform/journal.ts'
import { watchWorkloads } from './runtime/observe.ts'
import { recoverRuns } from './runs/run-job.ts'
import { recoverServices } from './services/recover.ts'
import { fillHosts } from './services/hosts.ts'
import { fillSecretValues } from './services/stored-definition.ts'
import { services } from './services/observe.ts'
import { firstSignal, surviveBrokenPipes } from './platform/signals.ts'
import { version } from './platform/root.ts'
import { webSockets } from './web/web-socket.ts'
import type { Peer } from './web/web-socket.ts'
import { startWatchdog } from './platform/watchdog.ts'

/** Milliseconds after which the process ends whatever is left to do. */
const shutdownLimit = 20_000

const databases = ['davit.db', 'logs.db']

/** Runs the server until a signal asks it to end, then ends in reverse order: streams, requests, work, files. */
export async function serve(config: Config) {
  process.umask(0o077) // databases, mirrors and keys are nobody else's to read
  const signalled = firstSignal() // heard from the start: one that comes early must not kill
  surviveBrokenPipes()
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
  await fillSecretValues(deps)
  fillHosts(deps.db)
  for (const { $client } of [deps.db, deps.logDb]) $client.reserve = reserve
  const stop = new AbortController()
  const app = createApp(deps)
  const server = listen(config, (request, server) => app.fetch(request, { server }))

  const background = [
    ...resume(deps, { signal: stop.signal }),
    watchConditions(deps, { signal: stop.signal }),
    keepSchedule(deps, { signal: stop.signal }),
    sampleUsage(deps, { signal: stop.signal }),
    deps.collector.run({ signal: stop.signal }),
    reserve.keep({ signal: stop.signal }),
    keepEvents(deps.db, { signal: stop.signal }),
    keepLogs(deps, { signal: stop.signal }),
  ].map((work) => work.catch((error) => journal.error('background work failed', error)))
  announce(deps, server.url)
  startWatchdog(process.env)

  const signal = await signalled
  journal.info('stopping', { signal })
  setTimeout(() => process.exit(1), shutdownLimit).unref()
  stop.abort()
  await Promise.all([deps.streams.endAll(), server.stop(), deps.jobs.stop(), ...background])
  for (const { $client } of [deps.db, deps.logDb]) closeCleanly($client)
  hold.close()
  journal.info('stopped')
}

/** Goes on with what the last process left, and keeps what the database says true until the signal. */
export function resume(deps: Deps, { signal }: { signal: AbortSignal }): Promise<void>[] {
  const recovery = [recover, recoverServices, recoverApps].map((work) => work(deps, { signal }))
  return [
    ...recovery,
    recoverRuns(deps, { signal }),
    recoverCleanUps(deps, { signal }),
    recoverTerminals(deps, { signal }),
    Promise.allSettled(recovery).then(() => recoverRemovals(deps, { signal })),
    watchWorkloads(deps, apps, { signal }),
    watchWorkloads(deps, services, { signal }),
    deps.feed.run(deps.docker, { signal }),
  ]
}

/** Seconds for the head of a request, however it trickles in, and between two on one connection. */
const headersWithin = 6

function listen(
  { host, port, requestTimeout }: Config,
  fetch: (request: Request, server: Server<Peer>) => Response | Promise<Response>,
) {
  const patience = Math.min(requestTimeout + 15, 255) // a slow answer is ours to end, not the socket's
  try {
    return Bun.serve({
      hostname: host,
      port,
      idleTimeout: headersWithin,
      websocket: webSockets,
      development: false, // else an error shows its stack to whoever asks
      fetch(request, server) {
        server.timeout(request, patience)
        return fetch(request, server)
      },
      error: answerBrokenAnswer,
    })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'something else listens there' : message
    throw new Failure(
      'cannot_listen',
      `Davit can not listen on ${host} port ${port}: ${why}.`,
      'Set DAVIT_HOST and DAVIT_PORT to an address of this host and a free port.',
      { cause },
    )
  }
}

/** For an error in the answering of errors. */
function answerBrokenAnswer(error: Error) {
  journal.error('answering failed', error)
  return new Response('Internal error\n', { status: 500 })
}

function announce({ db, setupCode, config }: Deps, address: URL) {
  const url = (config.url ?? address).origin
  process.stdout.write(`Davit ${version} listens on ${address.origin}\n`)
  if (url !== address.origin) process.stdout.write(`Its public address is ${url}\n`)
  if (hasUsers(db)) return
  process.stdout.write(`Make the first account at ${url}/auth/register\n`)
  if (setupCode) process.stdout.write(`Setup code: ${setupCode}\n`)
}
