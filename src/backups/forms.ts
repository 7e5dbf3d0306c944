import { z } from 'zod'
import { scheduleForm } from '../environments/schedule-form.ts'
import { whole } from '../web/fields.ts'
import { field } from '../web/schema-fields.tsx'
import { volumeHolds } from './store.ts'

const { schedule, zone } = scheduleForm.shape

const target = () =>
  field(z.uuid('must be the id of one of your targets.'), { label: 'Target', options: [] })

const hold = field(z.enum(volumeHolds, 'must be pause, stop or none.').nullish(), {
  label: 'While volumes are copied',
  hint: 'Paused containers keep their requests waiting. Databases are dumped by their own tools meanwhile, and never held.',
  initial: 'pause',
  options: [
    { value: 'pause', label: 'pause the containers that write to them' },
    { value: 'stop', label: 'stop those containers' },
    { value: 'none', label: 'let them run' },
  ],
})

const keep = (label: string, initial: string, hint?: string) =>
  field(whole('how many backups', { min: 0, max: 1000 }).nullish(), {
    ...{ label, initial, inputmode: 'numeric' as const, isNarrow: true },
    ...(hint && { hint }),
  })

export const planForm = z.object({
  targetId: target(),
  schedule,
  zone,
  keepLast: keep('Keep the last', '3'),
  keepDaily: keep('Of each day', '7'),
  keepWeekly: keep('Of each week', '4'),
  keepMonthly: keep(
    'Of each month',
    '6',
    'So many days, weeks and months. With 0 everywhere all backups stay. The last proven one always stays.',
  ),
  prove: field(z.enum(['each', 'weekly', 'never'], 'must be each, weekly or never.').nullish(), {
    label: 'Restore it for a test',
    hint: 'Into a container that is removed afterwards.',
    initial: 'weekly',
    options: [
      { value: 'each', label: 'each backup' },
      { value: 'weekly', label: 'once a week' },
      { value: 'never', label: 'never' },
    ],
  }),
  hold,
})

/** By default the target and the rest are those of the plan. */
export const backupForm = z.object({ targetId: target().nullish(), hold })
