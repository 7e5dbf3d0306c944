import type { Child } from 'hono/jsx'
import { raw } from 'hono/html'
import { assetPath } from '../web/static.ts'
import { lineHtml } from './log-line.tsx'
import type { Line } from './log-line.tsx'
import { LogToolbar } from './log-toolbar.tsx'

/** A log as it is written, with what can be done with it. Its script draws the lines in view, and asks for others. */
export const LogViewer = ({
  path,
  heading,
  extent: { first, last },
  lines,
  note,
  stream,
  endsWithDone = false,
  hasTimes = false,
  children,
}: {
  /** Where its lines are. */
  path: string
  heading: Child
  /** Sequences of the first and the last line there is. */
  extent: { first: number; last: number }
  /** The last ones, for a reader without scripts and for the viewer to begin with. */
  lines: Line[]
  /** What there is to say about those, if anything. */
  note: string | null
  /** Where it is followed; null when nothing more comes. */
  stream: string | null
  /** Whether the stream has an end, which it tells. */
  endsWithDone?: boolean
  /** Whether its rows show times, and not numbers. */
  hasTimes?: boolean
  /** What stands above it. */
  children?: Child
}) => (
  <>
    <section class={hasTimes ? 'log kept' : 'log'} data-log={path} aria-labelledby="log-heading">
      <h2 id="log-heading">{heading}</h2>
      {children}
      <LogToolbar download={`${path}?download=1`} />
      {hasTimes && <ol class="log-hits" aria-label="Lines found" hidden />}
      <div
        class="log-scroller"
        role="log"
        aria-live="off"
        aria-labelledby="log-heading"
        tabindex={0}
      >
        {note && <p class="log-note">{note}</p>}
        <div class="log-lines" data-first={first} data-last={last}>
          {raw(lines.map(lineHtml).join(''))}
        </div>
      </div>
      {stream && (
        <div
          id="log-stream"
          hidden
          hx-sse:connect={`${stream}?after=${last}`}
          {...(endsWithDone && { 'hx-sse:close': 'done' })}
          hx-trigger="connect"
          hx-swap="none"
        />
      )}
    </section>
    <script type="module" src={assetPath('log-view.js')} />
  </>
)
