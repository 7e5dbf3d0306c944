import { pointsOf } from '../containers/usage/sample-history.ts'
import { usageOf } from '../containers/usage/process-usage.ts'
import type { UsageDeps } from '../containers/usage/process-usage.ts'
import type { Environment } from '../environments/store.ts'
import { environmentPath, metricsPath } from '../environments/paths.ts'
import { outputOf } from '../logs/answer-log.tsx'
import { lineHtml } from '../logs/log-line.tsx'
import { listLastLines } from '../logs/read-log.ts'
import type { Reading } from '../logs/read-log.ts'
import { readTraffic } from '../traffic/history.ts'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { Live } from '../web/live.tsx'
import type { Bounds, Point } from '../web/plot.ts'
import { Sparkline } from '../web/chart.tsx'
import { bytes, percent } from '../web/units.ts'

const shownLines = { limit: 5, maxLength: 4096 }

export async function glanceOf(deps: UsageDeps & Reading, { id }: Pick<Environment, 'id'>) {
  const { total } = usageOf(deps, { workloadId: id, range: 'hour' })
  const traffic = await readTraffic(deps.logDb, { sourceId: id, range: 'hour' })
  const lines = await listLastLines(deps, outputOf({ id }), shownLines)
  return { total, traffic, lines }
}

type Props = {
  environment: Environment
  glance: Awaited<ReturnType<typeof glanceOf>>
}

/** The last hour in three lines, and the end of the log; empty until there is something. */
export const Glance = ({ environment, glance: { total, traffic, lines } }: Props) => {
  const { history, now } = total
  const metrics = metricsPath(environment)
  const requests = traffic.samples.map(({ time, seconds, tally }) => ({
    time,
    value: tally.requests / seconds,
  }))
  const perMinute = Math.round((traffic.total.requests / Math.max(traffic.seconds, 1)) * 60)
  return (
    <Live id="glance" class="glance-parts">
      {(history.samples.length > 0 || traffic.total.requests > 0) && (
        <section aria-labelledby="glance-heading">
          <h2 id="glance-heading">Last hour</h2>
          <ul class="glance">
            <Figure
              {...{ name: 'CPU', href: metrics, bounds: history, points: pointsOf(history, 'cpu') }}
              value={now ? percent(now.cpu) : '–'}
            />
            <Figure
              {...{ name: 'Memory', href: metrics, bounds: history }}
              points={pointsOf(history, 'memory')}
              value={now ? bytes(now.memory) : '–'}
            />
            <Figure
              {...{ name: 'Requests', bounds: traffic, points: requests }}
              href={metrics}
              value={`${perMinute} per minute`}
            />
          </ul>
        </section>
      )}
      {lines.length > 0 && (
        <section aria-labelledby="last-lines-heading">
          <div class="section-head">
            <h2 id="last-lines-heading">Last lines</h2>
            <a href={`${environmentPath(environment)}/output`}>All logs</a>
          </div>
          <div class="log wrap">
            <div
              class="log-scroller"
              role="log"
              aria-live="off"
              aria-labelledby="last-lines-heading"
              tabindex={0}
            >
              <div class="log-lines">{raw(lines.map(lineHtml).join(''))}</div>
            </div>
          </div>
        </section>
      )}
    </Live>
  )
}

type FigureProps = {
  name: string
  value: Child
  href: string
  points: Point[]
  bounds: Bounds
}

const Figure = ({ name, value, href, points, bounds }: FigureProps) => (
  <li>
    <a href={href}>{name}</a>
    <strong>{value}</strong>
    <Sparkline label={`${name} in the last hour`} points={points} bounds={bounds} />
  </li>
)
