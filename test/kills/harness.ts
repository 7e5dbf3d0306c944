import { expect, onTestFinished } from 'bun:test'
import { anInstallation } from '../support/installation.ts'
import type { Installation, Launch } from '../support/installation.ts'
import { comesTrue } from '../support/until.ts'
import { faultsOf } from './left-behind.ts'

/** Starts a Davit with what it needs, and says at which moments that is killed. */
export type Operation = (
  start: (settings?: Record<string, string>, launch?: Launch) => Promise<Installation>,
) => Promise<Subject>

type Subject = {
  moments: Moment[]
  /** What isn't as it should be once an operation has ended: asked again until nothing is. */
  faults?: () => Promise<string[]>
}

export type Moment = {
  name: string
  /** Begins the operation, and resolves at the moment. */
  begin: () => Promise<unknown>
  /** Davit is killed, where nothing else is said. */
  signal?: 'SIGTERM'
  /** While no Davit runs. */
  meanwhile?: () => Promise<unknown>
  /** Resolves when the next Davit has brought the operation to its end. */
  end?: () => Promise<unknown>
}

/** Ends Davit at each moment and starts it again: the operation comes to its end, and nothing is left over. */
export async function killDuring(operation: Operation) {
  let davit!: Installation
  const { moments, faults: ownFaults = async () => [] } = await operation(
    async (settings = {}, launch = {}) => {
      davit = anInstallation(launch, { DAVIT_SETTLE_TIME: '1', ...settings })
      onTestFinished(() => davit.leave())
      await davit.start()
      return davit
    },
  )
  for (const { name, begin, signal, meanwhile, end } of moments) {
    davit.newRound()
    await begin()
    await (signal ? davit.stop() : davit.kill())
    await meanwhile?.()
    await davit.start()
    await end?.()
    let faults: string[] = []
    await comesTrue(60, async () => {
      faults = [...(await faultsOf(davit)), ...(await ownFaults())]
      return faults.length === 0
    })
    expect(faults, name).toEqual([])
  }
}

/** Resolves when a query finds a row, up to so many milliseconds later; throws if it never does. */
export async function stored(davit: Installation, sql: string, { within = 0 } = {}) {
  const found = () => davit.rows(sql).length > 0
  if (!(await comesTrue(60, found))) throw new Error(`No row was found: ${sql}`)
  await Bun.sleep(Math.random() ** 2 * within)
}
