import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Aborts with Ctrl-C and the like, until it is disposed of. A second one ends the command at once. */
export function interruption() {
  const controller = new AbortController()
  let status = 0
  const handlers = signals.map((name) => {
    const handler = () => {
      status = 128 + constants.signals[name]
      if (controller.signal.aborted) process.exit(status)
      controller.abort(new Error(name))
    }
    process.on(name, handler)
    return [name, handler] as const
  })
  return {
    signal: controller.signal,
    /** The exit status of a program that this signal ended. */
    get status() {
      return status
    },
    [Symbol.dispose]() {
      for (const [name, handler] of handlers) process.off(name, handler)
    },
  }
}
