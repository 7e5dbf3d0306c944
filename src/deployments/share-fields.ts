import { z } from 'zod'
import type { Share } from '../db/schema.ts'
import { shareLimits } from '../platform/limits.ts'
import { whole } from '../web/fields.ts'
import { flagField } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'

const percent = whole('percent', shareLimits.percent)

const look = {
  label: 'Share of the requests',
  unit: '%',
  inputmode: 'numeric' as const,
  hint: 'From 1 to 50.',
}

export const shareFields = {
  strategy: z
    .enum(['all', 'share'], 'must be all, or share for a share of the requests.')
    .nullish(),
  percent: field(percent.nullish(), look),
  sticky: flagField('Visitors stay with a version', {
    hint: 'A cookie, davit_share, keeps them there. Otherwise each request is assigned at random.',
  }),
}

export type ShareRequest = Partial<z.output<z.ZodObject<typeof shareFields>>>

/** As a dialog shows it. */
export const shareForm = z.object({ percent: field(percent, look), sticky: shareFields.sticky })

/** What doesn’t fit together. */
export function* shareProblems({ strategy, percent, sticky }: ShareRequest) {
  if (strategy === 'share' && !percent) yield { field: 'percent', problem: 'must be from 1 to 50.' }
  for (const [field, value] of Object.entries({ percent, sticky }))
    if (strategy !== 'share' && value) yield { field, problem: 'needs the strategy share.' }
}

/** Null for all requests. */
export const shareOf = ({ strategy, percent, sticky }: ShareRequest): Share | null =>
  strategy === 'share' ? { percent: percent!, isSticky: sticky ?? false } : null
