import type { StatsReading } from '../../../src/docker/index.ts'
import type { TestApp } from '../../support/app.ts'
import { until } from '../../support/until.ts'

/** What the engine says of an idle container. */
export const aReading: StatsReading = {
  readAt: new Date(Date.UTC(2026, 0, 1)),
  cpuTotal: 0,
  systemCpu: 0,
  onlineCpus: 1,
  memory: 1000,
  memoryLimit: 2000,
  received: 0,
  sent: 0,
  read: 0,
  written: 0,
  pids: 3,
}

/** The engine has a reading of that container only when the test gives it one, two seconds after the last. */
export function givenReadings(t: TestApp, container: string) {
  let [asked, given] = [0, 0]
  const waiting: ((reading: StatsReading) => void)[] = []
  t.faults.containerStats = (id) => {
    if (id !== container) return Promise.resolve(null)
    asked++
    return new Promise((resolve) => waiting.push(resolve))
  }
  const give = async () => {
    await until(() => waiting.length > 0)
    waiting.shift()!({ ...aReading, readAt: new Date(2000 * ++given), systemCpu: given * 2e9 })
  }
  return { asked: () => asked, give }
}
