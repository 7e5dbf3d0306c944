import { createContext, useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { DraftContext } from './draft.ts'
import type { Draft } from './draft.ts'
import type { FormMethod } from './factory.ts'
import { CheckIcon } from './icons.tsx'

const Token = createContext('')

/** Gives every form below it the CSRF token of the request. */
export const CsrfToken = ({ value, children }: { value: string; children: Child }) => (
  <Token.Provider value={value}>{children}</Token.Provider>
)

/** What was sent before, to be sent again. */
export const HiddenFields = ({ fields }: { fields: { name: string; value: string }[] }) => (
  <>
    {fields.map(({ name, value }) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
)

/** Asked before a form is sent: by a dialog, or without script by a page. */
export type Question = {
  text: string
  /** What the button that sends it says: a verb and its object. */
  answer: string
}

type Props = {
  action: string
  children: Child
  /** That of the route, where it is none that a form has. */
  method?: FormMethod
  /** What was typed into it, where it was refused: its fields show that. */
  draft?: Draft | undefined
  /** htmx sends it once it is there, and its attributes say what becomes of the answer. */
  live?: boolean
  question?: Question | undefined
  /** It has a field for a file. */
  upload?: boolean
  id?: string
  class?: string
  'aria-labelledby'?: string
  [htmx: `hx-${string}`]: string | undefined
}

/**
 * A form that works without scripts, and before they have loaded: it always posts, lest a browser puts
 * what was typed into the address. What navigates is posted natively, so that a 303 is a 303.
 */
export const PostForm = ({
  action,
  children,
  method,
  draft,
  live = false,
  question,
  upload = false,
  ...attributes
}: Props) => (
  <form
    {...attributes}
    method="post"
    action={action}
    enctype={upload ? 'multipart/form-data' : undefined}
    hx-post={live ? action : undefined}
    hx-confirm={question?.text}
  >
    <input type="hidden" name="csrf_token" value={useContext(Token)} />
    {method && <input type="hidden" name="_method" value={method} />}
    {question && (
      <>
        <input type="hidden" name="_question" value={question.text} />
        <input type="hidden" name="_answer" value={question.answer} />
      </>
    )}
    {draft ? <DraftContext.Provider value={draft}>{children}</DraftContext.Provider> : children}
  </form>
)

type Look = { variant?: 'outline' | 'ghost' | 'destructive' | undefined; small?: boolean }

type ButtonProps = JSX.IntrinsicElements['button'] &
  Look & {
    /** Destroys something, which a dialog asks about first. */
    quiet?: boolean
  }

/** Sends its form. */
export const Button = ({
  variant,
  small = false,
  quiet = false,
  type = 'submit',
  children,
  ...rest
}: ButtonProps) => (
  <button
    type={type}
    class={quiet ? 'btn quiet-danger' : 'btn'}
    data-variant={variant}
    data-size={small ? 'sm' : undefined}
    {...rest}
  >
    {children}
  </button>
)

type LinkProps = JSX.IntrinsicElements['a'] &
  Look & {
    quiet?: boolean
    /** The address of a dialog: without script it is a page of its own. */
    opens?: string
  }

/** A link that looks like a button. */
export const ButtonLink = ({
  variant,
  small = false,
  quiet = false,
  opens,
  children,
  ...rest
}: LinkProps) => (
  <a
    class={quiet ? 'btn quiet-danger' : 'btn'}
    data-variant={variant}
    data-size={small ? 'sm' : undefined}
    href={opens}
    hx-get={opens}
    hx-target={opens && '#modal'}
    {...rest}
  >
    {children}
  </a>
)

/** The end of a form that stays on its page: the button, and that it was saved. */
export const SaveRow = ({
  label = 'Save',
  saved,
}: {
  label?: string
  /** What to say once it is done. */
  saved: string | false
}) => (
  <div class="form-actions start">
    <Button>{label}</Button>
    {saved && (
      <p class="saved" role="status" data-announce={saved}>
        <CheckIcon />
        {saved}
      </p>
    )}
  </div>
)
