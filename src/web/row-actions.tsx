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
  replaces,
  children,
}: Props & {
  question?: Question
  /** The selector of the list that the response replaces; otherwise it is a dialog, or another page. */
  replaces?: string
}) => (
  <PostForm
    action={path}
    method="DELETE"
    {...(replaces ? { replaces } : { 'hx-target': '#modal' })}

    question={question}
  >
    <Button quiet variant="ghost" small aria-label={label}>
      {children}
    </Button>
  </PostForm>
)
