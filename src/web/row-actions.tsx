import type { Child } from 'hono/jsx'
import { Button, ButtonLink, PostForm } from './form.tsx'
import type { Question } from './form.tsx'

type Props = {
  path: string
  /** The action and the row it is for, to those who hear the button alone. */
  label: string
  children: Child
}

/** Opens the dialog about what a row of a list shows. */
export const DialogButton = ({ path, label, children }: Props) => (
  <ButtonLink variant="outline" small opens={path} aria-label={label}>
    {children}
  </ButtonLink>
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
    <Button quiet variant="ghost" small aria-label={label}>
      {children}
    </Button>
  </PostForm>
)
