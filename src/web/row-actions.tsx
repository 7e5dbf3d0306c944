import type { Child } from 'hono/jsx'
import { Button, ButtonLink, PostForm } from './form.tsx'
import type { Question } from './form.tsx'

type Props = {
  path: string
  /** The action and its row, for screen readers. */
  label: string
  children: Child
}

export const DialogButton = ({ path, label, children }: Props) => (
  <ButtonLink variant="outline" small opens={path} aria-label={label}>
    {children}
  </ButtonLink>
)

/** Deletes a list row's object, after confirmation if there is a question. */
export const DeleteButton = ({
  path,
  label,
  question,
  target = '#modal',
  swap,
  children,
}: Props & {
  question?: Question
  target?: string
  swap?: string
}) => (
  <PostForm action={path} method="DELETE" hx-target={target} hx-swap={swap} question={question}>
    <Button quiet variant="ghost" small aria-label={label}>
      {children}
    </Button>
  </PostForm>
)
