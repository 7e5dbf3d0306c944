import type { Engine } from './engine.ts'

/** What the engine's machine has, and the folder there that holds the engine's data. */
export type Machine = { cpus: number; memoryBytes: number; folder: string }

type Info = { NCPU: number; MemTotal: number; DockerRootDir: string }

const known = new WeakMap<Engine, Machine>()

/** Asked once: the engine takes its time for the answer, and a machine does not change under it. */
export async function engineMachine(
  engine: Engine,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Machine> {
  const asked = known.get(engine)
  if (asked) return asked
  const info = await engine.request<Info>('GET', '/info', { signal })
  const machine = { cpus: info.NCPU, memoryBytes: info.MemTotal, folder: info.DockerRootDir }
  known.set(engine, machine)
  return machine
}
