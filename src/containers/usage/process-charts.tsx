import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { colourOf } from '../../logs/process-choice.tsx'
import { show } from '../../web/respond.tsx'
import { bytes, percent } from '../../web/units.ts'
import { StatsChart } from './charts.tsx'
import { RangeChoice } from './panel.tsx'
import { decimalTop, memoryTop } from './plot.ts'
import { workloadUsageJson, usageOf } from './process-usage.ts'
import type { Use, UsageDeps, WorkloadUsage } from './process-usage.ts'
import type { Range } from './sample-history.ts'

/** What an environment or service uses, by process: a page, the part of it that changes, or JSON. */
export function answerUsage(
  c: Context,
  deps: UsageDeps,
  {
    workloadId,
    range,
    title,
    frame,
  }: {
    workloadId: string
    range: Range
    title: string
    /** What the page stands in. */
    frame: (view: JSX.Element) => JSX.Element
  },
) {
  const usage = usageOf(deps, { workloadId, range })
  const panel = () => <ProcessUsage path={c.req.path} usage={usage} />
  return show(c, {
    title,
    page: () => frame(panel()),
    partial: panel,
    json: () => workloadUsageJson(usage),
  })
}

type Props = { path: string; usage: WorkloadUsage }

/** What each process uses now and over time, and all together; it asks for itself again. */
export const ProcessUsage = ({ path, usage }: Props) => {
  const { range } = usage.total.history
  return (
    <section id={id} class="stats process-usage" aria-labelledby="stats-heading">
      <h2 id="stats-heading">Usage</h2>
      <Now usage={usage} />
      <RangeChoice path={path} range={range} target={id} />
      <div class="stats-charts">
        <Charts usage={usage} />
      </div>
      <div
        hidden
        hx-get={`${path}?range=${range}`}
        hx-trigger={`every ${range === 'hour' ? 10 : 60}s`}
        hx-target={`#${id}`}
        hx-swap="outerMorph"
      />
    </section>
  )
}

const id = 'process-usage'

const Now = ({ usage: { processes, total } }: Pick<Props, 'usage'>) => {
  if (!total.now)
    return (
      <p class="stats-note">
        Nothing runs, or it has just started: what runs is measured every ten seconds.
      </p>
    )
  return (
    <dl class="stats-figures">
      {processes.map(({ process, now }, at) => (
        <Figure name={<bdi>{process}</bdi>} class={`process ${colourOf(at)}`} now={now} />
      ))}
      {processes.length > 1 && <Figure name="Together" now={total.now} />}
    </dl>
  )
}

const Figure = ({
  name,
  now,
  ...attributes
}: Pick<Use, 'now'> & { name: JSX.Element | string; class?: string }) => (
  <div>
    <dt {...attributes}>
      {name}
      {now && now.containers > 1 && <span class="muted"> in {now.containers} containers</span>}
    </dt>
    <dd>
      {now ? (
        <>
          <strong>{bytes(now.memory)}</strong>{' '}
          <span class="muted">
            {now.memoryLimit > 0 && `of ${bytes(now.memoryLimit)}, `}CPU {percent(now.cpu)}
          </span>
          {now.memoryLimit > 0 && (
            <meter
              min="0"
              max={now.memoryLimit}
              high={now.memoryLimit * 0.9}
              value={now.memory}
              aria-label="Memory"
            />
          )}
        </>
      ) : (
        <>
          <strong>–</strong> <span class="muted">not running</span>
        </>
      )}
    </dd>
  </div>
)

const Charts = ({ usage: { processes, total } }: Pick<Props, 'usage'>) => {
  const { history } = total
  if (history.samples.length === 0)
    return <p class="stats-note">Nothing was measured in this time.</p>
  const peak = (of: 'cpu' | 'memory') => Math.max(...history.samples.map((sample) => sample[of]))
  const linesOf = (of: 'cpu' | 'memory') => [
    ...processes
      .map(({ process, history: { samples } }, at) => ({
        of,
        samples,
        name: process,
        class: colourOf(at),
      }))
      .filter(({ samples }) => samples.length > 0),
    ...(processes.length > 1 ? [{ of, name: 'together', class: 'together' }] : []),
  ]
  return (
    <>
      <StatsChart
        name="CPU"
        text={percent}
        top={decimalTop(peak('cpu'), 1)}
        lines={linesOf('cpu')}
        history={history}
      />
      <StatsChart
        name="Memory"
        text={bytes}
        top={memoryTop(peak('memory'), total.now?.memoryLimit || null)}
        lines={linesOf('memory')}
        history={history}
      />
    </>
  )
}
