import type { Child } from 'hono/jsx'

type Props = {
  path: string
  /** The action and the row it is for, to those who hear the button alone. */
  label: string
  children: Child
}

/** Opens the dialog about what a row of a list shows. */
export const DialogButton = ({ path, label, children }: Props) => (
  <button
    type="button"
    class="btn"
    data-variant="outline"
    data-size="sm"
    hx-get={path}
    hx-target="#modal"
    aria-label={label}
  >
    {children}
  </button>
)

/** Deletes what a row of a list shows, once the question is answered with yes. */
export const DeleteButton = ({ path, label, question, children }: Props & { question: string }) => (
  <button
    type="button"
    class="btn quiet-danger"
    data-variant="ghost"
    data-size="sm"
    hx-delete={path}
    hx-target="#modal"
    hx-confirm={question}
    aria-label={label}
  >
    {children}
  </button>
)
