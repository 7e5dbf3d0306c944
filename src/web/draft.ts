import { createContext } from 'hono/jsx'

/** The input and its errors: enough to redraw the form without losing anything. */
export type Draft = {
  /** Submitted texts by form name, without passwords. */
  values: Record<string, string>
  /** Messages by form name. */
  errors: Record<string, string>
  /** The error of the whole form. */
  message: string | null
}

export const emptyDraft: Draft = { values: {}, errors: {}, message: null }

/** The draft of the surrounding form. */
export const DraftContext = createContext(emptyDraft)

/** The error of a secret that isn’t shown again: the script that fills it in takes it away. */
export const enterAgain = 'Enter it again: what is secret isn’t shown.'
