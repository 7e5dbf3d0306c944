/** The value of a JSON text; null when it isn’t JSON, or is nested too deeply for the stack. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
