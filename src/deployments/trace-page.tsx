import { environmentPath } from '../environments/paths.ts'
import type { Environment } from '../environments/store.ts'
import type { SpanKind } from '../platform/trace.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import type { Project } from '../projects/store.ts'
import { EmptyState, Fact, PageHead } from '../web/components.tsx'
import { Live } from '../web/live.tsx'
import { counted, duration } from '../web/units.ts'
import { isEnded } from './store.ts'
import type { Deployment } from './store.ts'
import type { DeploymentTrace } from './trace.ts'

export const tracePath = (deployment: Parameters<typeof deploymentPath>[0]) =>
  `${deploymentPath(deployment)}/trace`

type Props = {
  project: Project
  environment: Environment
  deployment: Deployment
  trace: DeploymentTrace
}

export const TracePage = ({ project, environment, deployment, trace }: Props) => (
  <Live id="trace">
    <PageHead
      title="Where the time went"
      doc="deployments#where-the-time-went"
      crumbs={[
        { href: `/projects/${project.id}`, name: project.name },
        { href: environmentPath(environment), name: environment.name },
        { href: deploymentPath(deployment), name: `Deployment #${deployment.number}` },
      ]}
    />
    {trace.spans.length === 0 ? (
      <EmptyState title="Nothing to show">
        <p>
          {isEnded(deployment.status) ? 'It ended before its first step.' : 'It hasn’t begun yet.'}
        </p>
      </EmptyState>
    ) : (
      <Waterfall {...{ deployment, trace }} />
    )}
  </Live>
)

const Waterfall = ({ deployment, trace }: Pick<Props, 'deployment' | 'trace'>) => {
  const { spans, totals, milliseconds, queued, dropped, isComplete } = trace
  return (
    <>
      <dl class="facts in-line">
        <Fact name="In all">{took(milliseconds)}</Fact>
        <Fact name="Queued before">{took(queued)}</Fact>
        {isComplete &&
          Object.entries(kinds).map(([kind, { name, colour }]) => (
            <Fact name={name}>
              <span class={`trace-key ${colour}`}> {took(totals[kind as Named])}</span>
            </Fact>
          ))}
      </dl>
      {!isComplete && (
        <p class="note">
          {isEnded(deployment.status)
            ? 'Only its steps are known: Davit was stopped while it ran, or an earlier version of Davit deployed it.'
            : 'Calls and waits are shown when it has ended.'}
        </p>
      )}
      <ol class="card trace" aria-label="Calls and waits, in the order of their start">
        {spans.map((span) => {
          const kind = span.kind === 'step' ? null : kinds[span.kind]
          return (
            <li class={kind?.colour}>
              <span>
                {kind ? <span class="muted">{kind.name}: </span> : <strong>{span.name}</strong>}
                {kind && span.name}
                {span.count > 1 && ` (${counted(span.count, 'time')})`}
                {span.failed && <strong> failed</strong>}{' '}
                {span.detail && <bdi class="muted">{span.detail}</bdi>}
              </span>
              <span>{took(span.milliseconds)}</span>
              <Bar {...span} of={milliseconds} />
            </li>
          )
        })}
      </ol>
      {dropped > 0 && <p class="hint">{counted(dropped, 'more call')} left out.</p>}
    </>
  )
}

type Named = Exclude<SpanKind, 'step'>

/** Colours are as those of processes. */
const kinds: Record<Named, { name: string; colour: string }> = {
  docker: { name: 'Docker', colour: 'p0' },
  git: { name: 'Git', colour: 'p2' },
  edge: { name: 'Caddy', colour: 'p3' },
  wait: { name: 'Waiting', colour: 'p1' },
  davit: { name: 'Davit', colour: 'p7' },
}

const width = 1000

/** A bar that is too short to be seen is drawn wider. */
const Bar = ({ start, milliseconds, of }: { start: number; milliseconds: number; of: number }) => {
  const scale = width / Math.max(of, 1)
  const long = Math.min(width, Math.max(3, milliseconds * scale))
  return (
    <svg viewBox={`0 0 ${width} 10`} preserveAspectRatio="none" aria-hidden="true">
      <rect
        x={Math.min(width - long, start * scale).toFixed(1)}
        width={long.toFixed(1)}
        height="10"
      />
    </svg>
  )
}

const took = (milliseconds: number) =>
  milliseconds < 100
    ? `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
    : milliseconds < 10_000
      ? `${(milliseconds / 1000).toFixed(2)} s`
      : duration(milliseconds)
