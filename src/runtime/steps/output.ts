import type { GateRun } from '../run.ts'

/** Lines of a starting container that go to the log as they come. */
const maxLive = 300

/** Lines from the end that a container which failed leaves there in any case. */
const lastLines = 40

export type Output = {
  /** Resolves when nothing more is read. */
  ended: Promise<void>
  /** For a container that failed: its last lines, unless all that it wrote is in the log already. */
  tellLast: () => Promise<void>
}

/** Logs what a starting container writes until the run's signal; a talkative one is cut. */
export function followOutput(
  { docker, hooks, signal }: GateRun,
  id: string,
  { last }: { last: AbortSignal },
): Output {
  const log = hooks.log ?? (() => {})
  let seen = 0
  const ended = (async () => {
    for await (const lines of docker.containerLogs(id, { follow: true, signal })) {
      for (const { text, stream } of lines) {
        if (++seen > maxLive) return log('… more output is in the log of the container')
        log(text, stream)
      }
    }
  })().catch(() => {}) // the stream breaks off when the gate is over or the container is removed

  return {
    ended,
    async tellLast() {
      if (seen <= maxLive) return
      log(`Its last ${lastLines} lines:`)
      for await (const lines of docker.containerLogs(id, { tail: lastLines, signal: last }))
        for (const { text, stream } of lines) log(text, stream)
    },
  }
}
