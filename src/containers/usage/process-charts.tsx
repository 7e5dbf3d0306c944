import type { JSX } from 'hono/jsx/jsx-runtime'
import { colourOf } from '../../logs/filter-choice.tsx'
import { Chart, Figure } from '../../web/chart.tsx'
import { Live } from '../../web/live.tsx'
import { bytes, percent } from '../../web/units.ts'
import type { Use, WorkloadUsage } from './process-usage.ts'
import { pointsOf } from './sample-history.ts'

type Props = { usage: WorkloadUsage }

export const ProcessUsage = ({ usage }: Props) => (
  <Live as="section" id="process-usage" class="stats process-usage" aria-labelledby="stats-heading">
    <h2 id="stats-heading">Usage</h2>
    <Now usage={usage} />
    <div class="stats-charts">
      <Charts usage={usage} />
    </div>
  </Live>
)

const Now = ({ usage: { processes, total } }: Props) => {
  if (!total.now)
    return (
      <p class="stats-note">
        Nothing is running, or it has just started. Running containers are measured every ten
        seconds.
      </p>
    )
  return (
    <dl class="stats-figures">
      {processes.map(({ process, now }, at) => (
        <Used name={<bdi>{process}</bdi>} class={`process ${colourOf(at)}`} now={now} />
      ))}
      {processes.length > 1 && <Used name="Together" now={total.now} />}
    </dl>
  )
}

const Used = ({
  name,
  now,
  ...attributes
}: Pick<Use, 'now'> & { name: JSX.Element | string; class?: string }) => {
  if (!now) return <Figure {...{ ...attributes, name }} value="–" note="not running" />
  const { containers, cpu, memory, memoryLimit: limit } = now
  return (
    <Figure
      {...attributes}
      name={[name, containers > 1 && <span class="muted"> in {containers} containers</span>]}
      value={bytes(memory)}
      note={`${limit > 0 ? `of ${bytes(limit)}, ` : ''}CPU ${percent(cpu)}`}
    >
      {limit > 0 && (
        <meter min="0" max={limit} high={limit * 0.9} value={memory} aria-label="Memory" />
      )}
    </Figure>
  )
}

const Charts = ({ usage: { processes, total } }: Props) => {
  const { history } = total
  if (history.samples.length === 0) return <p class="stats-note">No data in this time.</p>
  const linesOf = (of: 'cpu' | 'memory') => [
    ...processes
      .map((one, at) => ({
        name: one.process,
        points: pointsOf(one.history, of),
        class: colourOf(at),
      }))
      .filter(({ points }) => points.length > 0),
    ...(processes.length > 1
      ? [{ name: 'together', points: pointsOf(history, of), class: 'together' }]
      : []),
  ]
  return (
    <>
      <Chart name="CPU" unit="percent" least={1} lines={linesOf('cpu')} bounds={history} />
      <Chart
        name="Memory"
        unit="bytes"
        least={null}
        limit={total.now?.memoryLimit || null}
        lines={linesOf('memory')}
        bounds={history}
      />
    </>
  )
}
