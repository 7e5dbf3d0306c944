import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../platform/errors.ts'
import { describeServer } from './index.ts'

/** Milliseconds for a server to be ready, and between two looks. */
const startTimeout = 180_000
const interval = 200

/**
 * Waits for a server that was started, and describes it. A first start restarts it, so only what its own tool says counts.
 * Throws why it isn't ready when that takes too long, or no longer makes sense.
 */
export async function untilReady(
  deps: Parameters<typeof describeServer>[0],
  call: Parameters<typeof describeServer>[1],
  { isOver = async () => false }: { isOver?: () => Promise<boolean> } = {},
) {
  const deadline = performance.now() + startTimeout
  for (;;) {
    try {
      return await describeServer(deps, call)
    } catch (error) {
      if (!(error instanceof Failure) || performance.now() > deadline || (await isOver()))
        throw error
    }
    await sleep(interval, undefined, { signal: call.signal })
  }
}
