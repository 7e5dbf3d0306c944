import type { Child } from 'hono/jsx'
import type { ZodType } from 'zod'
import type { Crumb } from '../web/components.tsx'
import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { SchemaFields } from '../web/schema-fields.tsx'

type Props = {
  noun: string
  /** Its list. */
  at: Crumb
  schema: ZodType
  draft: Draft
  submit: string
  sealed: readonly string[] | undefined
  more: Child
  /** The one that is changed. */
  row: { name: string | null; stored: { id: string; [column: string]: unknown } } | undefined
}

/** Creates a resource or changes one, with its stored values. Those of sealed fields stay when left empty. */
export const ResourceForm = ({ noun, at, schema, sealed = [], row, ...form }: Props) => {
  const values = { ...row?.stored }
  for (const name of sealed) delete values[name]
  const isKept = { isKept: true, placeholder: '••••••••', hint: 'Leave empty to keep it.' }
  return (
    <ModalForm
      title={row ? ['Edit ', <bdi>{row.name}</bdi>] : `New ${noun}`}
      from={at}
      {...(row ? { action: `${at.href}/${row.stored.id}`, method: 'PUT' } : { action: at.href })}
      submit={form.submit}
      draft={form.draft}
    >
      <SchemaFields
        {...{ schema, values }}
        more={row ? Object.fromEntries(sealed.map((name) => [name, isKept])) : {}}
        autofocus
      />
      {form.more}
    </ModalForm>
  )
}
