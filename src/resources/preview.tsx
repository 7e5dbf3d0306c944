import type { Child } from 'hono/jsx'
import type { Crumb } from '../web/components.tsx'
import { ModalForm } from '../web/dialog.tsx'

type Previewed = {
  /** Of the row. */
  name: string | null
  noun: string
  button: string
  action: string
  from: Crumb
}

/** The dialog in which an act is confirmed by who has read what it would do. */
export const previewOf = (
  { name, noun, button, action, from }: Previewed,
  { text, json }: { text: Child; json: object },
) => ({
  title: `${button} ${name}`,
  page: () => (
    <ModalForm
      title={[`${button} `, <bdi>{name}</bdi>]}
      submit={`${button} ${noun}`}
      {...{ action, from }}
    >
      {text}
    </ModalForm>
  ),
  json: () => json,
})
