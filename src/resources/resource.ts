import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { z, ZodObject, ZodType } from 'zod'
import type { Action, ObjectKind } from '../audit/actions.ts'
import type { Duplicates } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import type { Limited } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Env } from '../web/factory.ts'
import { creates, does, lists, listOf, nothing } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { View } from '../web/respond.tsx'
import type { Row } from './list.tsx'
import type { ResourceTable } from './store.ts'

/** A new resource, with additions to its response. */
export type Creation = {
  id: string
  /** JSON that is only available now, such as a secret. */
  extra?: object
  /** Replaces the dialog of its form. */
  dialog?: () => JSX.Element
  /** Shown once above the list, if there is no dialog. */
  note?: () => JSX.Element
}

/**
 * Describes a resource that users list, create and remove. Page, dialogs, JSON, OpenAPI operations, owner
 * checks and audit events follow from it.
 */
export type Resource<
  Deps extends { db: Db; secrets?: Secrets },
  Table extends ResourceTable,
  Form extends ZodType,
  Stored = Table['$inferSelect'],
> = {
  kind: ObjectKind
  /** As in “New git source” and “List your git sources”. */
  noun: string
  plural: string
  /** The path of its page and the prefix of its routes. */
  path: string
  title: string
  /** The tag in the API document. */
  part: string
  table: Table
  /** The owner's id; omitted if all admins share the rows. */
  owner?: SQLiteColumn
  adminOnly?: boolean
  /** Rows that don't match count as missing. */
  where?: () => SQL | undefined
  /** How many each owner may have. */
  most?: Limited
  /** Fields that are stored encrypted; see `sealedAs`. */
  sealed?: readonly string[]
  /** The field at fault, and its message. */
  unique?: Duplicates
  /** Only these keys of a row are returned. */
  json: () => ZodObject
  about: Child
  empty: { title: string; text: Child }
  row: (row: Stored) => Omit<Row, 'id'>
  /** The view of a single resource; by default the list with only this one. */
  item?: {
    /** A page or dialog, and JSON in addition to the row's. */
    view: (deps: Deps, c: Context<Env>, row: Stored) => Promise<View & { extra: object }>
    schema: () => ZodType
    note: string
  }
  create: {
    verb: 'Add' | 'Create'
    event: Action
    /** Without a form, a button creates one at once. */
    form?: (deps: Deps) => Form
    /** The label of the form's button, if it isn't the verb and noun. */
    submit?: string
    /** Fields that depend on the user. */
    more?: (deps: Deps, c: Context<Env>) => Child
    /** Returns the reason why none can be created on this server, if there is one. */
    off?: (deps: Deps) => string | null
    /** Throws for what the form alone can't refuse. */
    check?: (deps: Deps, input: z.output<Form>, signal: AbortSignal) => Promise<void>
    /** Checks, and stores the row; by default the fields of the form are its columns. */
    make?: (deps: Deps, c: Context<Env>, input: z.output<Form>) => Creation | Promise<Creation>
    details?: (row: Stored) => Record<string, string>
    /** The JSON of a new one, if it has more than others. */
    schema?: () => ZodType
    /** Added to the summary in the API document. */
    note?: string
  }
  remove: {
    verb: 'Remove' | 'Revoke'
    event: Action
    /** True when the response lists the remaining ones; otherwise it is an empty object. */
    lists?: boolean
    query?: ZodType
    note?: string
    /** Runs instead of deleting the row. A returned response is a dialog for confirmation. */
    run?: (deps: Deps, c: Context<Env>, row: Stored) => Response | Promise<Response> | void
  }
}

/** Infers the types of a description. */
export const resource = <
  Deps extends { db: Db; secrets?: Secrets },
  Table extends ResourceTable,
  Form extends ZodType,
>(
  described: Resource<Deps, Table, Form>,
) => described

/** For the API document. */
export const operationsOf =
  ({ path, part, noun, plural, json, item, create, remove }: Described): SliceOperations =>
  () => {
    const one = `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
    const others = remove.lists ? listOf(json()) : nothing
    return {
      [part]: {
        [`GET ${path}`]: lists(`List ${plural}`, json()),
        [`GET ${path}/:id`]: does(`Get ${one}${item?.note ?? ''}`, (item?.schema ?? json)()),
        [`POST ${path}`]: creates(
          `${create.verb} ${one}${create.note ?? ''}`,
          (create.schema ?? json)(),
        ),
        [`DELETE ${path}/:id`]: does(`${remove.verb} ${one}${remove.note ?? ''}`, others),
      },
    }
  }

type Any = Resource<never, never, never>
type Described = Pick<Any, 'path' | 'part' | 'noun' | 'plural' | 'json'> & {
  item?: Pick<NonNullable<Any['item']>, 'schema' | 'note'>
  create: Pick<Any['create'], 'verb' | 'schema' | 'note'>
  remove: Pick<Any['remove'], 'verb' | 'lists' | 'note'>
}
