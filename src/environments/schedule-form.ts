import { z } from 'zod'
import { isZone, neverComes, whyNotCron } from '../platform/cron.ts'
import { limits, usualTimeout } from '../platform/limits.ts'
import { command, flag, line, whole } from '../web/fields.ts'
import { field } from '../web/schema-fields.tsx'
import { overlaps } from './code-schedule-store.ts'

const cron = () =>
  line('a cron expression', { max: 100 }).superRefine((text, { addIssue }) => {
    const message = whyNotCron(text)
    if (message) addIssue({ code: 'custom', message })
  })

const isNever = 'never comes: no month has such a day.'

export const scheduleForm = z.object({
  name: field(line('a name', { max: 60 }), { label: 'Name', placeholder: 'nightly clean-up' }),
  command: field(command(), {
    label: 'Command',
    placeholder: 'npm run clean',
    hint: "Split into words as in a shell. For pipes and variables use sh -c '…'.",
    code: true,
  }),
  schedule: field(
    cron().refine((text) => !neverComes(text), isNever),
    {
      label: 'Schedule',
      placeholder: '0 3 * * *',
      hint: 'A cron expression: minute, hour, day, month, weekday. Or @hourly, @daily, @weekly, @monthly.',
      code: true,
      isNarrow: true,
    },
  ),
  zone: field(
    line('a time zone', { max: 60 })
      .refine(isZone, 'must be a time zone such as Europe/Berlin.')
      .nullish(),
    {
      label: 'Time zone',
      placeholder: 'UTC',
      hint: 'Such as Europe/Berlin. Leave empty for UTC.',
      code: true,
      isNarrow: true,
    },
  ),
  overlap: field(z.enum(overlaps, 'must be skip, queue or replace.').nullish(), {
    label: 'While the last run continues',
    initial: 'skip',
    options: [
      { value: 'skip', label: 'skip' },
      { value: 'queue', label: 'wait for its end' },
      { value: 'replace', label: 'cancel it' },
    ],
    isNarrow: true,
  }),
  missed: field(z.enum(['skip', 'once'], 'must be skip or once.').nullish(), {
    label: 'What was missed while Davit was down',
    initial: 'skip',
    options: [
      { value: 'skip', label: 'skip' },
      { value: 'once', label: 'run once' },
    ],
    isNarrow: true,
  }),
  timeout: field(whole('seconds', { min: 1, max: 86_400 }).nullish(), {
    label: 'Timeout',
    unit: 'seconds',
    inputmode: 'numeric',
    placeholder: String(usualTimeout),
  }),
  /** False while it is paused. */
  enabled: flag().nullish(),
})

const { enabled: _, ...inFile } = scheduleForm.shape

/** Of a commit. The search for one that never comes ends with the first, as it takes long. */
export const codeSchedules = () =>
  z
    .array(
      z.strictObject(
        { ...inFile, schedule: cron() },
        'must be an entry with a name, a command and a schedule.',
      ),
      'must be a list of schedules.',
    )
    .max(limits.codeSchedules, `can have at most ${limits.codeSchedules} entries.`)
    .superRefine((all, { addIssue }) => {
      const refuse = (at: number, key: string, message: string) =>
        addIssue({ code: 'custom', path: [at, key], message })
      const names = all.map(({ name }) => name)
      const twice = names.findIndex((name, at) => names.indexOf(name) < at)
      if (twice >= 0) refuse(twice, 'name', 'is there twice. Each schedule must have its own.')
      const never = all.findIndex(({ schedule }) => neverComes(schedule))
      if (never >= 0) refuse(never, 'schedule', isNever)
    })
