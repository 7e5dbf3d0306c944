import type { Context } from 'hono'
import { readBody } from '../web/body.ts'
import { enterAgain } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import type { Template } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import { typedValues } from './forms.ts'

/** No page has a sent secret again: its field must not be taken for an empty one, which keeps or generates it. */
export async function drawnAgain(c: Context, draft: Draft, file: Template): Promise<Draft> {
  const typed = typedValues(file, (await readBody(c)).data)
  const lost = askedFor(file.variables).filter(({ name, secret }) => secret && typed.has(name))
  const errors = Object.fromEntries(lost.map(({ name }) => [name, enterAgain]))
  return { ...draft, errors: { ...errors, ...draft.errors } }
}
