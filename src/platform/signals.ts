import { existsSync, readFileSync } from 'node:fs'

/** The first signal to end is heeded in good order; a second one ends the process at once. */
export const firstSignal = () =>
  new Promise<string>((resolve) => {
    let received = 0
    for (const name of ['SIGTERM', 'SIGINT', ...hangupSignal()] as const)
      process.on(name, () => (++received === 1 ? resolve(name) : process.exit(1)))
  })

/** The end of the terminal ends Davit too, unless who started it has that ignored, as nohup does. */
function hangupSignal() {
  if (!existsSync('/proc/self/status')) return []
  const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  const isIgnored = (BigInt(`0x${ignored ?? '0'}`) & 1n) === 1n // SIGHUP is the first signal
  return isIgnored ? [] : (['SIGHUP'] as const)
}

/** Whoever read our output may end before us, a `tee` or a parent: what is written then is lost, no more. */
export function surviveBrokenPipes() {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
}
