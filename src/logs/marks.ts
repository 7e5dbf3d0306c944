import type { Container } from '../docker/index.ts'
import { bytes } from '../web/units.ts'
import { deploymentName } from './log-line.tsx'

/** A line of Davit's own in the output. Times are in milliseconds since 1970. */
export type Mark = {
  time: number
  /** Placed after everything written up to this time. */
  after: number
  text: string
}

type Named = { name: string; deploymentId: string }

/** Placed at the end of the previous run, as output can precede the engine's report of the start. */
export const startMark = (
  container: Named,
  { at, endedBefore }: { at: Date; endedBefore: Date | null },
): Mark => ({
  time: at.getTime(),
  after: endedBefore?.getTime() ?? 0,
  text: `${named(container)} started${endedBefore ? ' again' : ''}.`,
})

/** Placed at the time at which the engine reported the end, when the last lines have been written. */
export const endMark = (
  container: Named,
  {
    at,
    reportedAt,
    exitCode,
    oomKilled,
    grace,
  }: { at: Date; reportedAt: number; grace?: number | undefined } & Pick<
    Container,
    'exitCode' | 'oomKilled'
  >,
): Mark => ({
  time: at.getTime(),
  after: reportedAt,
  text: `${named(container)} ended: exit code ${exitCode}${grace !== undefined ? `, killed ${(grace / 1000).toFixed(0)} s after it was asked to stop` : oomKilled ? ', out of memory' : ''}.`,
})

/** For a process that the kernel killed while its container keeps running. */
export const memoryMark = (
  container: Named,
  { at, memoryLimit }: { at: Date } & Pick<Container, 'memoryLimit'>,
): Mark => ({
  time: at.getTime(),
  after: at.getTime(),
  text: `${named(container)} reached its memory limit${memoryLimit ? ` of ${bytes(memoryLimit)}` : ''}: a process in it was killed.`,
})

export const removalMark = (container: Named): Mark => ({
  time: Date.now(),
  after: Infinity,
  text: `${named(container)} was removed before its last lines could be read. Some may be missing.`,
})

/** For a container whose log files were rotated before they were first read. */
export const lateMark = (container: Named, from: number): Mark => ({
  time: Date.now(),
  after: 0,
  text: `The log of ${container.name} was full when it was first read: lines from before ${clock(from)} may be missing.`,
})

/** For lines that the engine dropped before they were read, and doesn't count. */
export const gapMark = ({
  from,
  to,
  perSecond,
}: {
  from: number
  to: number
  perSecond: number
}): Mark => {
  const lines = Math.max(1, Math.round(((to - from) / 1000) * perSecond))
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(lines)) - 2)
  const about = (Math.round(lines / digits) * digits).toLocaleString('en')
  return {
    time: to,
    after: to - 1,
    text: `About ${about} ${lines === 1 ? 'line is' : 'lines are'} missing here, from ${clock(from)} to ${clock(to)}: Docker dropped them before they could be read. The number is an estimate from the rates before and after.`,
  }
}

const named = ({ name, deploymentId }: Named) =>
  `Container ${name}${deploymentId ? ` of ${deploymentName(deploymentId)}` : ''}`

const clock = (time: number) => `${new Date(time).toISOString().slice(0, 23).replace('T', ' ')} UTC`
