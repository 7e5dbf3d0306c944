import { createContext, useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import { PageHead } from './components.tsx'
import type { Crumb } from './components.tsx'
import type { Draft } from './draft.ts'
import type { FormMethod } from './form-method.ts'
import { FormError } from './fields-view.tsx'
import { Button, ButtonLink, PostForm } from './form.tsx'

/** True when the dialog is rendered into the open page, and not into its own frame. */
export const InDialog = createContext(false)

/** The page that a dialog belongs to, for its buttons. */
const From = createContext<Crumb>({ href: '/dashboard', name: 'Dashboard' })

type ModalProps = {
  title: Child
  children: Child
  /** The page that opens it, and that it returns to when its own address was opened. */
  from: Crumb
  wide?: boolean
  /** True when it shows what can't be shown again: only its button closes it, not Escape. */
  stays?: boolean
}

/**
 * A dialog for the layout's `#modal`, which app.js opens when it arrives, or a separate page when its address
 * was opened. The form inside adds the buttons.
 */
export const Modal = ({ title, children, from, wide = false, stays = false }: ModalProps) => (
  <From.Provider value={from}>
    {useContext(InDialog) ? (
      <dialog
        class={wide ? 'dialog modal wide' : 'dialog modal'}
        closedby={stays ? 'none' : undefined}
        aria-labelledby="modal-title"
      >
        <div>
          <header>
            <h2 id="modal-title">{title}</h2>
          </header>
          <section>{children}</section>
        </div>
      </dialog>
    ) : (
      <section class="narrow">
        <PageHead title={title} crumbs={[from]} />
        {children}
      </section>
    )}
  </From.Provider>
)

/** Heads a part of a dialog; one level higher when the dialog is a separate page. */
export const DialogHeading = ({ id, children }: { id?: string; children: Child }) =>
  useContext(InDialog) ? <h3 id={id}>{children}</h3> : <h2 id={id}>{children}</h2>

/** The last row of a dialog with choices. */
export const ModalActions = ({ children }: { children?: Child }) => (
  <footer class="form-actions">
    <CloseButton variant="outline">Cancel</CloseButton>
    {children}
  </footer>
)

/** A dialog that only informs. */
export const InfoModal = ({ children, ...modal }: ModalProps) => (
  <Modal {...modal}>
    <div class="form">
      {children}
      <div class="form-actions">
        <CloseButton>{modal.stays ? 'Done' : 'Close'}</CloseButton>
      </div>
    </div>
  </Modal>
)

const CloseButton = ({ variant, children }: { variant?: 'outline'; children: Child }) =>
  useContext(InDialog) ? (
    <Button type="button" variant={variant} data-close>
      {children}
    </Button>
  ) : (
    <ButtonLink variant={variant} href={useContext(From).href}>
      {children}
    </ButtonLink>
  )

/** A dialog that is a form; when refused, it replaces itself, in `#modal` or on its own page. */
export const ModalForm = ({
  title,
  from,
  action,
  method,
  draft,
  submit,
  destructive = false,
  wide = false,
  upload = false,
  children,
}: ModalProps & {
  action: string
  method?: FormMethod
  draft?: Draft
  /** The label of its button. */
  submit: string
  destructive?: boolean
  /** True when it has a field for a file. */
  upload?: boolean
}) => (
  <Modal title={title} from={from} wide={wide}>
    <PostForm
      class="form"
      {...{ action, draft, upload }}
      {...(method && { method })}
      {...(useContext(InDialog) && { replaces: 'closest dialog' })}
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
