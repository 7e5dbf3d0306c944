import type { Condition } from '../compose/model.ts'
import type { Made, ServiceRun } from '../run.ts'
import { untilExited, untilHealthy } from './wait.ts'

/** Starts the containers in order, each once what it waits for is there. Returns when all are well. */
export async function startContainers(run: ServiceRun, made: Made[]) {
  const { docker, signal } = run
  const named = new Map(made.map((container) => [container.plan.service, container]))
  for (const { plan, id } of made) {
    for (const { service, condition, required } of plan.waits) {
      const other = named.get(service)
      if (other) await unlessOptional(required, wait(run, other, condition))
    }
    signal.throwIfAborted()
    await docker.startContainer(id)
  }
  await Promise.all(made.map((container) => untilWell(run, container)))
}

/** From now on the engine keeps them up. */
export async function keepUp({ docker }: ServiceRun, made: Made[]) {
  for (const { plan, id } of made)
    if (plan.options.restart) await docker.setRestartPolicy(id, plan.options.restart)
}

const wait = (run: ServiceRun, container: Made, condition: Condition): Promise<unknown> =>
  ({
    service_started: async () => {},
    service_healthy: () => untilHealthy(run, container),
    service_completed_successfully: () => untilExited(run, container),
  })[condition]()

const unlessOptional = (required: boolean, waiting: Promise<unknown>) =>
  required ? waiting : waiting.catch(() => {})

const untilWell = (run: ServiceRun, container: Made) =>
  container.plan.oneShot ? untilExited(run, container) : untilHealthy(run, container)
