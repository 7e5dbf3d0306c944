import { warn } from './command.ts'

/**
 * Resolves with the exit status of a command once all that it wrote is read: exit() would drop what a slow
 * reader of a socket hasn't taken yet. A reader that has gone loses only its own part; where output can't be
 * written, as to a full disk, a command that succeeded has failed.
 */
export async function writtenToItsEnd(command: () => Promise<number>): Promise<number> {
  let failed: string | undefined
  const outputs = [process.stdout, process.stderr]
  for (const output of outputs)
    output.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'EPIPE') failed ??= code
    })
  const status = await command()
  await ended(process.stdout)
  if (failed !== undefined) warn(`the output can’t be written (${failed}).`)
  await ended(process.stderr)
  return failed === undefined ? status : status || 1
}

const ended = (output: NodeJS.WriteStream) =>
  new Promise<void>((resolve) => {
    if (output.destroyed) return resolve()
    output.once('error', () => resolve()).end(() => resolve())
  })
