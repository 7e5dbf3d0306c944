import { z } from 'zod'
import { flag, lines, whole } from '../../web/fields.ts'
import { parseItem, pruneKinds } from './kinds.ts'
import type { PruneKind } from './kinds.ts'

const notAKind = `wants some of ${pruneKinds.join(', ')}.`

const item = z
  .string('wants texts.')
  .max(512, 'has an entry that is longer than 512 characters.')
  .refine((text) => parseItem(text) !== null, 'wants entries such as image:sha256:… .')

/** Kinds, and of these what was ticked; none at all and null are not the same. */
export const pruneForm = z
  .object({
    what: kindsOf(pruneKinds, notAKind),
    /** Left out: all that goes by default. */
    items: lines(item, { max: 20_000 }).nullish(),
    dryRun: flag().nullish(),
  })
  .superRefine(({ what, items }, context) => {
    const other = items?.find((item) => {
      const kind = parseItem(item)?.kind // one that is none has been refused
      return kind && !what.includes(kind)
    })
    if (other === undefined) return
    const message = `names ${other}, but what does not have its kind.`
    context.addIssue({ code: 'custom', path: ['items'], message })
  })

/** Volumes hold data: nothing that runs by itself takes them. */
export const scheduledKinds = pruneKinds.filter((kind) => kind !== 'volumes')

export const scheduleForm = z.object({
  enabled: flag().optional(),
  what: kindsOf(scheduledKinds, `wants some of ${scheduledKinds.join(', ')}.`).optional(),
  hour: whole('an hour', { min: 0, max: 23 }).optional(),
  threshold: whole('per cent of the disk', { min: 0, max: 99 }).optional(),
})

function kindsOf<Kind extends PruneKind>(kinds: readonly Kind[], message: string) {
  const list = z.array(z.enum(kinds, message), message).min(1, message).max(kinds.length, message)
  return z.preprocess(splitLines, list)
}

/** In a form one a line, and nothing ticked is an empty field. */
function splitLines(value: unknown) {
  return typeof value === 'string' ? value.split('\n').filter(Boolean) : (value ?? undefined)
}
