import { ensureBusyboxImage, ensureDatabaseImages, ensureEngine } from '../support/machine.ts'
import { showDatabase } from './database.ts'
import { showDeployments } from './hello.ts'
import { ensureNotesImage } from './notes-image.ts'
import { setStage } from './stage.ts'
import { dim, red, say, success } from './terminal.ts'

// The main job, shown: from a git URL to a running app, a change to it, and back again; with
// `--database` an app with its databases. Davit runs as a user would run it and is driven over HTTP
// alone. `--once` ends by itself, with status 0 only if the app answered each time as it should.

const [once, database] = ['--once', '--database'].map((option) => process.argv.includes(option))
if (process.argv.length > 2 + Number(once) + Number(database)) {
  console.error('npm run demo -- [--database] [--once]')
  process.exit(2)
}

const end = new AbortController()
const { signal } = end
const interrupted = new Error('Interrupted. Everything that it made is removed.')
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(name, () => end.abort(interrupted))

try {
  await ensureEngine({ say })
  await ensureBusyboxImage({ say })
  if (database) {
    await ensureDatabaseImages({ say })
    await ensureNotesImage({ say })
  }
  signal.throwIfAborted()
  await demonstrate()
  success('Everything that it made is removed.')
  process.exit(0)
} catch (error) {
  const isInterrupted = error === interrupted
  console.error(isInterrupted ? interrupted.message : red(`\nThe demo failed. ${explain(error)}`))
  process.exit(isInterrupted ? 130 : 1)
}

async function demonstrate() {
  await using stage = await setStage({
    ...{ backsUp: database, signal },
    failed: (error) => end.abort(error),
  })
  await (database ? showDatabase(stage) : showDeployments(stage))
  if (once) return
  say(dim('\nCtrl-C ends it and removes everything that it made.'))
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  if (signal.reason !== interrupted) throw signal.reason
}

/** Also what went wrong while tidying up after what went wrong. */
function explain(error: unknown): string {
  if (error instanceof SuppressedError)
    return `${explain(error.suppressed)} ${explain(error.error)}`
  return error instanceof Error ? error.message : String(error)
}
