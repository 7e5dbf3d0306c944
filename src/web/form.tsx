import { createContext, useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { DraftContext } from './draft.ts'
import type { Draft } from './draft.ts'
import { FormError } from './fields-view.tsx'
import type { FormMethod } from './form-method.ts'
import { Icon } from './icons.tsx'
import type { IconName } from './icons.tsx'

const Token = createContext('')

/** Provides the CSRF token of the request to all forms below. */
export const CsrfToken = ({ value, children }: { value: string; children: Child }) => (
  <Token.Provider value={value}>{children}</Token.Provider>
)

/** Submitted values, for sending them again. */
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
  /** The label of its submit button: a verb and its object. */
  answer: string
}

type Props = {
  action: string
  children: Child
  /** The route's method, if HTML forms don't have it. */
  method?: FormMethod
  /** The input of a refused form: its fields show it. */
  draft?: Draft | undefined
  question?: Question | undefined
  /** True when it has a field for a file. */
  upload?: boolean
  /** The selector of what the response replaces instead of the page's content. */
  replaces?: string | undefined
  id?: string
  class?: string
  'aria-labelledby'?: string
  [htmx: `hx-${string}`]: string | undefined
}

/**
 * A form that works without scripts, and before they have loaded. It always posts, so that no browser puts
 * its input into the address. With scripts htmx sends it, so that the input survives an unreachable server; a
 * refused form is rendered again.
 */
export const PostForm = ({
  action,
  children,
  method,
  draft,
  question,
  upload = false,
  replaces,
  ...attributes
}: Props) => (
  <form
    {...attributes}
    {...placeOf(replaces, attributes)}
    hx-sync="this:drop"
    method="post"
    action={action}
    enctype={upload ? 'multipart/form-data' : undefined}
    hx-post={action}
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

/** Where the response goes. While a part of the page waits for it, its button can't be pressed again. */
function placeOf(replaces: string | undefined, attributes: object) {
  if (replaces)
    return {
      'hx-target': replaces,
      'hx-swap': 'outerHTML',
      'hx-disable': 'find button[type=submit]',
      ...attributes,
    }
  return 'hx-target' in attributes
    ? {}
    : { 'hx-target': '#main', 'hx-swap': 'innerHTML show:window:top' }
}

/** The frame of fields: the error of the whole form above them, and a row of buttons below. */
export const Form = ({ children, buttons, ...form }: Props & { draft: Draft; buttons: Child }) => (
  <PostForm class="form" {...form}>
    <FormError />
    {children}
    <div class="form-actions">{buttons}</div>
  </PostForm>
)

type Look = {
  variant?: 'outline' | 'ghost' | 'destructive' | undefined
  small?: boolean
  /** Placed before the label. */
  icon?: IconName | undefined
}

type ButtonProps = JSX.IntrinsicElements['button'] &
  Look & {
    /** A destructive button, confirmed by a dialog. */
    quiet?: boolean
  }

export const Button = ({
  variant,
  small = false,
  quiet = false,
  icon,
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
    {icon && <Icon name={icon} />}
    {children}
  </button>
)

type LinkProps = JSX.IntrinsicElements['a'] &
  Look & {
    quiet?: boolean
    /** The address of a dialog: without script it is a page. */
    opens?: string
  }

export const ButtonLink = ({
  variant,
  small = false,
  quiet = false,
  icon,
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
    {icon && <Icon name={icon} />}
    {children}
  </a>
)

/** The end of a form that stays on its page. */
export const SaveRow = ({ label = 'Save changes' }: { label?: string }) => (
  <div class="form-actions start">
    <Button>{label}</Button>
  </div>
)
