import type { Deps } from '../deps.ts'
import { openVariables } from '../environments/variable-store.ts'
import { journal } from '../journal.ts'
import { cleanUp } from './clean-up.ts'
import { explain } from './explain.ts'
import { masking } from './mask.ts'
import { Progress } from './progress.ts'
import type { StepName } from './progress.ts'
import { stopping } from './run.ts'
import type { Run } from './run.ts'
import { build } from './steps/build.ts'
import { clone } from './steps/clone.ts'
import { deploy } from './steps/deploy.ts'
import { discard } from './steps/discard.ts'
import { countAttempt, getCurrent, getJob } from './store.ts'

/**
 * Runs one deployment to its end and never throws: its outcome is its state and its log. `onBuilt` is
 * called when it needs the place of a build no longer.
 */
export async function runPipeline(
  deps: Deps,
  { id, signal, onBuilt }: { id: string; signal: AbortSignal; onBuilt: () => void },
) {
  countAttempt(deps.db, id)
  const job = getJob(deps.db, id)
  if (!job) return
  const { deployment } = job
  const variables = openVariables(deps.db, deps.secrets, deployment.environmentId)
  const mask = masking(variables.filter(({ secret }) => secret).map(({ value }) => value))
  const progress = new Progress(deps, { deployment, mask })
  const run: Run = { ...deps, ...job, variables, log: progress.log, signal }

  try {
    const image = deployment.image ?? (await buildFromSource())
    onBuilt()
    const previous = getCurrent(deps.db, deployment.environmentId)
    const deployed = await stage('deploying', () =>
      deploy(run, {
        image,
        previous,
        onContainer: (containerId) => progress.save({ containerId }),
      }),
    )
    progress.log(deployed.url ? `Running at ${deployed.url}` : 'Running')
    progress.succeed(deployed)
    await cleanUp(deps, job).catch((error) =>
      journal.error('clean-up after a deployment failed', error, { deployment: id }),
    )
  } catch (error) {
    await end(error)
  }

  async function buildFromSource() {
    const snapshot = await stage('cloning', () => clone(run))
    progress.save({
      branch: snapshot.branch,
      commitHash: snapshot.commit.hash,
      commitAuthor: snapshot.commit.author,
      commitMessage: snapshot.commit.message,
    })
    const image = await stage('building', () => build(run, snapshot))
    progress.save({ image })
    return image
  }

  function stage<Result>(step: StepName, work: () => Promise<Result>) {
    signal.throwIfAborted()
    if (!progress.enter(step)) throw new Error(`Deployment ${id} was moved by someone else`)
    return work()
  }

  async function end(error: unknown) {
    const left = await discard(run).catch((failed) => {
      journal.error('clean-up after a failed deployment failed', failed, { deployment: id })
      return {}
    })
    if (signal.reason === stopping) {
      progress.log('Davit is stopping. This deployment is taken up again at its next start.')
      return progress.putBack(left)
    }
    if (signal.aborted) {
      progress.log('Cancelled.')
      return progress.cancel(left)
    }
    const failure = explain(error, progress.step)
    if (failure.code === 'internal')
      journal.error('deployment failed', error, { deployment: id, step: progress.step })
    progress.log(`Failed: ${failure.message} ${failure.hint}`)
    progress.fail(failure, left)
  }
}
