import type { GateRun, Placed } from '../run.ts'
import type { Made } from './create.ts'
import { pass } from './gate.ts'
import type { Passed } from './gate.ts'

/**
 * Starts the containers in order, each once what it waits for is there. Returns when all are through
 * their gates, with the moment at which the last one responded (`performance.now()`).
 */
export async function startAndGate(run: GateRun, made: Made[]) {
  const over = new AbortController()
  const gated = { ...run, signal: AbortSignal.any([run.signal, over.signal]) }
  const gates = new Map<string, Promise<Passed>>()
  try {
    await inOrder(made, {
      ready: ({ id }) => gates.get(id)!,
      start: async (container) => {
        run.signal.throwIfAborted()
        run.hooks.log?.(`Starting container ${container.name}`)
        await run.docker.startContainer(container.id)
        const gate = pass(gated, container)
        gate.catch(() => {}) // told when its turn comes
        gates.set(container.id, gate)
      },
    })
    const passed = await Promise.all(gates.values())
    return Math.max(...passed.map(({ answeredAt }) => answeredAt))
  } finally {
    over.abort()
    await Promise.allSettled(gates.values())
  }
}

/** Starts containers that ran before, in the same order; what one waits for may fail. */
export const startAgain = (run: Omit<GateRun, 'hooks'>, old: Placed[]) =>
  inOrder(old, {
    ready: ({ id, component }) => pass({ ...run, hooks: {} }, { id, component: component! }),
    start: ({ id }) => run.docker.startContainer(id),
    isLenient: true,
  })

async function inOrder<Container extends Placed>(
  containers: Container[],
  {
    ready,
    start,
    isLenient = false,
  }: {
    ready: (container: Container) => Promise<unknown>
    start: (container: Container) => Promise<unknown>
    isLenient?: boolean
  },
) {
  for (const container of containers) {
    for (const { component: name, condition, required } of container.component?.waits ?? []) {
      if (condition === 'service_started') continue
      for (const other of containers.filter(({ component }) => component?.name === name))
        if (required && !isLenient) await ready(other)
        else await ready(other).catch(() => {})
    }
    await start(container)
  }
}
