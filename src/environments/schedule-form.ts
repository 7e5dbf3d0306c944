import { z } from 'zod'
import { neverComes } from '../platform/cron.ts'
import { limits, usualTimeout } from '../platform/limits.ts'
import { command, flag, whole } from '../web/fields.ts'
import { choiceField, cron, isNever, lineField, timeFields } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'

export const scheduleForm = z.object({
  name: lineField('Name', { max: 60, placeholder: 'nightly clean-up' }),
  command: field(command(), {
    label: 'Command',
    placeholder: 'npm run clean',
    hint: "Split into words as in a shell. For pipes and variables use sh -c '…'.",
    code: true,
  }),
  ...timeFields,
  overlap: choiceField(
    'While the last run continues',
    { skip: 'skip', queue: 'wait for its end', replace: 'cancel it' },
    { initial: 'skip', isNarrow: true },
  ).nullish(),
  missed: choiceField(
    'What was missed while Davit was down',
    { skip: 'skip', once: 'run once' },
    { initial: 'skip', isNarrow: true },
  ).nullish(),
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
