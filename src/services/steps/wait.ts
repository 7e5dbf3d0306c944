import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { mayEnd } from '../compose/containers.ts'
import type { Made, ServiceRun } from '../run.ts'
import { endedFailure, unhealthyFailure } from './failures.ts'

/** Milliseconds between looks at a container that is waited for. */
const interval = 200

/** Milliseconds after which a container that is neither healthy nor unhealthy is given up. */
const patience = 15 * 60_000

/**
 * Resolves when the engine finds it healthy; without a health check, when it has stayed up for a while.
 * Throws when the engine has given it up, or it ends. The check keeps the schedule of its file: run
 * earlier it may do harm, as RabbitMQ's, which makes the server's key as another user.
 */
export const untilHealthy = (run: ServiceRun, made: Made) =>
  until(run, made, async (container) => {
    if (container.health === 'unhealthy') throw await unhealthyFailure(run, made)
    return container.health === null ? hasSettled(run, container) : container.health === 'healthy'
  })

/** Resolves when it has ended with success. */
export async function untilExited(run: ServiceRun, made: Made) {
  const { exitCode } = await run.docker.waitForExit(made.id, { signal: run.signal })
  if (exitCode !== 0) throw await endedFailure(run, made)
}

async function until(
  run: ServiceRun,
  made: Made,
  isDone: (container: Container) => Promise<boolean>,
) {
  const { docker, signal } = run
  const deadline = performance.now() + patience
  while (performance.now() < deadline) {
    const container = await docker.inspectContainer(made.id, { signal })
    if (!container) throw removed(made)
    if (container.state === 'exited' && container.exitCode === 0 && mayEnd(made.plan)) return
    if (container.state !== 'running') throw await endedFailure(run, made)
    if (await isDone(container)) return
    await sleep(interval, undefined, { signal })
  }
  throw await unhealthyFailure(run, made)
}

const hasSettled = ({ config }: ServiceRun, { startedAt }: Container) =>
  startedAt !== null && Date.now() - startedAt.getTime() >= config.settleTime

const removed = ({ plan }: Made) =>
  new Failure(
    'container_removed',
    `Starting: the container of ${plan.service} was removed meanwhile.`,
    'Start the service again.',
  )
