import type { Child } from 'hono/jsx'
import { PostForm } from './form.tsx'
import type { Question } from './form.tsx'

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

/** Deletes what a row of a list shows, once the question, if there is one, is answered with yes. */
export const DeleteButton = ({
  path,
  label,
  question,
  target = '#modal',
  swap,
  children,
}: Props & {
  question?: Question
  /** What the answer goes into, and how. */
  target?: string
  swap?: string
}) => (
  <PostForm
    action={path}
    method="DELETE"
    live
    hx-target={target}
    hx-swap={swap}
    question={question}
  >
    <button
      type="submit"
      class="btn quiet-danger"
      data-variant="ghost"
      data-size="sm"
      aria-label={label}
    >
      {children}
    </button>
  </PostForm>
)
