import type { Context } from 'hono'
import { Icon } from './icons.tsx'

/** With this header, app.js shows a message beside a part of the page that changed. */
const header = 'X-Davit-Said'

/** Adds a message to the part of a page in this response. */
export const sayNow = (c: Context, text: string) => c.header(header, encodeURIComponent(text))

/** The place of messages about changes; without script it is a line on top of the page. */
export const Toasts = ({ said }: { said: string | null }) => (
  <div id="toasts" role="status">
    {said !== null && (
      <p class="toast">
        <Icon name="check" />
        <span>{said}</span>
      </p>
    )}
  </div>
)
