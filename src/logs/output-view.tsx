import type { Config } from '../config.ts'
import { EmptyState } from '../web/components.tsx'
import { LogToolbar } from '../web/log-toolbar.tsx'
import { assetPath } from '../web/static.ts'
import { Ago } from '../web/times.tsx'
import type { OutputLine } from './block.ts'
import { OutputRow } from './output-batch.ts'
import type { getExtent } from './output-store.ts'

type Extent = ReturnType<typeof getExtent>
type Bounds = Pick<Config, 'logDays' | 'logSize'>

/** What the containers of an environment or service wrote, as it is written. */
export const OutputView = ({
  path,
  name,
  extent,
  tail,
  config,
}: {
  /** Where its lines are; `/stream` below it follows them. */
  path: string
  name: string
  extent: Extent
  /** The last lines, for a reader without scripts and for the viewer to begin with. */
  tail: OutputLine[]
  config: Bounds
}) => (
  <>
    <section class="log kept" data-log={path} aria-labelledby="log-heading">
      <h2 id="log-heading">
        Logs of <bdi>{name}</bdi>
      </h2>
      <Reach extent={extent} config={config} />
      {extent.last === 0 && (
        <EmptyState title="Nothing has been written yet">
          <p>Whatever the app writes to its standard output appears here, and stays.</p>
        </EmptyState>
      )}
      <TimeForm />
      <LogToolbar download={`${path}?download=1`} />
      <ol class="log-hits" aria-label="Lines found" hidden />
      <div
        class="log-scroller"
        role="log"
        aria-live="off"
        aria-labelledby="log-heading"
        tabindex={0}
      >
        {tail.length > 0 && tail[0]!.sequence > extent.first && (
          <p class="log-note">The last {tail.length} lines, times in UTC.</p>
        )}
        <div class="log-lines" data-first={extent.first} data-last={extent.last}>
          {tail.map((line) => (
            <OutputRow line={line} />
          ))}
        </div>
      </div>
      <div
        id="log-stream"
        hidden
        hx-sse:connect={`${path}/stream?after=${extent.last}`}
        hx-trigger="connect"
        hx-swap="none"
      />
    </section>
    <script type="module" src={assetPath('log-view.js')} />
  </>
)

/** How far back it goes, and why no farther. */
const Reach = ({
  extent: { since, bytes },
  config: { logDays, logSize },
}: {
  extent: Extent
  config: Bounds
}) => (
  <p class="muted">
    {since !== null && (
      <>
        Kept since <Ago at={new Date(since)} />, over all deployments.{' '}
      </>
    )}
    Lines stay for {logDays} days, up to {megabytes(logSize)} compressed
    {bytes > 0 && `, of which ${megabytes(bytes)} are used`}.
  </p>
)

/** Wakes up with log-view.js: only the browser knows what its user's clock says. */
const TimeForm = () => (
  <form class="log-time" data-scripted hidden>
    <label for="log-time">Go to</label>
    <input id="log-time" class="input" type="datetime-local" step="1" required />
    <button class="btn" data-variant="outline" data-size="sm">
      Show
    </button>
    <output class="log-matches" for="log-time" />
  </form>
)

const megabytes = (bytes: number) =>
  `${(bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`
