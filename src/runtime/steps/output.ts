import type { ContainerRun } from '../run.ts'

/** Lines of a starting container that are logged as they arrive. */
const maxLive = 300

/** Last lines that are always logged for a failed container. */
const lastLines = 40

export type Output = {
  /** Resolves when reading has ended. */
  ended: Promise<void>
  /** Logs the last lines of a failed container, unless its whole output is in the log already. */
  reportLast: () => Promise<void>
}

/** Logs the output of a starting container up to a limit, until the run's signal. */
export function followOutput(
  { docker, hooks, signal }: ContainerRun,
  id: string,
  { last, since }: { last: AbortSignal; since?: Date | undefined },
): Output {
  const log = hooks.log ?? (() => {})
  let seen = 0
  const ended = (async () => {
    for await (const lines of docker.containerLogs(id, { follow: true, since, signal })) {
      for (const { text, stream } of lines) {
        if (++seen > maxLive) return log('… more output is in the log of the container')
        log(text, stream)
      }
    }
  })().catch(() => {}) // the stream ends when the gate is over or the container is removed

  return {
    ended,
    async reportLast() {
      if (seen <= maxLive) return
      log(`Its last ${lastLines} lines:`)
      for await (const lines of docker.containerLogs(id, { tail: lastLines, signal: last }))
        for (const { text, stream } of lines) log(text, stream)
    },
  }
}
