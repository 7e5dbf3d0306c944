/** The part of a JSON schema that says which fields are read. */
export type Shape = {
  properties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
}

/** Items per page, of which providers return at most 100, and characters of a name. */
const maxItems = 1000
const maxText = 2000

/**
 * Returns only the expected fields; undefined when the text isn't JSON. The API is an untrusted server: call
 * it through `parse`.
 */
export function readAnswer(text: string, shape: Shape): unknown {
  try {
    return text === '' ? null : wanted(JSON.parse(text), shape)
  } catch {
    return undefined // or nested too deeply for the stack
  }
}

/** Returns null for anything over the limits, which then fails validation. */
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
