import { z } from 'zod'
import type { ZodType } from 'zod'
import { AppError, invalidField } from '../platform/errors.ts'
import type { FieldError } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { kindLook, kindOf, objectOf, objectsOf } from '../web/schema-fields.tsx'
import type { Options } from './form.tsx'
import { sealedAs } from './store.ts'

type Row = { id: string; [column: string]: unknown }
type Changed = {
  kind: string
  sealed?: readonly string[]
  sentTo?: readonly string[]
  neverSent?: readonly string[]
}
type Change = {
  secrets?: Secrets | undefined
  form: ZodType
  row: Row
  /** A form can't leave a field out: an empty one is as good as omitted. */
  isForm?: boolean
}

/** The body of a change, for the API document: every field may be omitted. */
export function partial(form: ZodType) {
  const objects = objectsOf(form).map(({ shape }) => z.object(shape).partial())
  return objects.length > 1 ? z.union(objects) : objects[0]!
}

/**
 * The sent fields, and the stored values of the others. A sealed one that is omitted, or empty in a form, stays,
 * unless a field changed that says where it is sent to: else whoever may change a row could have its secret sent
 * to them. One that Davit needs stays for null, too. The kind stays: its secrets are another's.
 */
export function completed(
  { kind, sealed = [], sentTo = [], neverSent = [] }: Changed,
  { secrets, form, row, isForm = false }: Change,
  data: Record<string, unknown>,
) {
  const object = objectOf(form, row.kind)
  if (kindOf(object) && 'kind' in data && data.kind !== row.kind)
    throw invalidField('kind', 'can’t be changed. Create another one instead.')
  const names = Object.keys(object.shape)
  const stored = Object.fromEntries(names.map((name) => [name, sendable(row[name])]))
  const moved = sentTo.find((name) => name in data && isOther(name))
  const refused: FieldError[] = []
  const kept = sealed
    .filter((name) => names.includes(name) && isLeft(name))
    .map((name) => [name, row[name] ? opened(name) : undefined])
  if (refused.length > 0)
    throw new AppError(
      'invalid',
      refused.map(({ field, message }) => `${field} ${message}`).join(' '),
      { fields: refused },
    )
  return { ...stored, ...data, ...Object.fromEntries(kept) }

  function isLeft(name: string) {
    const value = data[name]
    const clears = value === null && !isForm && !neverSent.includes(name)
    return !clears && (value ?? '') === ''
  }

  /** A host may be written in several ways. What the form refuses is said by its own field. */
  function isOther(name: string) {
    const field = (object.shape as Record<string, ZodType>)[name]
    const sent = field?.safeParse(data[name])
    return sent?.success === true && !isSame(sent.data, row[name] ?? null)
  }

  function opened(field: string) {
    const isMoved = moved && !neverSent.includes(field)
    if (isMoved) refused.push({ field, message: `must be entered again, for another ${moved}.` })
    else
      try {
        return secrets!.open(String(row[field]), sealedAs(kind, row.id))
      } catch {
        refused.push({ field, message: 'can no longer be read: enter it again.' })
      }
    return undefined
  }
}

/** For others than admins. */
export function refuseKind(form: ZodType, { kind }: { kind?: unknown }) {
  if (!kindLook(form, kind)?.adminOnly) return
  const fields = [{ field: 'kind', message: 'is for admins.' }]
  throw new AppError('forbidden', 'This kind is for admins.', { fields })
}

/** Of what is offered to the user, a field can only have that, and what the row has already. */
export function refuseUnoffered(options: Options | undefined, input: object, row: object = {}) {
  const valuesIn = (of: object, name: string) => [(of as Row)[name] ?? []].flat()
  for (const [name, offered] of Object.entries(options ?? {})) {
    const known = [...offered.map(({ value }) => value), ...valuesIn(row, name)]
    const other = valuesIn(input, name).find((value) => !known.includes(value))
    if (other !== undefined)
      throw invalidField(name, `can’t be ${other}: choose from what you are offered.`)
  }
}

/** The names of the fields that a change gives another value; a sealed one counts when it was sent or removed. */
export const changedFields = (
  { sealed = [] }: Pick<Changed, 'sealed'>,
  { before, after, sent }: Record<'before' | 'after' | 'sent', Record<string, unknown>>,
) =>
  Object.keys(sent).filter((name) =>
    sealed.includes(name)
      ? sent[name] || (before[name] && !after[name])
      : !isSame(before[name], after[name]),
  )

const sendable = (value: unknown) => (value instanceof Date ? value.toISOString() : value)

/** A form sends texts, and nothing for null. */
const isSame = (a: unknown, b: unknown) =>
  Bun.deepEquals(a ?? null, b ?? null) || String(a ?? '') === String(b ?? '')
