import { Icon } from './icons.tsx'

/** app.js copies the text and confirms it; without script there is no button. */
export const CopyButton = ({
  text,
  what,
}: {
  text: string
  /** Completes the button's name: “Copy the address”. */
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
