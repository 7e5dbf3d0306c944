import { LogTool } from '../logs/log-tool.tsx'

/** What can be done with the log of a container. All but the download wakes up with container-log.js. */
export const LogTools = ({ download }: { download: string }) => (
  <div class="log-toolbar">
    <div class="log-search" data-scripted hidden>
      <label class="visually-hidden" for="log-query">
        Only lines with this text
      </label>
      <input
        id="log-query"
        class="input"
        type="search"
        placeholder="Only lines with…"
        autocomplete="off"
        spellcheck={false}
        maxlength={200}
        aria-keyshortcuts="/"
      />
    </div>
    <div class="log-choices" data-scripted hidden>
      <label class="visually-hidden" for="log-since">
        From
      </label>
      <select id="log-since" class="select">
        <option value="">Last lines</option>
        <option value="10m">10 minutes</option>
        <option value="1h">1 hour</option>
        <option value="1d">1 day</option>
        <option value="time">From a time…</option>
      </select>
      <input
        id="log-from"
        class="input"
        type="datetime-local"
        step="1"
        aria-label="From this time"
        hidden
      />
      <Toggle name="stdout">stdout</Toggle>
      <Toggle name="stderr">stderr</Toggle>
      <Toggle name="times">Times</Toggle>
    </div>
    <div class="log-buttons">
      <LogTool name="follow" data-scripted hidden>
        Pause
      </LogTool>
      <LogTool name="copy" data-scripted hidden>
        Copy
      </LogTool>
      <a class="btn" data-variant="outline" data-size="sm" href={download} data-log-download>
        Download
      </a>
    </div>
    <p class="log-state" data-log-state />
  </div>
)

const Toggle = ({ name, children }: { name: string; children: string }) => (
  <LogTool name={name} class="btn log-toggle" aria-pressed="true">
    {children}
  </LogTool>
)
