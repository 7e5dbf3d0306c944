import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from '../../docker/index.ts'
import { Failure } from '../../errors.ts'
import { mayEnd } from '../compose/containers.ts'
import type { Made, ServiceRun } from '../run.ts'
import { endedFailure, unhealthyFailure } from './failures.ts'

/** Milliseconds between looks at a container that is waited for. */
const interval = 200

/** Milliseconds after which a container that is neither healthy nor unhealthy is given up. */
const patience = 15 * 60_000

/**
 * Resolves when its health check passes; without one, when it has stayed up for a while. The same test
 * is run beside the engine's own check, whose first one may come after 30 s. Throws when the engine has
 * given it up, or it ends.
 */
export async function untilHealthy(run: ServiceRun, made: Made) {
  const { docker, signal: outer } = run
  const over = new AbortController()
  const signal = AbortSignal.any([outer, over.signal])
  const test = (await docker.inspectContainer(made.id, { signal }))?.healthTest
  let hasPassed = false
  if (test)
    docker.untilHealthTestPasses(made.id, { test, timeout: patience, signal }).then(
      ({ passed }) => (hasPassed = passed),
      () => {}, // what it met, the look at the container meets too
    )
  try {
    await until(run, made, async (container) => {
      if (container.health === 'unhealthy') throw await unhealthyFailure(run, made)
      if (container.health === null) return hasSettled(run, container)
      return hasPassed || container.health === 'healthy'
    })
  } finally {
    over.abort()
  }
}

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
