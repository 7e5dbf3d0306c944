import { useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import type { ZodType } from 'zod'
import { ShownOnce } from '../web/components.tsx'
import type { Crumb, Secret } from '../web/components.tsx'
import { InDialog, InfoModal, ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import {
  FoldedFields,
  kindLook,
  kindOf,
  looksOf,
  objectOf,
  objectsOf,
  SchemaFields,
} from '../web/schema-fields.tsx'

export type Options = Record<string, { value: string; label: string }[]>

type Props = {
  noun: string
  /** Its list. */
  at: Crumb
  schema: ZodType
  draft: Draft
  submit: string
  sealed: readonly string[] | undefined
  options: Options | undefined
  more: Child
  /** The chosen kind, and whether the user may choose those of admins. */
  kind: string | undefined
  isAdmin: boolean
  row: { name: string | null; stored: { id: string; [column: string]: unknown } } | undefined
}

/** Creates a resource or changes one, with its stored values. Those of sealed fields stay when left empty. */
export const ResourceForm = ({
  noun,
  at,
  schema,
  sealed = [],
  row,
  options = {},
  ...form
}: Props) => {
  const object = objectOf(schema, form.kind)
  const kind = kindOf(object)
  const values = { ...row?.stored }
  for (const name of sealed) delete values[name]
  const isKept = { isKept: true, placeholder: '••••••••', hint: 'Leave empty to keep it.' }
  const shown = looksOf(object).filter(
    ([name]) => !(kind && name === 'kind') && options[name]?.length !== 0,
  )
  const namesOf = (title: string | undefined) =>
    shown.flatMap(([name, { group }]) => (group === title ? [name] : []))
  const groups = [...new Set(shown.flatMap(([, { group }]) => group ?? []))]
  const more = Object.fromEntries([
    ...Object.entries(options).map(([name, some]) => [name, { options: some }]),
    ...(row ? sealed.map((name) => [name, isKept]) : []),
  ])
  const fields = { schema: object, values, more }
  return (
    <ModalForm
      title={row ? ['Edit ', <bdi>{row.name}</bdi>] : `New ${noun}`}
      from={at}
      {...(row ? { action: `${at.href}/${row.stored.id}`, method: 'PUT' } : { action: at.href })}
      submit={form.submit}
      draft={form.draft}
    >
      {kind && !row && <Kinds {...{ at, schema, kind }} isAdmin={form.isAdmin} />}
      {kind && <input type="hidden" name="kind" value={kind} />}
      <SchemaFields {...fields} names={namesOf(undefined)} autofocus />
      {groups.map((title) => (
        <FoldedFields {...fields} {...{ title }} names={namesOf(title)} draft={form.draft} />
      ))}
      {form.more}
    </ModalForm>
  )
}

type KindsProps = Pick<Props, 'at' | 'schema' | 'isAdmin'> & { kind: string }

/** Links to the form of each kind, which work without scripts. */
const Kinds = ({ at, schema, kind, isAdmin }: KindsProps) => {
  const isDialog = useContext(InDialog)
  return (
    <nav class="tabs-line" aria-label="Kind">
      {objectsOf(schema).map((one) => {
        const { label, adminOnly } = kindLook(schema, kindOf(one))!
        const href = `${at.href}/new?kind=${kindOf(one)}`
        return (
          (isAdmin || !adminOnly) && (
            <a
              href={href}
              {...(isDialog && { 'hx-get': href, 'hx-target': '#modal' })}
              aria-current={kindOf(one) === kind ? 'page' : undefined}
            >
              {label}
            </a>
          )
        )
      })}
    </nav>
  )
}

export const SecretDialog = ({
  noun,
  of,
  at,
  ...secret
}: Secret & { noun: string; of: string | null; at: Crumb }) => (
  <InfoModal
    stays
    title={
      <>
        The {noun} <bdi>{of}</bdi>
      </>
    }
    from={at}
  >
    <ShownOnce {...secret} />
  </InfoModal>
)
