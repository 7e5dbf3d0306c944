import { jsonOrNull } from '../platform/json.ts'
import { newestTag } from './tag-pattern.ts'

/**
 * The newest of the tags in a registry's list and of the one before; null when the text isn't such a list.
 * Call it through `parse`: the list comes from another server, and may be long.
 */
export function readTags(
  text: string,
  { pattern, newest }: { pattern: string; newest: string | null },
): { newest: string | null } | null {
  const tags = (jsonOrNull(text) as { tags?: unknown } | null)?.tags
  if (tags === null) return { newest } // all were deleted
  if (!Array.isArray(tags)) return null
  const texts = tags.filter((tag) => typeof tag === 'string')
  return { newest: newestTag(newest === null ? texts : [...texts, newest], pattern) }
}
