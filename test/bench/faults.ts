import type { FaultReport } from '../faults/report.ts'

type Scenario = (options: { command: string[] }) => Promise<FaultReport | FaultReport[]>

/** What is done to Davit on purpose, as often as is promised. */
export const faults: Record<string, Scenario> = {}
