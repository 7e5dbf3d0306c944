import type { Child } from 'hono/jsx'
import { CopyButton } from './copy.tsx'
import { Icon } from './icons.tsx'
import { ButtonLink } from './form.tsx'

export type Crumb = { href: string; name: string }

export const PageHead = ({
  title,
  mark,
  beside,
  crumbs = [],
  doc,
  children,
}: {
  title: Child
  /** A logo or monogram before it. */
  mark?: Child
  /** A state or an address after it. */
  beside?: Child
  crumbs?: Crumb[]
  /** The documentation of the page: a document, and after `#` one of its headings. */
  doc?: string | undefined
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
      <div class="page-title">
        {mark}
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {doc && <HelpLink doc={doc} />}
        {beside}
      </div>
    </div>
    {children && <div class="actions">{children}</div>}
  </header>
)

/** The placeholder of an empty list, with the action for its first entry. */
export const EmptyState = ({ title, children }: { title: string; children?: Child }) => (
  <section class="empty-state">
    <h2>{title}</h2>
    {children}
  </section>
)

type MoreProps = { href: string; query?: Record<string, string>; nextCursor: string | null }

/** The link to the next page of a list; `query` is its filter. */
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

export type Secret = {
  text: string
  /** Names it on the button that copies it, such as “the token”. */
  what: string
  says: Child
}

/** A secret that can't be shown again; app.js copies it. */
export const ShownOnce = ({ text, what, says }: Secret) => (
  <div class="alert" role="status">
    <strong>{says}</strong>
    <section class="shown-once">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </section>
  </div>
)

type TroubleProps = {
  title: string
  code?: string | null
  children: Child
  hint?: string | null | undefined
  /** Details that are folded behind the hint. */
  more?: Child
  /** Shows a line of the hint, which unfolds. */
  isFolded?: boolean
  /** The action that fixes it. */
  action?: Child
  role?: 'alert' | 'status'
}

/** A problem, its cause, and what to do next. */
export const Trouble = ({
  title,
  code,
  children,
  hint,
  more,
  isFolded = false,
  action,
  role,
}: TroubleProps) => (
  <div class="failure" role={role}>
    <Icon name="triangle-alert" />
    <div class="failure-text">
      <h2>
        {title}
        {code && <code>{code}</code>}
      </h2>
      {children}
      {isFolded && (hint || more) ? (
        <details class="failure-more">
          <summary dir="auto">{hint ?? 'More lines'}</summary>
          {more}
          {code && <Meaning code={code} />}
        </details>
      ) : (
        <>
          {hint && (
            <p class="failure-hint" dir="auto">
              {hint}
            </p>
          )}
          {code && <Meaning code={code} />}
        </>
      )}
    </div>
    {action && <div class="failure-action">{action}</div>}
  </div>
)

const Meaning = ({ code }: { code: string }) => (
  <p>
    <DocLink doc={`failures#${code}`}>What this means</DocLink>
  </p>
)

/** The address of an app, which opens in a new tab. */
export const AppAddress = ({ url }: { url: string }) => (
  <span class="app-address">
    <a class="app-link" href={url} rel="noreferrer" target="_blank">
      {hostOf(url)}
      <Icon name="external-link" />
      <span class="visually-hidden">(opens in a new tab)</span>
    </a>
    <CopyButton text={url} what="the address" />
  </span>
)

/** An address for display. */
export const hostOf = (url: string) => url.replace(/^https?:\/\//, '')

/** A row of a `dl`. */
export const Fact = ({ name, children }: { name: Child; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** A value before and after a change. */
export const Difference = ({ from, to }: { from: string | null; to: string | null }) => (
  <>
    <del>{cut(from)}</del> <span aria-hidden="true">→</span> <ins>{cut(to)}</ins>
  </>
)

/** In characters: a value can be a whole file. */
const maxShown = 120

const cut = (value: string | null) => {
  if (value === null) return 'none'
  return value.length > maxShown ? `${value.slice(0, maxShown).toWellFormed()}…` : value
}

/** A commit in one line: short hash, and the message's first line. */
export const CommitRef = ({
  hash,
  message,
  author,
  copied = false,
}: {
  hash: string | null
  message?: string | null
  author?: string | null
  /** Adds a button that copies the whole hash. */
  copied?: boolean
}) =>
  hash ? (
    <span class="commit">
      <code title={hash}>{hash.slice(0, 7)}</code>
      {copied && <CopyButton text={hash} what="the commit’s hash" />}
      {message && <bdi class="commit-message">{message}</bdi>}
      {author && (
        <span class="muted">
          by <bdi>{author}</bdi>
        </span>
      )}
    </span>
  ) : null

/** Files that were uploaded in place of a commit. */
export const UploadRef = ({
  commit,
  message,
  dirty,
}: {
  commit: string | null
  message: string | null
  dirty: boolean
}) => (
  <span class="commit">
    {commit && <code title={commit}>{commit.slice(0, 7)}</code>}
    <span class="upload">{commit && dirty ? 'uploaded, dirty' : 'uploaded'}</span>
    {message && <bdi class="commit-message">{message}</bdi>}
  </span>
)

export const shortDigest = (digest: string) => digest.replace(/^sha256:/, '').slice(0, 12)

/** An image that was pulled, as its owner wrote it. */
export const PulledRef = ({
  reference,
  digest,
  copied = false,
}: {
  reference: string
  digest: string | null
  /** Adds a button that copies the digest. */
  copied?: boolean
}) => (
  <span class="commit">
    <bdi>{reference}</bdi>
    {digest && <code title={digest}>{shortDigest(digest)}</code>}
    {digest && copied && <CopyButton text={digest} what="the image’s digest" />}
  </span>
)

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

/** Opens in a new tab, where leaving the page would lose what it shows only once. */
export const DocTab = ({ doc, children }: Props & { children: Child }) => (
  <a href={docPath(doc)} target="_blank">
    {children}
    <span class="visually-hidden"> (opens in a new tab)</span>
  </a>
)

/** Placed beside a heading, for the whole section. */
export const HelpLink = ({ doc }: Props) => (
  <a class="help-link" href={docPath(doc)} title="Documentation">
    <Icon name="book-open" />
    <span class="visually-hidden">Documentation of this page</span>
  </a>
)
