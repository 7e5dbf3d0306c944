import type { Context } from 'hono'
import { AppError, invalidField } from '../platform/errors.ts'
import { fieldsOf } from '../web/form-fields.ts'
import { maxFileBytes } from './compose/read.ts'

/** The text of a Compose file: as it was typed, else as it was uploaded. */
export async function composeText(c: Context, typed: string | null | undefined): Promise<string> {
  const text = typed || (await uploadedText(c))
  if (!text) throw invalidField('compose', 'wants the text of a Compose file, or an upload.')
  return text
}

/** Null when the form came without a file. */
export async function uploadedText(c: Context): Promise<string | null> {
  const file = (await fieldsOf(c))?.get('compose_file')?.at(-1)
  if (!(file instanceof File) || file.size === 0) return null
  if (file.size > maxFileBytes)
    throw new AppError('too_large', 'The uploaded file is over 1 MiB. Shorten it.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    throw invalidField('compose', 'The uploaded file is no UTF-8 text. Save it as such.')
  }
}
