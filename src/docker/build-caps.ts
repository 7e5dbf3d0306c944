import type { Config } from '../config.ts'
import { period, quota } from './control-groups.ts'
import type { Caps } from './control-groups.ts'
import type { Machine } from './engine.ts'

/** The limits of one build, when `builds` of them may run at once. */
export type BuildCaps = Caps & { builds: number }

type Settings = Pick<Config, 'buildMemory' | 'buildCpus' | 'buildConcurrency'>

/** Without settings, the limits are what Davit, the engine and the apps leave of the machine. */
export function buildCaps(
  { buildMemory, buildCpus, buildConcurrency: builds }: Settings,
  { memoryBytes, cpus }: Pick<Machine, 'memoryBytes' | 'cpus'>,
): BuildCaps {
  return {
    memoryBytes: Math.floor(buildMemory ?? spareMemory(memoryBytes) / builds),
    cpus: Math.min(cpus, buildCpus ?? hundredths(spareCpus(cpus) / builds)),
    builds,
  }
}

const spareMemory = (bytes: number) => Math.max(bytes / 2, bytes - Math.max(2 ** 30, bytes / 3))

const spareCpus = (cpus: number) => (cpus > 1 ? cpus - 0.5 : 0.75 * cpus)

const hundredths = (cpus: number) => Math.max(10, Math.floor(cpus * 100)) / 100

/** In the format of the classic builder. No swap, which would slow down the machine. */
export const classicCaps = (caps: Caps) => ({
  memory: caps.memoryBytes,
  memswap: caps.memoryBytes,
  cpuperiod: period,
  cpuquota: quota(caps),
})
