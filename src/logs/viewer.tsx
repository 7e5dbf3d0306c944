import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { assetPath } from '../web/static.ts'
import { lineHtml } from './log-line.tsx'
import type { Line } from './log-line.tsx'

type Shown = {
  /** Where its lines are. */
  path: string
  /** Which of them it shows, as parameters of the address; all when empty. */
  query?: string
  heading: Child
  /** What there is to say about the lines that are shown, if anything. */
  note: string | null
  /** What stands above it. */
  children?: Child
  /** Whose lines it shows. */
  processes?: Child
}

/** A log as it is written, each line with its number, by which it can be found and linked to. */
export const LogViewer = ({
  extent: { first, last },
  lines,
  stream,
  endsWithDone = false,
  hasTimes = false,
  isJoined = false,
  ...shown
}: Shown & {
  /** Sequences of the first and the last line there is. */
  extent: { first: number; last: number }
  /** The last ones, for a reader without scripts and for the viewer to begin with. */
  lines: Line[]
  /** Where it is followed; null when nothing more comes. */
  stream: string | null
  /** Whether the stream has an end, which it tells. */
  endsWithDone?: boolean
  /** Whether its rows show times, and not numbers. */
  hasTimes?: boolean
  /** Whether its rows show which process wrote them. */
  isJoined?: boolean
}) => (
  <LogFrame
    {...shown}
    class={['log', hasTimes && 'kept', isJoined && 'joined'].filter(Boolean).join(' ')}
    rows={
      <div class="log-lines" data-first={first} data-last={last}>
        {raw(lines.map(lineHtml).join(''))}
      </div>
    }
    search="Search the log"
    found={
      <>
        <output id="log-matches" class="log-matches" for="log-query" />
        <LogTool name="previous" aria-label="Previous match" disabled>
          ↑
        </LogTool>
        <LogTool name="next" aria-label="Next match" disabled>
          ↓
        </LogTool>
      </>
    }
    buttons={
      <>
        <LogTool name="error" data-scripted hidden>
          First error
        </LogTool>
        <LogTool name="copy" data-scripted hidden disabled>
          Copy link
        </LogTool>
      </>
    }
    hits={hasTimes && <ol class="log-hits" aria-label="Lines found" hidden />}
  >
    {shown.children}
    {stream && (
      <div
        id="log-stream"
        hidden
        hx-sse:connect={withQuery(stream, `after=${last}`, shown.query)}
        {...(endsWithDone && { 'hx-sse:close': 'done' })}
        hx-trigger="connect"
        hx-swap="none"
      />
    )}
  </LogFrame>
)

/** A log with its tools, which log-view.js wakes up; it draws the rows in view, and asks for others. */
export const LogFrame = ({
  path,
  query = '',
  heading,
  note,
  children,
  processes,
  rows,
  search,
  found,
  choices,
  buttons,
  hits,
  ...attributes
}: Shown & {
  class: string
  'data-tail'?: string
  rows: Child
  /** What the field for a search says. */
  search: string
  found?: Child
  choices?: Child
  buttons: Child
  hits?: Child
}) => (
  <section {...attributes} data-log={path} data-log-query={query} aria-labelledby="log-heading">
    <h2 id="log-heading">{heading}</h2>
    {children}
    <div class="log-toolbar">
      <div class="log-search" data-scripted hidden>
        <label class="visually-hidden" for="log-query">
          {search}
        </label>
        <input
          id="log-query"
          class="input"
          type="search"
          placeholder={search}
          autocomplete="off"
          spellcheck={false}
          maxlength={200}
          aria-describedby={found && 'log-matches'}
          aria-keyshortcuts="/"
        />
        {found}
      </div>
      {choices}
      <p class="log-state" data-log-state />
      <div class="log-buttons">
        <LogTool name="follow" data-scripted hidden>
          Follow
        </LogTool>
        {buttons}
        <a
          class="btn"
          data-variant="outline"
          data-size="sm"
          href={withQuery(path, 'download=1', query)}
          download
          data-log-download
        >
          Download
        </a>
      </div>
    </div>
    {hits}
    {processes}
    <div class="log-scroller" role="log" aria-live="off" aria-labelledby="log-heading" tabindex={0}>
      {note && <p class="log-note">{note}</p>}
      {rows}
    </div>
    <script type="module" src={assetPath('log-view.js')} />
  </section>
)

const withQuery = (path: string, parameters: string, query = '') =>
  `${path}?${parameters}${query && `&${query}`}`

/** A small button for a log, which its viewer finds as `data-log-` and the name. */
export const LogTool = ({
  name,
  children,
  ...attributes
}: JSX.IntrinsicElements['button'] & { name: string }) => (
  <button
    type="button"
    class="btn"
    data-variant="outline"
    data-size="sm"
    {...{ [`data-log-${name}`]: true }}
    {...attributes}
  >
    {children}
  </button>
)
