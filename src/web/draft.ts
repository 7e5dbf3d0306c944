import { createContext } from 'hono/jsx'

/** What was typed and what is wrong with it: enough to draw the form again with nothing lost. */
export type Draft = {
  /** Submitted texts by form name, passwords left out. */
  values: Record<string, string>
  /** Messages by form name. */
  errors: Record<string, string>
  /** What is wrong with the whole rather than with one field. */
  message: string | null
}

export const emptyDraft: Draft = { values: {}, errors: {}, message: null }

/** The draft of the form around a field. */
export const DraftContext = createContext(emptyDraft)
