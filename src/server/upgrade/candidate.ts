import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { spaceOf } from '../../platform/disk-space.ts'
import { Failure } from '../../platform/errors.ts'
import { ProgramTimeout } from '../../platform/program.ts'
import { refuseOtherMachine } from '../../releases/elf.ts'
import { versionPattern } from '../../platform/root.ts'
import { bytes } from '../../web/units.ts'
import { tryRun } from '../run.ts'
import type { Work } from '../run.ts'
import type { Source } from './source.ts'
import { verifyDownload } from './verify-download.ts'
import { jsonOrNull } from '../../platform/json.ts'

/** The output of `davit --version --json`. */
const about = z.object({
  version: z.string().regex(versionPattern),
  /** The newest migration that it knows for each database. */
  schema: z.object({ state: z.number(), logs: z.number() }),
})

export type About = z.infer<typeof about>

type Trust = { sha256: string | null; publicKey: string | null }

/**
 * Copies an executable to `draft` and verifies the copy: its checksum or signature, whether
 * it can run here, and its version. Removes the copy when it is refused.
 */
export async function stage(
  source: Source,
  draft: string,
  trust: Trust,
  work: Work,
): Promise<About> {
  try {
    work.say(`Reading ${source.place}`)
    const hash = await keep(source, draft, work)
    refuseOtherMachine(draft)
    work.say(`Checked: ${await verifyDownload(source, { hash, ...trust })}`)
    return await ask(draft, work)
  } catch (error) {
    await rm(draft, { force: true })
    throw namedAs(source, draft, error)
  }
}

/** Names the source in messages, since users don't know the draft's path. */
function namedAs({ place }: Source, draft: string, error: unknown) {
  if (!(error instanceof Failure)) return error
  return new Failure(error.code, error.message.replaceAll(draft, place), error.hint, {
    cause: error,
  })
}

/** Returns the hash of the copy, in hex. */
async function keep(source: Source, draft: string, { say }: Work) {
  await refuseFull(dirname(draft), source.size ?? 0)
  await rm(draft, { force: true })
  const hash = new Bun.CryptoHasher('sha256')
  try {
    const file = await open(draft, 'wx', 0o755)
    try {
      let count = 0
      await source.read(async (chunk) => {
        const before = count
        count += chunk.length
        if (Math.floor(count / progress) > Math.floor(before / progress))
          say(`    ${bytes(count)}${source.size === null ? '' : ` of ${bytes(source.size)}`}`)
        hash.update(chunk)
        await file.writeFile(chunk)
      })
      await file.chmod(0o755)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOSPC') throw cause
    throw full(`There is no space left in ${dirname(draft)} for the new executable.`, {
      todo: ofUpgrade.todo,
      cause,
    })
  }
  return hash.digest('hex')
}

/** Bytes between two lines of progress. */
const progress = 32 * 2 ** 20

/** Bytes to keep free in addition. */
const reserve = 32 * 2 ** 20

/** Throws unless that many bytes and a reserve fit into a folder. */
export async function refuseFull(folder: string, size: number, { what, todo } = ofUpgrade) {
  const space = await spaceOf(folder)
  if (!space || space.free >= size + reserve) return
  throw full(
    `${what} needs ${bytes(size + reserve)} in ${folder}, but only ${bytes(space.free)} are free.`,
    { todo },
  )
}

const ofUpgrade = {
  what: 'The upgrade',
  todo: 'Free some space, then try again. Nothing was changed.',
}

const full = (message: string, { todo, cause }: { todo: string; cause?: unknown }) =>
  new Failure('disk_full', message, todo, { cause })

/** Seconds that an executable may take to report its version. */
const timeoutSeconds = 20

/** Throws when it doesn't start, hangs, or isn't Davit. */
async function ask(draft: string, { signal }: Work): Promise<About> {
  const call = { file: draft, minutes: timeoutSeconds / 60, signal }
  const { status, lines } = await tryRun({
    ...call,
    argv: ['davit', '--version', '--json'],
  }).catch((cause) => {
    if (!(cause instanceof ProgramTimeout)) throw startless(draft, 'can’t be started', cause)
    throw startless(
      draft,
      `hangs: it didn’t say its version within ${timeoutSeconds} seconds`,
      cause,
    )
  })
  const last = lines
    .at(-1)
    ?.slice(0, 200)
    .replaceAll(/\p{Cc}/gu, ' ')
  if (status !== 0)
    throw startless(draft, `crashes: it ended with status ${status}${last ? `: ${last}` : ''}`)
  const said = about.safeParse(jsonOrNull(last ?? ''))
  if (said.success) return said.data
  throw startless(draft, 'isn’t a Davit that can be upgraded to: it doesn’t say what it is')
}

const startless = (draft: string, why: string, cause?: unknown) =>
  new Failure(
    'upgrade_file',
    `The file ${draft} ${why}.`,
    'Use another version, or report it to who made this one. Nothing was changed.',
    { cause },
  )
