import { z } from 'zod'
import { flag, lines, whole } from '../../web/fields.ts'
import { field } from '../../web/schema-fields.tsx'
import { optionsOf, parseItem, pruneKinds } from './kinds.ts'
import type { PruneKind } from './kinds.ts'

const notAKind = `must be one or more of ${pruneKinds.join(', ')}.`

const item = z
  .string('must be strings.')
  .max(512, 'can’t have an entry of more than 512 characters.')
  .refine((text) => parseItem(text) !== null, 'must be entries such as image:sha256:….')

/** An empty list of items selects nothing; null selects the defaults. */
export const pruneForm = z
  .object({
    what: kindsOf(pruneKinds, notAKind),
    items: lines(item, { max: 20_000 }).nullish(),
    dryRun: flag().nullish(),
    /** The id of a server; by default all are cleaned up. */
    server: z.uuid('must be the id of a server.').nullish(),
  })
  .superRefine(({ what, items }, context) => {
    const other = items?.find((item) => {
      const kind = parseItem(item)?.kind // null was already rejected above
      return kind && !what.includes(kind)
    })
    if (other === undefined) return
    const message = `has ${other}, but what doesn’t have its kind.`
    context.addIssue({ code: 'custom', path: ['items'], message })
  })

/** A scheduled clean-up never removes volumes, because they hold data. */
export const scheduledKinds = pruneKinds.filter((kind) => kind !== 'volumes')

const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}))

export const scheduleForm = z.object({
  enabled: field(flag().optional(), { label: 'Clean up every day', isFlag: true }),
  what: field(
    kindsOf(scheduledKinds, `must be one or more of ${scheduledKinds.join(', ')}.`).optional(),
    { label: 'Remove', isMany: true, options: optionsOf(scheduledKinds) },
  ),
  hour: field(whole('an hour', { min: 0, max: 23 }).optional(), {
    label: 'At',
    isNarrow: true,
    options: hours,
    hint: 'In the server’s time. If Davit is down then, it runs later that day.',
  }),
  threshold: field(whole('per cent of the disk', { min: 0, max: 99 }).optional(), {
    label: 'Minimum disk usage',
    unit: '%',
    isNarrow: true,
    isRequired: true,
    inputmode: 'numeric',
    hint: '0 means always.',
  }),
})

function kindsOf<Kind extends PruneKind>(kinds: readonly Kind[], message: string) {
  const list = z.array(z.enum(kinds, message), message).min(1, message).max(kinds.length, message)
  return z.preprocess(splitLines, list)
}

/** A form sends one value per line, and an empty field when nothing is selected. */
function splitLines(value: unknown) {
  return typeof value === 'string' ? value.split('\n').filter(Boolean) : (value ?? undefined)
}
