import type { FaultReport } from '../../faults/report.ts'
import { cases } from './cases.ts'
import { aScene } from './scene.ts'

/** What one request may cost all others: milliseconds of standing still, and MiB. */
const most = { pause: 50, memory: 64 }

/** What hostile input costs, each piece against a Davit of its own. */
export async function exhaust({ command }: { command: string[] }): Promise<FaultReport[]> {
  const reports: FaultReport[] = []
  for (const { what, prepare } of cases) {
    const scene = await aScene(command)
    try {
      const act = await prepare(scene)
      const { pause, memory, seconds } = await scene.measure(act)
      const bad = seconds === null || pause > most.pause || memory > most.memory ? 1 : 0
      const took = seconds === null ? 'did not end' : `took ${seconds.toFixed(1)} s`
      const figures = `${pause.toFixed(0)} ms, +${memory.toFixed(0)} MiB, ${took}`
      reports.push({
        what,
        unit: `over ${most.pause} ms or ${most.memory} MiB`,
        ...{ rounds: 1, bad, figures },
      })
    } finally {
      await scene.leave()
    }
  }
  return reports
}
