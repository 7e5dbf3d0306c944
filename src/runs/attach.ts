import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import { TerminalRelay } from '../containers/terminal/relay.ts'
import type { TerminalEnd } from '../containers/terminal/relay.ts'
import type { Db } from '../db/index.ts'
import type { Docker, Engines } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError } from '../platform/errors.ts'
import { endsWithin, unlessAborted } from '../platform/pause.ts'
import { isSameOrigin } from '../web/csrf.ts'
import type { Env } from '../web/factory.ts'
import type { Streams } from '../web/streams.ts'
import { userOf } from '../web/user-of.ts'
import { acceptWebSocket } from '../web/web-socket.ts'
import { cancelRun, refuseTurnedOff } from './start.ts'
import type { Starts } from './starts.ts'
import { findRun, isEnded } from './store.ts'
import type { Run } from './store.ts'

export type AttachDeps = {
  db: Db
  docker: Docker
  engines: Engines
  jobs: Jobs
  starts: Starts
  streams: Streams
  config: Config
}

/** Milliseconds between the end of a command's output and its stored end. */
const endNotice = 20_000

/**
 * Connects a WebSocket with a run, as with a terminal: bytes both ways, and `{"resize":[80,24]}` as text. A
 * run with `attach` or `stdin` starts when its first client has connected, so that it sees everything; with
 * `stdin` only that one has its input. Any other shows its output from now on, and accepts no input. The last
 * message is `{"ended":…,"exitCode":3}`. Disconnecting ends only a run whose input isn't complete. It counts as
 * one of the user's streams.
 */
export function attach(
  c: Context<Env>,
  deps: AttachDeps,
  { run, name }: { run: Run; name: string },
) {
  const { db, engines, starts, streams, config } = deps
  refuseEnded(run)
  if (run.attach) refuseTurnedOff(config)
  if (!c.var.token && !isSameOrigin(c, config.url))
    throw new AppError('forbidden', 'A page of another site can’t attach to a run here.')
  const user = userOf(c)
  const audit = auditor(db)
  const object = { kind: 'run', id: run.id, name } as const
  const isAllowed = () => c.var.isLoginAlive()
  const relay = new TerminalRelay({
    isAllowed,
    shutdown: streams.shutdown,
    async open(signal) {
      refuseEnded(findRun(db, run))
      const container = await unlessAborted(starts.created(run.id), signal)
      const stdin = run.stdin && starts.takeInput(run.id)
      const engine = engines.of(container)
      const attached = await engine
        .attachContainer(container.id, { tty: run.attach, stdin, signal })
        .catch((error) => {
          if (stdin) starts.giveInputBack(run.id)
          throw error
        })
      const started = starts.attach(run.id, { isAwaited: stdin || !run.stdin })
      await unlessAborted(started, signal).catch((error) => {
        // it would take nothing for all of its input; after Davit's end it waits for a client again
        if (stdin && signal.aborted && !streams.shutdown.aborted)
          void cancelRun(deps, { run, by: user.email })
        throw error
      })
      return attached
    },
    ended: () => endOf(deps, run),
    opened: () => audit(c, 'run.attached', { object }),
    closed: (milliseconds) => {
      const details = { seconds: String(Math.round(milliseconds / 1000)) }
      audit(c, 'run.detached', { object, details })
    },
    left: () => leave(),
  })
  const leave = streams.enter(user.id, { isAllowed, end: relay.recheck })
  try {
    return acceptWebSocket(c, relay)
  } catch (error) {
    leave()
    throw error
  }
}

export function refuseEnded({ status }: Pick<Run, 'status'>) {
  if (!isEnded(status)) return
  throw new AppError('conflict', `This run has ended (${status}). See its log for the output.`)
}

async function endOf({ db, jobs }: AttachDeps, { id, environmentId }: Run): Promise<TerminalEnd> {
  await endsWithin(endNotice, jobs.ended(id))
  const { status, exitCode, errorMessage } = findRun(db, { id, environmentId })
  if (!isEnded(status))
    return { text: 'The connection to the container was lost. Attach again.', exitCode: null }
  if (status === 'cancelled') return { text: 'The run was cancelled.', exitCode: null }
  return { text: errorMessage ?? `The command has ended with exit code ${exitCode}.`, exitCode }
}
