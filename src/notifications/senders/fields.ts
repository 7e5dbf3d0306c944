import { lineField } from '../../web/labelled-fields.ts'

/** A secret that is sent in a header or path. */
export const tokenField = (label: string, hint: string) =>
  lineField(label, { max: 500, type: 'password', hint, code: true }).regex(
    /^[\x21-\x7e]+$/,
    'can’t have spaces.',
  )
