import type { Child } from 'hono/jsx'
import type { Draft } from './draft.ts'
import type { FormMethod } from './factory.ts'
import { FormError } from './fields-view.tsx'
import { Button, PostForm } from './form.tsx'

/**
 * A dialog for the layout's `#modal`; app.js opens it when it arrives and gives the focus back when
 * it closes. Its buttons come with the form inside.
 */
export const Modal = ({
  title,
  children,
  wide = false,
}: {
  title: Child
  children: Child
  wide?: boolean
}) => (
  <dialog class={wide ? 'dialog modal wide' : 'dialog modal'} aria-labelledby="modal-title">
    <div>
      <header>
        <h2 id="modal-title">{title}</h2>
      </header>
      <section>{children}</section>
    </div>
  </dialog>
)

/** The last row of a dialog in which something is chosen. */
export const ModalActions = ({ children }: { children?: Child }) => (
  <footer class="form-actions">
    <Button type="button" variant="outline" data-close>
      Cancel
    </Button>
    {children}
  </footer>
)

/** The one button of a dialog that only says something. */
export const ModalDone = () => (
  <div class="form-actions">
    <Button type="button" data-close>
      Done
    </Button>
  </div>
)

/** A dialog that is a form; refused, it takes its own place, in `#modal` or on a page of its own. */
export const ModalForm = ({
  title,
  action,
  method,
  draft,
  submit,
  destructive = false,
  wide = false,
  children,
}: {
  title: Child
  action: string
  method?: FormMethod
  draft?: Draft
  /** What its button says. */
  submit: string
  destructive?: boolean
  wide?: boolean
  children: Child
}) => (
  <Modal title={title} wide={wide}>
    <PostForm
      class="form"
      {...{ action, draft }}
      {...(method && { method })}
      live
      hx-target="closest dialog"
      hx-swap="outerHTML"
      hx-disable="find button[type=submit]"
    >
      <FormError />
      {children}
      <ModalActions>
        <Button variant={destructive ? 'destructive' : undefined}>{submit}</Button>
      </ModalActions>
    </PostForm>
  </Modal>
)
