import { warn } from './command.ts'

/**
 * Resolves with the exit status of a command once all that it wrote is read: exit() would drop what a slow
 * reader of a socket hasn't taken yet. A reader that has gone loses only its own part; where output can't be
 * written, as to a full disk, a command that succeeded has failed.
 */
export async function writtenToItsEnd(command: () => Promise<number>): Promise<number> {
  let failed: string | undefined
  const over = new Set<NodeJS.WriteStream>()
  for (const output of [process.stdout, process.stderr])
    output
      .on('error', (error: NodeJS.ErrnoException) => {
        over.add(output)
        if (isUnwritten(error) && error.code !== 'EPIPE') failed ??= error.code
      })
      .on('close', () => over.add(output))
  const status = await command()
  if (!over.has(process.stdout)) await ended(process.stdout)
  if (failed !== undefined) warn(`the output can’t be written (${failed}).`)
  if (!over.has(process.stderr)) await ended(process.stderr)
  return failed === undefined ? status : status || 1
}

/** A pipeline gives its output the errors of its source, too. */
export const isUnwritten = ({ syscall }: NodeJS.ErrnoException) => syscall === 'write'

/** Not for one that has failed or was closed by a pipeline: its end is never said. */
const ended = (output: NodeJS.WriteStream) =>
  new Promise<void>((resolve) => {
    if (output.destroyed) return resolve()
    output.once('error', () => resolve()).end(() => resolve())
  })
