import { Failure } from '../../platform/errors.ts'
import { openProgram } from '../run.ts'

/** Makes the copy exact: numeric owners, holes, access control lists and extended attributes. */
const faithful = ['--numeric-owner', '--sparse', '--acls', '--xattrs', '--xattrs-include=*']

/** Archives a folder. Throws when any of it can't be read, or changes meanwhile. */
export async function* packed(folder: string, signal: AbortSignal) {
  const said: string[] = []
  const tar = openProgram({
    argv: [
      'tar',
      '--create',
      '--file=-',
      '--format=posix',
      ...faithful,
      `--directory=${folder}`,
      '.',
    ],
    signal,
    onLine: (line) => said.push(line) > 20 && said.shift(),
  })
  try {
    yield* tar.output
    const status = await tar.ended
    if (status !== 0) throw tarFailed(`${folder} can’t be read`, said)
  } finally {
    tar.stop(new Error('no one reads on'))
    await tar.ended.catch(() => {})
  }
}

/** Unpacks an archive into an empty folder. Throws when any of it couldn't be written. */
export async function unpack(
  folder: string,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
) {
  const said: string[] = []
  const tar = openProgram({
    argv: [
      'tar',
      '--extract',
      '--file=-',
      '--same-permissions',
      '--same-owner',
      ...faithful,
      `--directory=${folder}`,
    ],
    signal,
    onLine: (line) => said.push(line) > 20 && said.shift(),
  })
  try {
    let takes = true
    for await (const chunk of source) {
      await tar.write(chunk).catch(() => (takes = false)) // its exit reports the reason
      if (!takes) break
    }
    await tar.endInput().catch(() => {})
    const status = await tar.ended
    if (status !== 0 || !takes) throw tarFailed(`${folder} can’t be written`, said)
  } finally {
    tar.stop(new Error('no one writes on'))
    await tar.ended.catch(() => {})
  }
}

const tarFailed = (what: string, said: string[]) => {
  const why = said.findLast((line) => !/exit(ing)? (delayed|now)|not recoverable/i.test(line))
  return new Failure(
    'move_files',
    `${what}: ${(why ?? 'tar failed').replace(/^tar: /, '').slice(0, 400)}.`,
    'Fix that, then run davit move again.',
  )
}
