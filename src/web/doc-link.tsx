import type { Child } from 'hono/jsx'
import { Icon } from './icons.tsx'

/** The address of the documentation, or of a part of it: `edge`, or `edge#https` for a heading. */
export const docPath = (doc?: string) => (doc ? `/docs/${doc}` : '/docs')

type Props = {
  /** A document, and after `#` one of its headings. */
  doc: string
}

/** Leads to what the documentation says about something. */
export const DocLink = ({ doc, children }: Props & { children: Child }) => (
  <a class="doc-link" href={docPath(doc)}>
    {children}
  </a>
)

/** The same beside a heading, for all that stands below it. */
export const HelpLink = ({ doc }: Props) => (
  <a class="help-link" href={docPath(doc)} title="Documentation">
    <Icon name="book-open" />
    <span class="visually-hidden">Documentation of this page</span>
  </a>
)
