import { LogTool } from './log-tool.tsx'

/** What can be done with the log. All but the download wakes up with log-view.js. */
export const LogToolbar = ({ download }: { download: string }) => (
  <div class="log-toolbar">
    <div class="log-search" data-scripted hidden>
      <label class="visually-hidden" for="log-query">
        Search the log
      </label>
      <input
        id="log-query"
        class="input"
        type="search"
        placeholder="Search the log"
        autocomplete="off"
        spellcheck={false}
        maxlength={200}
        aria-describedby="log-matches"
        aria-keyshortcuts="/"
      />
      <output id="log-matches" class="log-matches" for="log-query" />
      <LogTool name="previous" aria-label="Previous match" disabled>
        ↑
      </LogTool>
      <LogTool name="next" aria-label="Next match" disabled>
        ↓
      </LogTool>
    </div>
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
      <a class="btn" data-variant="outline" data-size="sm" href={download} download>
        Download
      </a>
    </div>
  </div>
)
