import { isEngineAway } from '../../docker/failures.ts'
import { EngineError } from '../../docker/index.ts'
import type { GateRun, Placed } from '../run.ts'
import { besideEachOther } from './beside.ts'
import type { CreatedContainer } from './create.ts'
import { pass, startFailure } from './gate.ts'
import type { Passed } from './gate.ts'

/**
 * Starts containers in order, each once its dependencies are up. Returns when all have passed their gates,
 * with the time at which the last one responded (`performance.now()`). If the release has several, log lines
 * start with the container.
 */
export async function startAndGate(run: GateRun, made: CreatedContainer[], { of = made } = {}) {
  const over = new AbortController()
  const gated = { ...run, signal: AbortSignal.any([run.signal, over.signal]) }
  const gates = new Map<string, Promise<Passed>>()
  try {
    await inOrder(made, {
      ready: ({ id }) => gates.get(id)!,
      start: async (container) => {
        run.signal.throwIfAborted()
        if (!container.isUp) await start(run, container)
        const gate = pass(of.length > 1 ? withName(gated, container) : gated, container).then(
          async (passed) => {
            await run.hooks.passed?.(container, gated.signal)
            return passed
          },
        )
        gate.catch(() => {}) // it is reported when awaited
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

function start(run: GateRun, made: CreatedContainer) {
  run.hooks.log?.(`Starting container ${made.name}`)
  return run.runtime.start(made).catch((error) => {
    throw error instanceof EngineError ? startFailure(error, run, made) : error
  })
}

/** Prefixes each line with `worker | `, or `worker.2 | ` for the second replica. */
function withName(
  run: GateRun,
  { component: { name, replicas }, instance: { slot } }: CreatedContainer,
): GateRun {
  const { log } = run.hooks
  const prefix = `${name}${replicas > 1 ? `.${slot + 1}` : ''} | `
  return log ? { ...run, hooks: { log: (text, stream) => log(prefix + text, stream) } } : run
}

/**
 * Starts containers that ran before, in the same order; dependencies may fail. Each is tried, whatever happens to the
 * others; then the first refusal is thrown, unless an engine is away.
 */
export async function startAgain(run: Omit<GateRun, 'hooks'>, old: Placed[]) {
  let refusal: unknown
  await inOrder(old, {
    ready: (one) => pass({ ...run, hooks: {} }, { ...one, component: one.component! }),
    start: (one) =>
      run.runtime.start(one).catch((error) => {
        if (!refusal || isEngineAway(error)) refusal = error
      }),
    isLenient: true,
  })
  if (refusal) throw refusal
}

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
  await besideEachOther(containers, async (container) => {
    for (const { component: name, condition, required } of container.component?.waits ?? []) {
      if (condition === 'service_started') continue
      for (const other of containers.filter(({ component }) => component?.name === name))
        if (required && !isLenient) await ready(other)
        else await ready(other).catch(() => {})
    }
    await start(container)
  })
}
