import { Icon } from './icons.tsx'

/** Copies a text by app.js, which says so; there is none without script. */
export const CopyButton = ({
  text,
  what,
}: {
  text: string
  /** What it is, in the button's name: “Copy the address”. */
  what: string
}) => (
  <button
    type="button"
    class="copy"
    data-copy={text}
    aria-label={`Copy ${what}`}
    title={`Copy ${what}`}
  >
    <Icon name="copy" />
    <Icon name="check" />
  </button>
)
