import type { Context } from 'hono'
import { Icon } from './icons.tsx'

/** The header that has app.js show a sentence beside a part of the page that changed. */
const header = 'X-Davit-Said'

/** Says a sentence with the part of a page that this answers. */
export const sayNow = (c: Context, text: string) => c.header(header, encodeURIComponent(text))

/** Where sentences about changes stand; without script it is a line on top of the page. */
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
