import type { Step } from '../db/schema.ts'
import { Icon } from '../web/icons.tsx'
import type { IconName } from '../web/icons.tsx'
import { duration } from '../web/units.ts'
import { isEnded } from './store.ts'
import type { Deployment } from './store.ts'

type Progress = 'done' | 'active' | 'failed' | 'cancelled' | 'waiting'

export const StepTimeline = ({
  deployment,
  hasReleaseCommand,
}: {
  deployment: Deployment
  hasReleaseCommand: boolean
}) => (
  <ol class="steps" aria-label="Steps">
    {plan(deployment, hasReleaseCommand).map((name) => {
      const step = deployment.steps.findLast((taken) => taken.name === name)
      const progress = progressOf(deployment, name, step)
      return (
        <li
          class="step"
          data-progress={progress}
          aria-current={progress === 'active' ? 'step' : undefined}
        >
          <Icon name={marks[progress]} />
          <span class="step-name">{titles[name] ?? name}</span>
          <span class="visually-hidden">{progress}</span>
          {step && <span class="step-time">{took(step)}</span>}
        </li>
      )
    })}
  </ol>
)

/** A reused image needs no clone and no build. After the end, the recorded steps show what ran. */
function plan(
  { trigger, imageOf, pullReference, status, steps }: Deployment,
  hasReleaseCommand: boolean,
) {
  const took = (step: string) => steps.some(({ name }) => name === step)
  const reuses =
    (trigger === 'rollback' || imageOf !== null) && !took('building') && !took('pulling')
  const source = pullReference === null ? ['cloning', 'building'] : ['pulling']
  const releases = took('releasing') || (hasReleaseCommand && !isEnded(status))
  return [
    ...(reuses ? [] : source),
    ...(releases ? ['releasing'] : []),
    'deploying',
    ...(took('watching') ? ['watching'] : []),
  ]
}

function progressOf(
  { status, errorStep, steps }: Deployment,
  name: string,
  step: Step | undefined,
): Progress {
  const last = steps.at(-1)
  // three steps have this state
  const now = status === 'deploying' ? last?.name : status
  const isWatched = name === 'watching' && status === 'running' && step?.finishedAt === null
  if (isWatched || name === now) return 'active'
  if (!step) return 'waiting'
  if (status === 'failed' && (errorStep === name || step.finishedAt === null)) return 'failed'
  return status === 'cancelled' && step === last ? 'cancelled' : 'done'
}

const titles: Record<string, string> = {
  cloning: 'Clone',
  building: 'Build',
  pulling: 'Pull',
  releasing: 'Release command',
  deploying: 'Deploy',
  watching: 'Watch',
}

const marks: Record<Progress, IconName> = {
  done: 'check',
  active: 'loader-circle',
  failed: 'x',
  cancelled: 'minus',
  waiting: 'circle',
}

const took = ({ startedAt, finishedAt }: Step) =>
  duration((finishedAt ? Date.parse(finishedAt) : Date.now()) - Date.parse(startedAt))
