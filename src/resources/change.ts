import { z } from 'zod'
import type { ZodType } from 'zod'
import { invalidField } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { kindOf, objectOf, objectsOf } from '../web/schema-fields.tsx'
import { sealedAs } from './store.ts'

type Row = { id: string; [column: string]: unknown }
type Changed = { kind: string; sealed?: readonly string[]; sentTo?: readonly string[] }

/** The body of a change, for the API document: every field may be omitted. */
export function partial(form: ZodType) {
  const objects = objectsOf(form).map(({ shape }) => z.object(shape).partial())
  return objects.length > 1 ? z.union(objects) : objects[0]!
}

/**
 * The sent fields, and the stored values of the others. A sealed one that is omitted or empty stays, unless a
 * field changed that says where it is sent to: else whoever may change a row could have its secret sent to them.
 * The kind stays: its secrets are another's.
 */
export function completed(
  { kind, sealed = [], sentTo = [] }: Changed,
  { secrets, form, row }: { secrets?: Secrets | undefined; form: ZodType; row: Row },
  data: Record<string, unknown>,
) {
  const object = objectOf(form, row.kind)
  if (kindOf(object) && 'kind' in data && data.kind !== row.kind)
    throw invalidField('kind', 'can’t be changed. Create another one instead.')
  const names = Object.keys(object.shape)
  const stored = Object.fromEntries(names.map((name) => [name, row[name]]))
  const isSentElsewhere = sentTo.some(
    (name) => name in data && !isSame(asStored(name), row[name] ?? null),
  )
  const kept = sealed
    .filter((name) => names.includes(name) && (data[name] ?? '') === '')
    .map((name) => [name, isSentElsewhere || !row[name] ? undefined : opened(name)])
  return { ...stored, ...data, ...Object.fromEntries(kept) }

  /** A host may be written in several ways. */
  function asStored(name: string) {
    const field = (object.shape as Record<string, ZodType>)[name]
    return field?.safeParse(data[name]).data ?? data[name]
  }

  function opened(name: string) {
    try {
      return secrets!.open(String(row[name]), sealedAs(kind, row.id))
    } catch {
      return undefined // refused as missing: it must be entered again
    }
  }
}

/** The names of the fields that a change gave another value; a sealed one counts when it was sent. */
export const changedFields = (
  { sealed = [] }: Changed,
  { before, after, sent }: { before: Row; after: Row; sent: Record<string, unknown> },
) =>
  Object.keys(sent).filter((name) =>
    sealed.includes(name) ? (sent[name] ?? '') !== '' : !isSame(before[name], after[name]),
  )

/** A form sends texts, and nothing for null. */
const isSame = (a: unknown, b: unknown) =>
  Bun.deepEquals(a ?? null, b ?? null) || String(a ?? '') === String(b ?? '')
