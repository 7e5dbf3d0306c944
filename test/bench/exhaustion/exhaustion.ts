import { cases } from './cases.ts'
import { edgeCases } from './edge-cases.ts'
import { anEdgeScene } from './edge-scene.ts'
import { aScene } from './scene.ts'

/** What hostile input cost, and whether that is within the limits below. */
export type Cost = { what: string; isWithin: boolean; figures: string }

/** What one request may cost all others: milliseconds of standing still, and MiB. */
const most = { pause: 50, memory: 64 }

/** What strangers may cost the visitors of an app: milliseconds of a response in the middle, and a share of Caddy's memory. */
const mostOfEdge = { median: 50, share: 0.75 }

/** What hostile input costs, each piece against a Davit of its own. */
export async function exhaust(command: string[]): Promise<Cost[]> {
  const reports: Cost[] = []
  for (const { what, prepare } of cases) {
    const scene = await aScene(command)
    try {
      const act = await prepare(scene)
      const { pause, memory, seconds } = await scene.measure(act)
      const isWithin = seconds !== null && pause <= most.pause && memory <= most.memory
      const took = seconds === null ? 'did not end' : `took ${seconds.toFixed(1)} s`
      const figures = `${pause.toFixed(0)} ms, +${memory.toFixed(0)} MiB, ${took}`
      reports.push({ what, isWithin, figures })
    } finally {
      await scene.leave()
    }
  }
  return [...reports, ...(await exhaustEdge(command))]
}

async function exhaustEdge(command: string[]) {
  const reports: Cost[] = []
  for (const { what, begin } of edgeCases) {
    const scene = await anEdgeScene(command)
    try {
      const { longest, median, memory, lives } = await scene.measure(() => begin(scene))
      const isOver = median > mostOfEdge.median || memory.used > memory.limit * mostOfEdge.share
      const times = `others: ${median.toFixed(1)} ms, ${longest.toFixed(0)} ms at most`
      reports.push({
        what,
        isWithin: lives && !isOver,
        figures: `${times}, ${memory.used.toFixed(0)} of ${memory.limit.toFixed(0)} MiB${lives ? '' : ', ended'}`,
      })
    } finally {
      await scene.leave()
    }
  }
  return reports
}
