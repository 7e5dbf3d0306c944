import { Failure } from '../errors.ts'

/** Milliseconds of work after which others get their turn, and of all the work. */
const turn = 20
const most = 60_000

/** Keeps some of many entries by a rule that a repository brings, and holds nobody up meanwhile. */
export async function sift<Entry>(
  entries: Entry[],
  keeps: (entry: Entry) => boolean,
  { signal }: { signal: AbortSignal },
): Promise<Entry[]> {
  const kept: Entry[] = []
  const begun = performance.now()
  let since = begun
  for (const entry of entries) {
    if (keeps(entry)) kept.push(entry)
    if (performance.now() - since < turn) continue
    await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
    since = performance.now()
    if (since - begun > most) throw tooHard()
  }
  return kept
}

const tooHard = () =>
  new Failure(
    'dockerignore_too_hard',
    'Comparing the files of the repository with its .dockerignore takes more than a minute.',
    'Let it have fewer patterns, and fewer stars in them.',
  )
