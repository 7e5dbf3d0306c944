import type { Child } from 'hono/jsx'

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

/** The last row of a form in a dialog. */
export const ModalActions = ({ children }: { children: Child }) => (
  <footer class="form-actions">
    <button type="button" class="btn" data-variant="outline" data-close>
      Cancel
    </button>
    {children}
  </footer>
)
