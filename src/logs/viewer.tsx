import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { useSeenVersion } from '../web/live.tsx'
import { Button, ButtonLink } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import { assetPath } from '../web/static.ts'
import { filterOf, LevelChoice, queryOf, withQuery } from './filter-choice.tsx'
import type { Chosen } from './filter-choice.tsx'
import { FoundNote } from './found-note.tsx'
import { lineHtml } from './log-line.tsx'
import type { Line } from './log-line.tsx'
import type { JSX } from 'hono/jsx/jsx-runtime'

type Props = {
  /** The URL of its lines. */
  path: string
  /** The URL of the page that shows it. */
  page: string
  chosen?: Chosen
  heading: Child
  /** A note about the lines, if any. */
  note: Child
  /** Shown above the log. */
  children?: Child
  /** Filters in addition to levels. */
  choices?: Child
  /** The first and last sequence number. */
  extent: { first: number; last: number }
  /** The last lines, for readers without scripts and as the viewer's start. */
  lines: Line[]
  /** Where those before them go on; null at the start of the log. */
  previous: number | null
  /** True when sequence numbers are missing even without a filter. */
  hasGaps?: boolean
  /** The URL that follows the log; null when it is complete. */
  stream: string | null
  /** The job whose log it is, if that URL leads to the one of another job later. */
  job?: string
  /** True when the stream sends an end event. */
  endsWithDone?: boolean
  /** True when it covers enough time to offer a jump to a time. */
  canGoToTime?: boolean
  /** True when its rows show their process. */
  isJoined?: boolean
  /** True when it is the page's main content, and fills the rest of the window. */
  fills?: boolean
  /** The lines in groups that fold, if any. */
  rows?: Child
  /** The sequence number of the first error. */
  firstError?: number | null
}

/**
 * A log that is followed. Each line has a number, by which it can be found and linked to. Its script adds
 * tools, renders the visible rows, and requests others.
 */
export const LogViewer = ({ path, page, chosen = {}, heading, lines, ...shown }: Props) => (
  <section
    class={classesOf(shown)}
    data-error={shown.firstError ?? undefined}
    data-log={path}
    data-log-query={filterOf(chosen)}
    data-job={shown.job}
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
        <ButtonLink
          small
          variant="outline"
          icon="download"
          href={withQuery(path, 'download=1', filterOf(chosen))}
          download
          data-log-download
        >
          <span>Download</span>
        </ButtonLink>
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
        {queryOf(chosen) !== '' ? (
          <FoundNote {...{ page, chosen, lines }} previous={shown.previous} />
        ) : (
          shown.note && <p class="log-note">{shown.note}</p>
        )}
        <div
          class="log-lines"
          data-first={shown.extent.first}
          data-last={shown.extent.last}
          data-gaps={shown.hasGaps ? '' : undefined}
          data-sparse={chosen.search || chosen.before !== undefined ? '' : undefined}
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

/** Streams new lines; the page needs no other stream. */
const Stream = ({
  stream,
  extent,
  job,
  chosen,
  endsWithDone,
}: { stream: string; chosen: Chosen } & Pick<Props, 'extent' | 'job' | 'endsWithDone'>) => (
  <div
    id="log-stream"
    hidden
    hx-sse:connect={withQuery(
      stream,
      `after=${extent.last}&live=${useSeenVersion()}`,
      job === undefined ? '' : `log=${job}`,
      filterOf(chosen),
    )}
    {...(endsWithDone && { 'hx-sse:close': 'done' })}
    hx-trigger="connect"
    hx-swap="none"
  />
)

/** Without scripts it opens the page with matching lines. */
const LogSearch = ({ page, chosen }: { page: string; chosen: Chosen }) => (
  <form class="log-search" role="search" action={page}>
    <HiddenChoice chosen={chosen} />
    <label class="visually-hidden" for="log-query">
      Search the log
    </label>
    <input
      id="log-query"
      name="search"
      value={chosen.search}
      class="input"
      type="search"
      placeholder="Search the log"
      autocomplete="off"
      spellcheck={false}
      maxlength={200}
      aria-describedby="log-matches"
      aria-keyshortcuts="/"
    />
    <button class="btn" data-variant="outline" data-size="sm" data-unscripted>
      Search
    </button>
    <output id="log-matches" class="log-matches" for="log-query" />
    <LogTool name="previous" aria-label="Previous match" data-scripted hidden disabled>
      ↑
    </LogTool>
    <LogTool name="next" aria-label="Next match" data-scripted hidden disabled>
      ↓
    </LogTool>
  </form>
)

const HiddenChoice = ({ chosen: { process = [], level = [], stream } }: { chosen: Chosen }) => (
  <>
    {process.map((value) => (
      <input type="hidden" name="process" value={value} />
    ))}
    {level.map((value) => (
      <input type="hidden" name="level" value={value} />
    ))}
    {stream && <input type="hidden" name="stream" value={stream} />}
  </>
)

/** Settings for reading logs, which log-settings.js stores. */
const LogOptions = () => (
  <details class="log-options" data-scripted hidden>
    <summary class="btn" data-variant="outline" data-size="sm">
      <Icon name="settings" />
      <span>View</span>
    </summary>
    <div class="log-menu">
      <label>
        <input type="checkbox" name="log-wrap" /> Wrap long lines
      </label>
      <label>
        <input type="checkbox" name="log-json" /> Lay out JSON
      </label>
      <fieldset>
        <legend>Times</legend>
        {Object.entries(times).map(([value, name]) => (
          <label>
            <input type="radio" name="log-times" value={value} /> {name}
          </label>
        ))}
      </fieldset>
    </div>
  </details>
)

const times = { local: 'In your time zone', utc: 'In UTC', none: 'Hidden' }

/** A small button, which the viewer finds as `data-log-` and the name. */
const LogTool = ({ name, ...attributes }: JSX.IntrinsicElements['button'] & { name: string }) => (
  <Button
    type="button"
    small
    variant="outline"
    {...{ [`data-log-${name}`]: true }}
    {...attributes}
  />
)
