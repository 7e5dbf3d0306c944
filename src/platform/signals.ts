import { existsSync, readFileSync } from 'node:fs'

/** The first signal shuts down gracefully; a second one ends the process at once. */
export const firstSignal = () =>
  new Promise<string>((resolve) => {
    let received = 0
    for (const name of ['SIGTERM', 'SIGINT', ...hangupSignal()] as const)
      process.on(name, () => (++received === 1 ? resolve(name) : process.exit(1)))
  })

/** Closing the terminal ends Davit too, unless SIGHUP is ignored, as nohup does. */
function hangupSignal() {
  if (!existsSync('/proc/self/status')) return []
  const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  const isIgnored = (BigInt(`0x${ignored ?? '0'}`) & 1n) === 1n // SIGHUP is the first signal
  return isIgnored ? [] : (['SIGHUP'] as const)
}
