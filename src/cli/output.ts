import { warn } from './command.ts'

/**
 * Resolves with the exit status of a command once all that it wrote is read: exit() would drop what a slow
 * reader of a socket hasn't taken yet. A reader that has gone loses only its own part; where output can't be
 * written, as to a full disk, a command that succeeded has failed.
 */
export async function writtenToItsEnd(command: () => Promise<number>): Promise<number> {
  let failed: string | undefined
  const [endOutput, endErrors] = [process.stdout, process.stderr].map((output) => {
    // of one that has failed, or that a pipeline closed, the end is never said
    const over = Promise.withResolvers<void>()
    output
      .on('error', (error: NodeJS.ErrnoException) => {
        if (isUnwritten(error) && error.code !== 'EPIPE') failed ??= error.code
        over.resolve()
      })
      .on('close', over.resolve)
    return () => {
      output.end(over.resolve)
      return over.promise
    }
  })
  const status = await command()
  await endOutput!()
  if (failed !== undefined) warn(`the output can’t be written (${failed}).`)
  await endErrors!()
  return failed === undefined ? status : status || 1
}

/** A pipeline gives its output the errors of its source, too. */
export const isUnwritten = ({ syscall }: NodeJS.ErrnoException) => syscall === 'write'
