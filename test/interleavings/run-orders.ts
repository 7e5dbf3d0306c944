import { expect } from 'bun:test'
import { join } from 'node:path'

/** Runs orders in a process of its own, where time and chance are the seed's. */
export async function runMain(options: string[]) {
  const main = join(import.meta.dir, 'main.ts')
  const child = Bun.spawn([process.execPath, main, ...options], { stdout: 'pipe' })
  const output = await new Response(child.stdout).text()
  return { exitCode: await child.exited, output }
}

/** `calm`: no call fails; `short`: with fewer kinds of actions; `processes`: of an app that has several; `edge`: an edge leads to it; `watched`: with crashes after the switch; `shares`: with shares of the requests; `servers`: on servers that go away and come back. */
export type OrderKind = 'calm' | 'short' | 'processes' | 'edge' | 'watched' | 'shares' | 'servers'

/** The first seed, how many from there on, and their kinds. */
export type Run = readonly [seed: number, count: number, ...kinds: OrderKind[]]

/** All in one process: to load the program takes longer than some orders. */
export const runOrders = (...runs: Run[]) => runMain(runs.map((run) => `--orders=${run}`))

/** What a run without a fault comes to. */
export const allWell = { exitCode: 0, output: expect.stringMatching(/^\d+ orders, 0 bad/) }

/** The same at every run, so that only a change can make one fail; `DAVIT_SEED=random` looks for new ones. */
export const firstSeed = (fixed: number) =>
  process.env.DAVIT_SEED === 'random' ? Math.floor(Math.random() * 1e9) : fixed

/** Milliseconds for so many orders on a machine that has much other work. */
export const patience = (count: number) => 120_000 + count * 2000
