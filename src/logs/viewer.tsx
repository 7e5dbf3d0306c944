import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { useSeenVersion } from '../web/live.tsx'
import { Icon } from '../web/icons.tsx'
import { assetPath } from '../web/static.ts'
import { counted } from '../web/units.ts'
import { LogOptions, LogSearch, LogTool } from './viewer-tools.tsx'
import { LevelChoice, queryOf } from './filter-choice.tsx'
import type { Chosen } from './filter-choice.tsx'
import { lineHtml } from './log-line.tsx'
import type { Line } from './log-line.tsx'

type Props = {
  /** Where its lines are. */
  path: string
  /** Where the page is that shows it. */
  page: string
  chosen?: Chosen
  heading: Child
  /** What there is to say about the lines that are shown, if anything. */
  note: Child
  /** What stands above it. */
  children?: Child
  /** By what else than levels it can be filtered. */
  choices?: Child
  /** Sequences of the first and the last line there is. */
  extent: { first: number; last: number }
  /** The last ones, for a reader without scripts and for the viewer to begin with. */
  lines: Line[]
  /** Whether numbers are missing between its lines, though nothing is filtered. */
  hasGaps?: boolean
  /** Where it is followed; null when nothing more comes. */
  stream: string | null
  /** Whether the stream sends an end event. */
  endsWithDone?: boolean
  /** Whether it reaches so far back that one goes to a time in it. */
  canGoToTime?: boolean
  /** Whether its rows show which process wrote them. */
  isJoined?: boolean
  /** Whether it is what the page is for, and has the rest of the window. */
  fills?: boolean
  /** The lines in groups that fold, where it has any. */
  rows?: Child
  /** The sequence of the first line that is an error. */
  firstError?: number | null
}

/**
 * A log as it is written, each line with its number, by which it can be found and linked to. Its script
 * wakes up its tools, draws the rows in view, and asks for others.
 */
export const LogViewer = ({ path, page, chosen = {}, heading, lines, ...shown }: Props) => (
  <section
    class={classesOf(shown)}
    data-error={shown.firstError ?? undefined}
    data-log={path}
    data-log-query={filterOf(chosen)}
    aria-labelledby="log-heading"
  >
    {shown.children}
    {shown.stream && <Stream {...shown} stream={shown.stream} chosen={chosen} />}
    <div class="log-toolbar">
      <h2 id="log-heading">{heading}</h2>
      <LogSearch page={page} chosen={chosen} />
      <p class="log-state" data-log-state />
      <div class="log-buttons">
        <LogTool name="follow" data-scripted hidden>
          Follow
        </LogTool>
        <LogTool name="error" data-scripted hidden>
          First error
        </LogTool>
        <LogTool name="copy" data-scripted hidden disabled>
          Copy link
        </LogTool>
        <LogOptions />
        <LogTool name="full" aria-pressed="false" data-scripted hidden>
          <Icon name="maximize" />
          <span>Full screen</span>
        </LogTool>
        <a
          class="btn"
          data-variant="outline"
          data-size="sm"
          href={withQuery(path, 'download=1', filterOf(chosen))}
          download
          data-log-download
        >
          <Icon name="download" />
          <span>Download</span>
        </a>
      </div>
    </div>
    {shown.canGoToTime && <ol class="log-hits" aria-label="Lines found" hidden />}
    <div class="log-filters">
      {shown.choices}
      <LevelChoice path={page} chosen={chosen} />
    </div>
    <div class="log-box">
      <div
        class="log-scroller"
        role="log"
        aria-live="off"
        aria-labelledby="log-heading"
        tabindex={0}
      >
        {chosen.search ? (
          <p class="log-note">
            {matches(lines.length)} <q>{chosen.search}</q>.{' '}
            <a href={withQuery(page, filterOf(chosen))}>Show all lines</a>
          </p>
        ) : (
          shown.note && <p class="log-note">{shown.note}</p>
        )}
        <div
          class="log-lines"
          data-first={shown.extent.first}
          data-last={shown.extent.last}
          data-gaps={shown.hasGaps ? '' : undefined}
          data-sparse={chosen.search ? '' : undefined}
          data-grouped={shown.rows ? '' : undefined}
        >
          {shown.rows ?? raw(lines.map(lineHtml).join(''))}
        </div>
      </div>
      <LogTool name="newest" hidden>
        Jump to newest
      </LogTool>
    </div>
    <script type="module" src={assetPath('log-view.js')} />
  </section>
)

const classesOf = ({
  canGoToTime,
  isJoined,
  fills,
}: Pick<Props, 'canGoToTime' | 'isJoined' | 'fills'>) =>
  ['log', 'wrap', canGoToTime && 'kept', isJoined && 'joined', fills && 'fills']
    .filter(Boolean)
    .join(' ')

/** What comes from now on; the page needs no other stream. */
const Stream = ({
  stream,
  extent,
  chosen,
  endsWithDone,
}: { stream: string; chosen: Chosen } & Pick<Props, 'extent' | 'endsWithDone'>) => (
  <div
    id="log-stream"
    hidden
    hx-sse:connect={withQuery(
      stream,
      `after=${extent.last}&live=${useSeenVersion()}`,
      filterOf(chosen),
    )}
    {...(endsWithDone && { 'hx-sse:close': 'done' })}
    hx-trigger="connect"
    hx-swap="none"
  />
)

/** What the viewer's script asks for each time: a search is no filter there, it leads from line to line. */
const filterOf = (chosen: Chosen = {}) => queryOf({ ...chosen, search: undefined })

const matches = (count: number) =>
  count === 0 ? 'No line with' : `The last ${counted(count, 'line')} with`

const withQuery = (path: string, ...parameters: string[]) => {
  const query = parameters.filter((some) => some !== '').join('&')
  return query ? `${path}?${query}` : path
}
