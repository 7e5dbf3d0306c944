import type { Failure } from '../platform/errors.ts'
import { Chart, Figure } from '../web/chart.tsx'
import { EmptyState } from '../web/components.tsx'
import type { Point } from '../web/plot.ts'
import { Live } from '../web/live.tsx'
import { bytes, units } from '../web/units.ts'
import type { Unit } from '../web/units.ts'
import { percentilesOf } from './history.ts'
import type { Sample, TrafficHistory } from './history.ts'

/** Explains whether requests are counted, and if not, why. */
export type Counting = {
  mode: 'caddy' | 'external' | 'direct'
  trouble: Failure | null
  /** True when DAVIT_EDGE is `direct`. */
  isOff: boolean
}

type Props = { path: string; traffic: TrafficHistory; counting: Counting }

/** The traffic of an environment or service in the range chosen on the page. */
export const TrafficPanel = ({ path, traffic, counting }: Props) => {
  const { hosts } = traffic
  return (
    <Live as="section" id="traffic" class="stats process-usage" aria-labelledby="traffic-heading">
      <h2 id="traffic-heading">Traffic</h2>
      <Figures traffic={traffic} />
      <HostChoice {...{ path, traffic }} />
      {traffic.total.requests === 0 ? (
        <Nothing counting={counting} isNew={traffic.samples.length === 0} />
      ) : (
        <div class="stats-charts">
          <Charts traffic={traffic} />
        </div>
      )}
      {hosts.length > 0 && counting.mode !== 'caddy' && <NotCounted counting={counting} />}
    </Live>
  )
}

const Figures = ({ traffic: { total, seconds } }: Pick<Props, 'traffic'>) => {
  if (total.requests === 0) return null
  const { p50, p95, p99 } = percentilesOf(total)
  const failed = total.statuses[4]!
  return (
    <dl class="stats-figures">
      <Figure
        name="Requests"
        value={total.requests.toLocaleString('en')}
        note={`${perSecond(total.requests / Math.max(seconds, 1))} on average`}
      />
      <Figure
        name="Failed"
        value={failed.toLocaleString('en')}
        note={`${percent((failed / total.requests) * 100)} with a status of 5xx`}
      />
      <Figure
        name="Median duration"
        value={p50 === null ? '–' : duration(p50)}
        note={p50 !== null && `95th percentile ${duration(p95!)}, 99th ${duration(p99!)}`}
      />
      <Figure name="Sent" value={bytes(total.sent)} note={`${bytes(total.received)} received`} />
    </dl>
  )
}

const { percent, perSecond, duration } = units

/** Hosts in the list; others can be requested by name. */
const mostHosts = 20

const HostChoice = ({ path, traffic: { range, key, hosts } }: Pick<Props, 'path' | 'traffic'>) => {
  if (hosts.length < 2 && key === null) return null
  const known = hosts.slice(0, mostHosts).map((host) => host.key)
  const offered = key === null || known.includes(key) ? known : [...known, key]
  const choice = (host: string | null) => {
    const query = new URLSearchParams({ range, ...(host !== null && { host }) })
    return (
      <a href={`${path}?${query}`} aria-current={host === key ? 'true' : undefined}>
        {host === null ? 'All hosts' : <bdi>{/^\d+$/.test(host) ? `port ${host}` : host}</bdi>}
      </a>
    )
  }
  return (
    <nav class="stats-ranges" aria-label="Host whose requests are shown">
      {choice(null)}
      {offered.map(choice)}
    </nav>
  )
}

const Nothing = ({ counting, isNew }: { counting: Counting; isNew: boolean }) => {
  if (counting.mode !== 'caddy') return <NotCounted counting={counting} />
  return (
    <EmptyState title={isNew ? 'No requests yet' : 'No requests in this time'}>
      <p>
        Requests to its domains, or to its port once Caddy serves it, appear here within seconds.
      </p>
    </EmptyState>
  )
}

const NotCounted = ({ counting: { mode, trouble, isOff } }: Pick<Props, 'counting'>) => (
  <EmptyState title="Requests aren’t counted">
    {mode === 'external' ? (
      <p>
        Your own Caddy serves the domains, and Davit doesn’t read its logs. Requests are counted if
        Davit runs Caddy itself.
      </p>
    ) : (
      <p>
        They go straight to a port of this server.{' '}
        {isOff
          ? 'Davit counts those that come through Caddy, which the setting DAVIT_EDGE=direct turns off.'
          : 'Add a domain, and they come through Caddy, where Davit counts them.'}
        {trouble && ` ${trouble.message} ${trouble.hint}`}
      </p>
    )}
  </EmptyState>
)

const Charts = ({ traffic }: Pick<Props, 'traffic'>) => (
  <>
    {charts.map(({ lines, ...chart }) => {
      const drawn = lines
        .map(({ of, ...line }) => ({ ...line, points: pointsOf(traffic.samples, of) }))
        .filter(({ points }) => lines.length === 1 || points.some(({ value }) => value > 0))
      return <Chart {...chart} bounds={traffic} lines={drawn} />
    })}
  </>
)

type Value = (sample: Sample) => number | null

const pointsOf = (samples: Sample[], of: Value): Point[] =>
  samples.flatMap((sample) => {
    const value = of(sample)
    return value === null ? [] : [{ time: sample.time, seconds: sample.seconds, value }]
  })

const rateOf =
  (kind: number): Value =>
  ({ tally, seconds }) =>
    tally.statuses[kind - 1]! / seconds

const charts: {
  name: string
  unit: Unit
  least: number
  lines: { name?: string; class?: string; of: Value }[]
}[] = [
  {
    name: 'Requests',
    unit: 'perSecond',
    least: 0.1,
    lines: [{ of: ({ tally, seconds }) => tally.requests / seconds }],
  },
  {
    name: 'Responses',
    unit: 'perSecond',
    least: 0.1,
    lines: [
      { name: '1xx', class: 'p7', of: rateOf(1) },
      { name: '2xx', class: 'p0', of: rateOf(2) },
      { name: '3xx', class: 'p2', of: rateOf(3) },
      { name: '4xx', class: 'p1', of: rateOf(4) },
      { name: '5xx', class: 'p3', of: rateOf(5) },
    ],
  },
  {
    name: 'Duration',
    unit: 'duration',
    least: 1,
    lines: [
      { name: 'median', class: 'p0', of: ({ tally }) => percentilesOf(tally).p50 },
      { name: '95th percentile', class: 'p1', of: ({ tally }) => percentilesOf(tally).p95 },
      { name: '99th', class: 'p3', of: ({ tally }) => percentilesOf(tally).p99 },
    ],
  },
  {
    name: 'Data',
    unit: 'rate',
    least: 1000,
    lines: [
      { name: 'out', of: ({ tally, seconds }) => tally.sent / seconds },
      { name: 'in', of: ({ tally, seconds }) => tally.received / seconds },
    ],
  },
]
