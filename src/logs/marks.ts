import type { Container } from '../docker/index.ts'

/** A line of ours in the output, with the time (milliseconds since 1970) that it stands at. */
export type Mark = { time: number; text: string }

type Named = { name: string; deploymentId: string }

export const startMark = (container: Named, at: Date, { again }: { again: boolean }): Mark => ({
  time: at.getTime(),
  text: `${named(container)} started${again ? ' again' : ''}.`,
})

export const endMark = (
  container: Named,
  { at, exitCode, oomKilled }: { at: Date } & Pick<Container, 'exitCode' | 'oomKilled'>,
): Mark => ({
  time: at.getTime() + 1, // the engine's time is cut to the millisecond; its last lines may be of the same
  text: `${named(container)} ended: exit code ${exitCode}${oomKilled ? ', out of memory' : ''}.`,
})

export const removalMark = (container: Named): Mark => ({
  time: Date.now(),
  text: `${named(container)} was removed before its last lines could be read: some may be missing.`,
})

/** For a container whose files were full before they were first read. */
export const lateMark = (container: Named, from: number): Mark => ({
  time: Date.now(),
  text: `The log of ${container.name} was full when it was first read: lines from before ${clock(from)} may be missing.`,
})

/** For lines that the engine threw away before they were read; it does not count them. */
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
    text: `About ${about} lines are missing here, from ${clock(from)} to ${clock(to)}: they were written faster than the engine keeps and Davit reads. The number is an estimate from the rates before and after.`,
  }
}

const named = ({ name, deploymentId }: Named) =>
  `Container ${name}${deploymentId ? ` of ${deploymentName(deploymentId)}` : ''}`

/** As the name of its container ends. */
export const deploymentName = (id: string) => `deployment ${id.slice(-12)}`

const clock = (time: number) => `${new Date(time).toISOString().slice(0, 23).replace('T', ' ')} UTC`
