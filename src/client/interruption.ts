import { constants } from 'node:os'
import { isUnwritten } from '../cli/output.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Aborts with Ctrl-C and the like, and where standard output can no longer be written, as its reader has gone;
 * until it is disposed of. A second signal ends the command at once.
 */
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
  const unwritten = (error: NodeJS.ErrnoException) => {
    if (!isUnwritten(error)) return
    status ||= error.code === 'EPIPE' ? 128 + constants.signals.SIGPIPE : 1
    controller.abort(error)
  }
  process.stdout.on('error', unwritten)
  return {
    signal: controller.signal,
    /** The exit status of a program that this ended. */
    get status() {
      return status
    },
    [Symbol.dispose]() {
      for (const [name, handler] of handlers) process.off(name, handler)
      process.stdout.off('error', unwritten)
    },
  }
}
