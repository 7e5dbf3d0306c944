import type { Config } from '../config.ts'
import { EmptyState } from '../web/components.tsx'
import { Ago } from '../web/times.tsx'
import type { Line } from './log-line.tsx'
import type { getExtent } from './store.ts'
import type { Chosen } from './filter-choice.tsx'
import { ProcessChoice } from './filter-choice.tsx'
import { LogViewer } from './viewer.tsx'
import { bytes as inBytes, counted } from '../web/units.ts'

type Extent = ReturnType<typeof getExtent>
type Bounds = Pick<Config, 'logDays' | 'logSize'>

/** Shows the output of an environment's or service's containers, and follows it. */
export const OutputPage = ({
  path,
  name,
  extent,
  lines,
  previous,
  config,
  choices,
  chosen,
  drains,
}: {
  /** The URL of its lines; `/stream` below it follows them. */
  path: string
  name: string
  extent: Extent
  /** The last lines. */
  lines: Line[]
  previous: number | null
  config: Bounds
  /** The processes that the lines can be filtered by. */
  choices: string[]
  chosen: Chosen
  /** The path of what sends the lines elsewhere. */
  drains: string | undefined
}) => (
  <LogViewer
    fills
    path={path}
    page={path}
    chosen={chosen}
    isJoined={choices.length > 1}
    heading={
      <>
        Logs of <bdi>{name}</bdi>
      </>
    }
    extent={extent}
    lines={lines}
    previous={previous}
    note={noteOf(extent, lines)}
    stream={`${path}/stream`}
    canGoToTime
    choices={<ProcessChoice path={path} choices={choices} chosen={chosen} />}
  >
    <Reach {...{ extent, config, drains }} />
    {extent.last === 0 && (
      <EmptyState title="Nothing has been written yet">
        <p>Everything written to standard output appears here, and is kept.</p>
      </EmptyState>
    )}
    <TimeForm />
  </LogViewer>
)

const noteOf = ({ first }: Extent, lines: Line[]) =>
  lines.length > 0 && lines[0]!.sequence > first
    ? `The last ${counted(lines.length, 'line')}, times in UTC.`
    : null

/** Says how far back the log reaches, and why not further. */
const Reach = ({
  extent: { since, bytes },
  config: { logDays, logSize },
  drains,
}: {
  extent: Extent
  config: Bounds
  drains: string | undefined
}) => (
  <p class="muted">
    {since !== null && (
      <>
        Kept since <Ago at={new Date(since)} />, over all its containers.{' '}
      </>
    )}
    Lines stay for {logDays} days, up to {inBytes(logSize)} compressed
    {bytes > 0 && `, of which ${inBytes(bytes)} are used`}.
    {drains && (
      <>
        {' '}
        <a href={drains}>Log drains</a> send new ones elsewhere, too.
      </>
    )}
  </p>
)

/** Shown by log-view.js, since only the browser knows its user's time zone. */
export const TimeForm = () => (
  <form class="log-time" data-scripted hidden>
    <label for="log-time">Go to</label>
    <input id="log-time" class="input" type="datetime-local" step="1" required />
    <button class="btn" data-variant="outline" data-size="sm">
      Show
    </button>
    <output class="log-matches" for="log-time" />
  </form>
)
