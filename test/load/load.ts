import { join } from 'node:path'
import { bareEnvironment } from '../support/davit.ts'
import type { Place } from './http1.ts'
import type { Kind, Tally } from './tally.ts'
import type { Asked } from './visitors.ts'

/** How often a fault befalls a version that is watched. */
export const watchRounds = Number(process.env.DAVIT_WATCH_ROUNDS ?? (process.env.TEST_ALL ? 20 : 2))

export type Load = Awaited<ReturnType<typeof startLoad>>

type Options = {
  /** Those that may answer at first. */
  versions: string[]
  /** Ways in which no one visits. */
  without?: Kind[]
  /** Tenths of a second that a stream lasts. */
  ticks?: number
}

/**
 * Some 150 requests a second, and streams of 2 s, or of `ticks`, one after the other, on an app of test/load at the
 * edge. What comes back in its place, too late, too short or from another version is counted.
 */
export async function startLoad(place: Place, { versions, without = [], ticks = 20 }: Options) {
  let answer = Promise.withResolvers<Tally>()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'visitors.ts')], {
    env: bareEnvironment(),
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    ipc: (tally: Tally) => answer.resolve(tally),
    onExit: () => answer.reject(new Error('The load ended.')),
  })
  const ask = async (asked: Asked) => {
    answer = Promise.withResolvers()
    child.send(asked)
    return answer.promise
  }
  await ask({ kind: 'begin', place, versions, without, ticks })

  return {
    /** From now on these versions answer, and no others; whoever asked before may still get one of before. */
    allow: (...allowed: string[]) => ask({ kind: 'allow', versions: allowed }),
    /** This instance is killed: its streams end with it. */
    kill: (instance: string) => ask({ kind: 'kill', instance }),
    /** What it has counted so far. */
    look: () => ask({ kind: 'look' }),
    /** Ends when all that has begun has ended; what it has counted. */
    async stop() {
      const tally = await ask({ kind: 'stop' })
      await child.exited
      return tally
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}
