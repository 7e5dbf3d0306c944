/** The part of a JSON schema that describes the expected fields. */
export type Shape = {
  properties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
}

/** Items of a page, of which providers give 100 at most, and characters of a name. */
const maxItems = 1000
const maxText = 2000

/**
 * The expected fields of a response, and nothing else; undefined when it isn't JSON. The API
 * is an untrusted server: call it through `parse`.
 */
export function readAnswer(text: string, shape: Shape): unknown {
  try {
    return text === '' ? null : wanted(JSON.parse(text), shape)
  } catch {
    return undefined // also when nested deeper than the stack
  }
}

/** Null for anything over the limits, which then fails validation. */
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
