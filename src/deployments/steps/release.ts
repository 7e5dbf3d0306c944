import { report } from '../../platform/journal.ts'
import { joinWords, wordsOf } from '../../platform/shell-words.ts'
import { endFailure } from '../../runtime/once-failures.ts'
import { removeOnce, runOnce } from '../../runtime/run-once.ts'
import { onceIn } from '../stack/open.ts'
import { workloadOf } from './deploy.ts'
import type { ReadyRun } from './deploy.ts'

/**
 * Runs the release command in a container of the new image while the live version keeps serving; it must
 * succeed. It runs before every switch, as on Heroku and Render: a rollback and changed variables are
 * releases too, possibly with another database. After a crash of Davit it runs again.
 */
export async function releaseCommand(run: ReadyRun) {
  const { deployment, environment, image, stack, log, signal, shutdown } = run
  const words = wordsOf(environment.releaseCommand!)
  const component = onceIn(run, { name: 'release', image, command: words, stack })
  const workload = workloadOf(run)
  const { id } = deployment
  log(`Running the release command: ${joinWords(words)}`)
  try {
    const ended = await runOnce(run, {
      id,
      workload,
      releaseId: id,
      component,
      timeout: environment.releaseTimeout,
      subject: 'release',
      resumes: false,
      log,
      signal,
      shutdown,
    })
    const failure = endFailure('release', ended, component.options)
    if (failure) throw failure
    log('The release command succeeded')
  } finally {
    await removeOnce(run, { workload, id }).catch((error) =>
      report('the container of a release command could not be removed yet', error, {
        deployment: id,
      }),
    )
  }
}
