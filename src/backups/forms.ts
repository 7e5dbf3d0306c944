import { z } from 'zod'
import { flag, line, lines, whole } from '../web/fields.ts'
import { serviceName } from '../services/forms.ts'
import { choiceField, timeFields } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'

const target = () =>
  field(z.uuid('must be the id of one of your targets.'), { label: 'Target', options: [] })

const hold = choiceField(
  'While volumes are copied',
  {
    pause: 'pause the containers that write',
    stop: 'stop those containers',
    none: 'let them run',
  },
  {
    hint: 'Requests to a paused container wait. A database that is dumped with its own tool isn’t paused, unless it can write to volumes besides the one of its data. In running containers, SQLite files are copied with SQLite.',
    initial: 'pause',
  },
).nullish()

const keep = (label: string, initial: string, hint?: string) =>
  field(whole('how many backups', { min: 0, max: 1000 }).nullish(), {
    ...{ label, initial, inputmode: 'numeric' as const, isNarrow: true },
    ...(hint && { hint }),
  })

const path = line('a path such as data/cache.db', { max: 400 }).refine(
  (text) => !/^\/|\/\/|(^|\/)\.\.?(\/|$)/.test(text),
  'must be a path such as data/cache.db, as the proof shows it.',
)

export const planForm = z.object({
  targetId: target(),
  ...timeFields,
  keepLast: keep('Keep last', '3'),
  keepDaily: keep('Keep daily', '7'),
  keepWeekly: keep('Keep weekly', '4'),
  keepMonthly: keep(
    'Keep monthly',
    '6',
    'The newest backup of each of so many days, weeks and months. With 0 in all four fields every backup is kept. The last proven one is always kept.',
  ),
  prove: choiceField(
    'Restore it for a test',
    { each: 'each backup', weekly: 'once a week', never: 'never' },
    { hint: 'Into a container that is removed afterwards.', initial: 'weekly' },
  ).nullish(),
  acceptDamaged: field(lines(path, { max: 50 }).nullish(), {
    label: 'SQLite files that may be damaged',
    placeholder: 'data/cache.db',
    hint: 'A file as the failed test shows it, or a folder, one per line: it doesn’t fail the test. Leave empty for none.',
    ...{ code: true, isLong: true, rows: 2 },
  }),
  hold,
})

/** May be omitted when the backup has one file only. */
export const downloadQuery = z.object({
  file: line('a file of the backup', { max: 400 }).nullish(),
})

export const restoreForm = z.object({
  /** The service or environment that it is of, or a service that is created for it. */
  into: z.enum(['same', 'new'], 'must be same or new.').default('same'),
  /** Of the new service. */
  name: serviceName.nullish(),
  /** Where that runs: a name or an id. By default the server that Davit runs on. */
  server: line('a server', { max: 100 }).nullish(),
  /** Another environment, whose data is replaced. */
  environmentId: z.uuid('must be the id of another environment.').nullish(),
  /** By default all that the backup has. */
  database: field(line('a database of the backup', { max: 255 }).nullish(), {
    label: 'Database',
    hint: 'One of the databases that the preview of the restore has, such as app; component/app where several servers have one of that name.',
  }),
  /** Of what is replaced. */
  backupFirst: flag().default(true),
})

/** By default the target and the rest are those of the plan. */
export const backupForm = z.object({ targetId: target().nullish(), hold })
