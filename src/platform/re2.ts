import type * as Re2 from 're2js'

/**
 * Matches patterns from outside in time linear in the text, whatever the pattern. Loaded when first needed,
 * because it takes 6 MB.
 */
export const re2 = () => require('re2js') as typeof Re2
