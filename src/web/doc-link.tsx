import type { Child } from 'hono/jsx'
import { Icon } from './icons.tsx'

/** A page of the documentation, or one of its headings: `edge`, or `edge#https`. */
export const docPath = (doc?: string) => (doc ? `/docs/${doc}` : '/docs')

type Props = {
  /** A document, and after `#` one of its headings. */
  doc: string
}

export const DocLink = ({ doc, children }: Props & { children: Child }) => (
  <a class="doc-link" href={docPath(doc)}>
    {children}
  </a>
)

/** Placed beside a heading, for the whole section. */
export const HelpLink = ({ doc }: Props) => (
  <a class="help-link" href={docPath(doc)} title="Documentation">
    <Icon name="book-open" />
    <span class="visually-hidden">Documentation of this page</span>
  </a>
)
