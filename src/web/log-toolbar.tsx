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
      <button
        type="button"
        class="btn"
        data-variant="outline"
        data-size="sm"
        data-log-previous
        aria-label="Previous match"
        disabled
      >
        ↑
      </button>
      <button
        type="button"
        class="btn"
        data-variant="outline"
        data-size="sm"
        data-log-next
        aria-label="Next match"
        disabled
      >
        ↓
      </button>
    </div>
    <p class="log-state" data-log-state />
    <div class="log-buttons">
      <button
        type="button"
        class="btn"
        data-variant="outline"
        data-size="sm"
        data-scripted
        data-log-follow
        hidden
      >
        Follow
      </button>
      <button
        type="button"
        class="btn"
        data-variant="outline"
        data-size="sm"
        data-scripted
        data-log-error
        hidden
      >
        First error
      </button>
      <button
        type="button"
        class="btn"
        data-variant="outline"
        data-size="sm"
        data-scripted
        data-log-copy
        hidden
        disabled
      >
        Copy link
      </button>
      <a class="btn" data-variant="outline" data-size="sm" href={download} download>
        Download
      </a>
    </div>
  </div>
)
