/** The part of a JSON schema that says what is looked for. */
export type Shape = {
  properties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
}

/** Items of a page, of which providers give 100 at most, and characters of a name. */
const maxItems = 1000
const maxText = 2000

/**
 * What an answer says of what is looked for, and nothing else; undefined when it is not JSON. An API is
 * whatever a user names as one: call it by `parse`.
 */
export function readAnswer(text: string, shape: Shape): unknown {
  try {
    return text === '' ? null : wanted(JSON.parse(text), shape)
  } catch {
    return undefined // nested deeper than the stack, too
  }
}

/** Null for what is more than is looked for, which then fails the check of its shape. */
function wanted(value: unknown, shape: Shape): unknown {
  if (typeof value === 'string') return value.length > maxText ? null : value
  if (typeof value !== 'object' || value === null) return value
  const { properties, items } =
    [shape, ...(shape.anyOf ?? [])].find((one) => one.properties ?? one.items) ?? {}
  if (Array.isArray(value))
    return items && value.length <= maxItems ? value.map((item) => wanted(item, items)) : null
  if (!properties) return null
  const found = Object.entries(properties).filter(([key]) => Object.hasOwn(value, key))
  return Object.fromEntries(
    found.map(([key, inner]) => [key, wanted((value as Record<string, unknown>)[key], inner)]),
  )
}
