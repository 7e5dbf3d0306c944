import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from '../../docker/index.ts'
import { exitFailure, healthFailure } from '../../runtime/gate-failures.ts'
import type { Gated } from '../../runtime/gate-failures.ts'
import { mayEnd } from '../compose/containers.ts'
import type { Made, ServiceRun } from '../run.ts'

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
    if (container.health === 'unhealthy') throw await unhealthy(run, made, container)
    return container.health === null ? hasSettled(run, container) : container.health === 'healthy'
  })

/** Resolves when it has ended with success. */
export async function untilExited(run: ServiceRun, made: Made) {
  const { exitCode } = await run.docker.waitForExit(made.id, { signal: run.signal })
  if (exitCode !== 0) throw await exitFailure(run.docker, gated(made))
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
    if (container?.state === 'exited' && container.exitCode === 0 && mayEnd(made.plan)) return
    if (container?.state !== 'running') throw await exitFailure(run.docker, gated(made))
    if (await isDone(container)) return
    await sleep(interval, undefined, { signal })
  }
  throw await unhealthy(run, made, await docker.inspectContainer(made.id))
}

const hasSettled = ({ config }: ServiceRun, { startedAt }: Container) =>
  startedAt !== null && Date.now() - startedAt.getTime() >= config.settleTime

const unhealthy = ({ docker }: ServiceRun, made: Made, container: Container | null) =>
  healthFailure(docker, gated(made), { exitCode: null, output: container?.healthOutput ?? '' })

const gated = ({ id, plan }: Made): Gated => ({
  id,
  subject: 'service',
  name: plan.service,
  memoryMb: Math.round(plan.options.memoryBytes / 2 ** 20),
})
