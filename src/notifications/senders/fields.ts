import { line } from '../../web/fields.ts'

/** A secret that is sent in a header or path. */
export const tokenField = (what: string) =>
  line(what, { max: 500 }).regex(/^[\x21-\x7e]+$/, 'can’t have spaces.')
