import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { EmptyState } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'

export type Row = {
  id: string
  name?: string
  /** Of its page; the name leads there. */
  href?: string
  /** Replaces the name. */
  title?: Child
  /** Names the row in its buttons' labels, if it has no name. */
  label?: string
  mark?: Child
  /** A state after the name. */
  badge?: Child
  tags?: Child[]
  facts?: Child[]
  /** Added to the facts: by default that it was created, and when. */
  since?: Child
  /** Under the facts, such as what unfolds. */
  below?: Child
  /** Shown before the remove button. */
  actions?: Child
  question?: string
  /** Which of the acts it has, if not all. */
  acts?: string[]
  /** Can be neither changed nor removed. */
  isKept?: boolean
  /** False for one that can only be changed. */
  isRemovable?: boolean
}

export const past = {
  ...{ Add: 'added', Create: 'created', Save: 'saved' },
  ...{ Remove: 'removed', Revoke: 'revoked', Delete: 'deleted' },
}

/** How a list is shown: whole, or one of it with what is below it. */
export type ListOptions<Stored> = {
  only?: Stored
  note?: (() => JSX.Element) | undefined
  below?: JSX.Element | undefined
  isOob?: boolean
}

type Words = {
  noun: string
  kind: string | undefined
  made: 'Add' | 'Create'
  verb: string
  warning?: string
}

/** What a description need not say of a row: its name, kind and age, and the question before it is removed. */
export function completeRow(
  stored: { id: string; name?: unknown; createdAt?: unknown },
  described: Omit<Row, 'id'> = {},
  { noun, kind, made, verb, warning = '' }: Words,
): Row {
  const name = described.title ? undefined : String(described.name ?? stored.name)
  const since = stored.createdAt instanceof Date && [past[made], ' ', <Ago at={stored.createdAt} />]
  return {
    ...{ since, tags: kind ? [kind] : [], ...described, id: stored.id },
    ...(name && { name, question: `${verb} the ${noun} ${name}? ${warning}`.trim() }),
  }
}

type Props = {
  path: string
  title: string
  about: Child
  empty?: { title: string; text?: Child }
  /** The button that creates a resource; null when none can be created. */
  action: Child
  /** Shown once, above the rows. */
  note?: Child
  rows: Row[]
  nextCursor: string | null
  mayChange?: boolean
  /** What else can be done with a row, by the end of its path. */
  acts?: Record<string, { button: string; preview?: unknown }>
  /** With `asks` the response may be a dialog. Left out where none can be removed. */
  remove?: { verb: string; noun: string; asks: boolean }
  /** True when the list is kept up to date, on a page that is live. */
  isLive?: boolean
  /** Swapped out of band, in addition to the main response. */
  isOob?: boolean
  /** Shown under a single row. */
  below?: Child
}

export const ResourceList = ({ path, title, about, empty, action, rows, ...props }: Props) => (
  <>
    <SettingsList
      id={listId(path)}
      aria-label={title}
      {...(props.isOob && { 'hx-swap-oob': 'true' })}
      about={about}
      action={rows.length > 0 && action}
      rows={rows.map((row) => (
        <ResourceRow {...{ path, row, ...props }} />
      ))}
      empty={
        empty && (
          <EmptyState title={empty.title}>
            {empty.text && <p>{empty.text}</p>}
            {action}
          </EmptyState>
        )
      }
      isLive={props.isLive ?? false}
      more={{ href: path, nextCursor: props.nextCursor }}
    >
      {props.note}
    </SettingsList>
    {props.below}
  </>
)

export const NewButton = ({ path, noun }: { path: string; noun: string }) => (
  <ButtonLink icon="plus" opens={`${path}/new`}>
    New {noun}
  </ButtonLink>
)

type ActButtonProps = { path: string; label: string; act: NonNullable<Props['acts']>[string] }

export const ActButton = ({ path, label, act: { button, preview } }: ActButtonProps) =>
  preview ? (
    <DialogButton {...{ path, label }}>{button}…</DialogButton>
  ) : (
    <PostForm action={path}>
      <Button variant="outline" small aria-label={label}>
        {button}
      </Button>
    </PostForm>
  )

const listId = (path: string) => path.split('/').at(-1)!

const linked = (href: string | undefined, name: Child) => (href ? <a href={href}>{name}</a> : name)

const ResourceRow = ({
  path,
  row,
  remove,
  mayChange = false,
  acts = {},
}: Pick<Props, 'path' | 'remove' | 'mayChange' | 'acts'> & { row: Row }) => (
  <li id={`row-${row.id}`}>
    {row.mark}
    <div class="row-main">
      <strong>{row.title ?? linked(row.href, <bdi>{row.name}</bdi>)}</strong>
      {row.badge && [' ', <span class="badge">{row.badge}</span>]}
      {row.tags?.filter(Boolean).map((tag) => [' ', <span class="tag">{tag}</span>])}
      <p class="row-facts">
        {[...(row.facts ?? []), row.since].filter(Boolean).map((fact) => (
          <span>{fact}</span>
        ))}
      </p>
      {row.below}
    </div>
    <div class="row-actions">
      {(row.acts ?? Object.keys(acts)).map((name) => (
        <ActButton
          path={`${path}/${row.id}/${name}`}
          label={`${acts[name]!.button}: ${row.label ?? row.name}`}
          act={acts[name]!}
        />
      ))}
      {row.actions}
      {mayChange && !row.isKept && (
        <DialogButton path={`${path}/${row.id}/edit`} label={`Edit ${row.label ?? row.name}`}>
          Edit
        </DialogButton>
      )}
      {remove && !row.isKept && row.isRemovable !== false && (
        <DeleteButton
          path={`${path}/${row.id}`}
          label={`${remove.verb} ${row.label ?? row.name}`}
          {...(row.question && {
            question: { text: row.question, answer: `${remove.verb} ${remove.noun}` },
          })}
          {...(!remove.asks && { replaces: `#${listId(path)}` })}
        >
          {remove.verb}
        </DeleteButton>
      )}
    </div>
  </li>
)
