import type { Child } from 'hono/jsx'
import { ExternalIcon, WarningIcon } from './icons.tsx'
import { Button, ButtonLink } from './form.tsx'

export type Crumb = { href: string; name: string }

/** The heading of a page, the way back, and what can be done here. */
export const PageHead = ({
  title,
  crumbs = [],
  children,
}: {
  title: Child
  crumbs?: Crumb[]
  children?: Child
}) => (
  <header class="page-head">
    <div>
      {crumbs.length > 0 && (
        <nav class="crumbs" aria-label="You are here">
          {crumbs.map(({ href, name }) => (
            <a href={href}>
              <bdi>{name}</bdi>
            </a>
          ))}
        </nav>
      )}
      <h1>
        <bdi>{title}</bdi>
      </h1>
    </div>
    {children && <div class="actions">{children}</div>}
  </header>
)

/** What stands where a list would be, and the way to its first entry. */
export const EmptyState = ({ title, children }: { title: string; children?: Child }) => (
  <section class="empty-state">
    <h2>{title}</h2>
    {children}
  </section>
)

type MoreProps = { href: string; query?: Record<string, string>; nextCursor: string | null }

/** The rest of a list that comes in pages; `query` is what it is filtered by. */
export const MoreLink = ({ href, query, nextCursor }: MoreProps) =>
  nextCursor && (
    <p class="more">
      <ButtonLink
        variant="outline"
        href={`${href}?${new URLSearchParams({ ...query, cursor: nextCursor })}`}
      >
        Show older
      </ButtonLink>
    </p>
  )

/** A secret that can't be shown again; app.js copies it. */
export const ShownOnce = ({ text, children }: { text: string; children: Child }) => (
  <div class="alert" role="status">
    <strong>{children}</strong>
    <section class="shown-once">
      <code>{text}</code>
      <Button type="button" variant="outline" small data-copy={text}>
        Copy
      </Button>
    </section>
  </div>
)

type TroubleProps = {
  title: string
  code?: string | null
  children: Child
  hint?: string | null | undefined
  role?: 'alert' | 'status'
}

/** What went wrong, why, and what to do next. */
export const Trouble = ({ title, code, children, hint, role }: TroubleProps) => (
  <div class="failure" role={role}>
    <WarningIcon />
    <div>
      <h2>
        {title}
        {code && <code>{code}</code>}
      </h2>
      {children}
      {hint && (
        <p class="failure-hint" dir="auto">
          {hint}
        </p>
      )}
    </div>
  </div>
)

/** The address of an app, which opens beside Davit. */
export const AppAddress = ({ url }: { url: string }) => (
  <a class="app-link" href={url} rel="noreferrer" target="_blank">
    {hostOf(url)}
    <ExternalIcon />
    <span class="visually-hidden">(opens in a new tab)</span>
  </a>
)

/** An address as a person reads it. */
export const hostOf = (url: string) => url.replace(/^https?:\/\//, '')

/** A row of a `dl`. */
export const Fact = ({ name, children }: { name: string; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** A commit in one line: short hash, and the message's first line. */
export const CommitRef = ({
  hash,
  message,
  author,
}: {
  hash: string | null
  message?: string | null
  author?: string | null
}) =>
  hash ? (
    <span class="commit">
      <code title={hash}>{hash.slice(0, 7)}</code>
      {message && <bdi class="commit-message">{message}</bdi>}
      {author && (
        <span class="muted">
          by <bdi>{author}</bdi>
        </span>
      )}
    </span>
  ) : null
