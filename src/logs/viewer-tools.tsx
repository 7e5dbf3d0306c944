import type { JSX } from 'hono/jsx/jsx-runtime'
import { Icon } from '../web/icons.tsx'
import type { Chosen } from './filter-choice.tsx'

/** Without scripts it opens the page with matching lines. */
export const LogSearch = ({ page, chosen }: { page: string; chosen: Chosen }) => (
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
export const LogOptions = () => (
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
