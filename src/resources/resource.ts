import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { z, ZodObject, ZodType } from 'zod'
import { actions } from '../audit/actions.ts'
import type { Action, ObjectKind } from '../audit/actions.ts'
import type { Db } from '../db/index.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Secret } from '../web/components.tsx'
import type { Env } from '../web/factory.ts'
import { creates, does, lists, listOf, nothing } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { View } from '../web/respond.tsx'
import type { Options } from './form.tsx'
import type { Row } from './list.tsx'
import type { ResourceTable, StoredRows } from './store.ts'

export type Creation = {
  /** Null for what is only expected, such as a server that has yet to join: it has a name, and no row. */
  id: string | null
  name?: string
  /** JSON that is only available now, such as a secret. */
  extra?: object
  dialog?: () => JSX.Element
  /** Only shown now: in a dialog, or above the list. */
  once?: Secret
}

/** What its rows belong to, if that isn't the user: it is found through them, and deleted with its rows. */
export type Parent<Deps> = {
  /** Throws unless it is the user's; for a change also while it is being deleted. */
  find: (deps: Deps, c: Context<Env>, use: { isChange: boolean }) => { id: string; name: string }
  view: (deps: Deps, c: Context<Env>, list: { title: string; list: () => JSX.Element }) => View
}

/** Who asks. */
type By<Stored> = {
  ownerId: string
  signal: AbortSignal
  isAdmin: boolean
  /** True for an API token, which may do less than a person. */
  isToken: boolean
  row?: Stored
  /** The fields that get another value; of a new row those that have one. */
  changes: string[]
}

type Found<Stored> = {
  columns?: object
  /** Runs in the transaction that stores the row, after it. */
  also?: () => void
  extra?: object
  dialog?: (row: Stored) => JSX.Element
  once?: Secret
}

/** A row that something still needs. */
type User = { href: string; name: string }

/**
 * Describes a resource that users list, create, change and remove. Page, dialogs, JSON, OpenAPI operations,
 * owner checks and audit events follow from it.
 */
export type Resource<
  Deps extends { db: Db; secrets?: Secrets },
  Table extends ResourceTable,
  Form extends ZodType,
  Seen = Table['$inferSelect'],
  Stored = Table['$inferSelect'],
> = StoredRows<Table> & {
  /** Names it in the audit log, whose events are this and what was done: `registry.added`. */
  kind: ObjectKind
  /** As in “New git source” and “List your git sources”; by default the kind, and the title. */
  noun?: string
  plural?: string
  /** The path of its page and the prefix of its routes; it may have the ids of parents. */
  path: string
  title: string
  /** The tag in the API document. */
  part: string
  parent?: Parent<Deps>
  adminOnly?: boolean
  /** Fields that say where sealed ones are sent: when one is changed, those must be entered again. */
  sentTo?: readonly string[]
  /** Sealed fields that aren’t sent there: Davit itself creates and needs them, so null keeps them, too. */
  neverSent?: readonly string[]
  json: () => ZodObject
  about: Child
  /** What is said where there are none, under “No targets”. */
  empty: string
  none?: string
  /** Adds to a row what is stored elsewhere, for `row` and `json`. */
  see?: (deps: Deps, row: Stored) => Seen
  /** By default its name, and since when it is there. */
  row?: (row: Seen, c: Context<Env>) => Omit<Row, 'id'>
  /** Listed before the rows, such as what is only expected. */
  before?: (deps: Deps) => Row[]
  /** The view of a single resource; by default the list with only this one. */
  item?: {
    /** A page or dialog, and JSON in addition to the row's. */
    view: (deps: Deps, c: Context<Env>, row: Stored) => Promise<View & { extra: object }>
    schema: () => ZodType
    note: string
  }
  /** Shown below a single one. */
  below?: (deps: Deps, row: Stored, c: Context<Env>) => Promise<JSX.Element>
  create: {
    verb: 'Add' | 'Create'
    /** With kinds, only one’s fields are shown; see `kindForm`. */
    form: (deps: Deps) => Form
    /** The label of the form's button, if it isn't the verb and noun. */
    submit?: string
    /** The choices of fields that depend on the user, who can have no others; a field without any isn’t shown. */
    options?: (deps: Deps, c: Context<Env>) => Options
    /** Shown below the fields. */
    more?: (deps: Deps, c: Context<Env>) => Child
    /** Returns the reason why none can be created on this server, if there is one. */
    off?: (deps: Deps) => string | null
    /** Throws for what the form alone can't refuse, also of a change; that has all its fields. */
    check?: (deps: Deps, input: z.output<Form>, by: By<Stored>) => Promise<Found<Stored> | void>
    /** Checks, and stores the row; by default the fields of the form are its columns. */
    make?: (deps: Deps, c: Context<Env>, input: z.output<Form>) => Creation | Promise<Creation>
    details?: (row: Stored) => Record<string, string>
    /** The JSON of a new one, if it has more than others. */
    schema?: () => ZodType
    /** Added to the summary in the API document. */
    note?: string
  }
  change?: {
    /** What of it can be changed, if that isn’t the form that creates one. */
    form?: (row?: Stored) => ZodType
    submit?: string
    note?: string
    /** Stored values that its form shows in another way. */
    shown?: (row: Stored) => object
  }
  /** What else can be done with a row, by the end of its path: a button, and a POST. */
  acts?: Record<string, Act<Deps, Stored>>
  /** Runs after one was made, changed or removed. */
  stored?: (deps: Deps) => void
  remove: {
    verb: 'Remove' | 'Revoke' | 'Delete'
    /** What follows from it, added to the question before it. */
    warning?: string
    /** True when the response lists the remaining ones; otherwise it is an empty object. */
    lists?: boolean
    note?: string
    /** Runs instead of deleting the row. */
    run?: (deps: Deps, row: Stored, how: Removal) => Promise<void> | void
    /** What uses a row: its removal must be confirmed, or is refused without `without`. */
    users?: {
      list: (deps: Deps, row: Stored) => User[]
      /** What the users are without it, continued by their names. */
      without?: string
      /** What to do with users that it can’t be removed without. */
      todo?: string
      /** Null unless the row is lost; else what is said of it: its users are given up by `volumes=give_up`. */
      lost?: (deps: Deps, row: Stored) => string | null
    }
  }
}

type Removal = {
  /** What its users have on it, which is lost. */
  givesUp: boolean
  /** True for an API token, which may do less than a person. */
  isToken: boolean
}

type Act<Deps, Stored> = {
  button: string
  /** Its summary in the API document. */
  note: string
  json?: () => ZodType
  /** It creates what is answered, which `to` leads to. */
  creates?: boolean
  run: (deps: Deps, c: Context<Env>, row: Stored) => Promise<Acted> | Acted
  /** What it would do, asked by a GET: as JSON, and in the dialog that its button opens. */
  preview?: {
    note: string
    json: () => ZodType
    view: (deps: Deps, row: Stored) => Promise<{ text: Child; json: object }>
  }
}

type Acted = { said: string; to?: string; json?: () => unknown }

/** Infers the types of a description, and completes it. */
export const resource = <
  Deps extends { db: Db; secrets?: Secrets },
  Table extends ResourceTable,
  Form extends ZodType,
  Seen = Table['$inferSelect'],
>(
  described: Resource<Deps, Table, Form, Seen>,
) => {
  const { kind, title, noun = kind } = described
  const all = title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  return {
    ...{ noun, plural: `your ${all}`, none: `No ${all}` },
    unique: { name: `There is a ${noun} of that name. Choose another.` },
    ...described,
  }
}

/** The name of a row's id in its path; a parent may have the usual one. */
export const idIn = ({ path }: { path: string }) => (/:id\b/.test(path) ? 'rowId' : 'id')

/** What is noted of it, such as `registry.added`. */
export function eventOf({ kind }: { kind: string }, done: string) {
  const event = `${kind}.${done}`
  if (event in actions) return event as Action
  throw new Error(`audit/actions.ts doesn’t have ${event}`)
}

export const operationsOf =
  (resource: Described): SliceOperations =>
  () => {
    const { path, part, noun, plural, json, item, create, change, remove, acts = {} } = resource
    const one = `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
    const others = remove.lists ? listOf(json()) : nothing
    const ofOne = `${path}/:${idIn(resource)}` as const
    return {
      [part]: {
        [`GET ${path}`]: lists(`List ${plural}`, json()),
        [`GET ${ofOne}`]: does(`Get ${one}${item?.note ?? ''}`, (item?.schema ?? json)()),
        [`POST ${path}`]: creates(
          `${create.verb} ${one}${create.note ?? ''}`,
          (create.schema ?? json)(),
        ),
        ...(change && {
          [`PUT ${ofOne}`]: does(
            `Change ${one}; what is omitted stays${change.note ?? create.note ?? ''}`,
            json(),
          ),
        }),
        ...Object.fromEntries(
          Object.entries(acts).flatMap(([name, { note, preview, json: answer = json, ...act }]) => [
            ...(preview ? [[`GET ${ofOne}/${name}`, does(preview.note, preview.json())]] : []),
            [`POST ${ofOne}/${name}`, (act.creates ? creates : does)(note, answer())],
          ]),
        ),
        [`DELETE ${ofOne}`]: does(`${remove.verb} ${one}${remove.note ?? ''}`, others),
      },
    }
  }

type Any = Resource<never, never, never>
type Described = Pick<Any, 'path' | 'part' | 'json' | 'change'> & {
  noun: string
  plural: string
  item?: Pick<NonNullable<Any['item']>, 'schema' | 'note'>
  create: Pick<Any['create'], 'verb' | 'schema' | 'note'>
  acts?: Record<string, Pick<Act<never, never>, 'note' | 'json' | 'preview' | 'creates'>>
  remove: Pick<Any['remove'], 'verb' | 'lists' | 'note'>
}
