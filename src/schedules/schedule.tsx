import { z } from 'zod'
import { command } from '../environments/json.ts'
import { ofEnvironment } from '../environments/parent.tsx'
import { scheduleForm } from '../environments/schedule-form.ts'
import type { HeadDeps } from '../environments/head.ts'
import { asWriter } from '../db/queries.ts'
import { schedules } from '../db/schema.ts'
import { nextTime, nextTimes } from '../platform/cron.ts'
import { AppError, conflictField } from '../platform/errors.ts'
import { wordsOf } from '../platform/shell-words.ts'
import { whereSet } from '../projects/davit-file.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { deleteRow } from '../resources/store.ts'
import { run, runJson } from '../runs/json.ts'
import { commandLine, runPath, shortLine } from '../runs/runs-page.tsx'
import { findRun } from '../runs/store.ts'
import { Button, PostForm } from '../web/form.tsx'
import { time } from '../web/operation.ts'
import { RunBadge } from '../web/status-badge.tsx'
import { Ago, In, NextTimes } from '../web/times.tsx'
import { userOf } from '../web/user-of.ts'
import { follow, insert } from './start.ts'
import type { ScheduleDeps } from './start.ts'
import { getLastRun, getScheduleIn, isShown } from './store.ts'
import type { Schedule } from './store.ts'

const columns = [
  ...(['environmentId', 'name', 'schedule', 'zone', 'overlap', 'missed'] as const),
  ...(['timeout', 'enabled', 'file', 'dueAt'] as const),
]

const json = rowJson('Schedule', schedules, columns, () => ({
  command: command(),
  nextTimes: z.array(time),
  problem: z.object({ reason: z.string(), message: z.string() }).nullable(),
  lastRun: run().nullable(),
}))

/** Commands of an environment that run at times, as runs. Those of its davit.yaml can only be paused here. */
export const schedule = resource({
  kind: 'schedule',
  plural: 'schedules of an environment',
  path: '/envs/:envId/schedules',
  title: 'Schedules',
  part: 'Runs',
  table: schedules,
  owner: schedules.environmentId,
  where: isShown,
  parent: ofEnvironment('schedules'),
  most: 'schedules',
  json,
  about: 'Commands that run at set times, each in a new container of the live image.',
  empty: 'Create one for a task that repeats, such as a clean-up or a report.',
  see: ({ db }: ScheduleDeps & HeadDeps, row) => {
    const lastRun = getLastRun(db, row.id)
    return {
      ...row,
      nextTimes: row.enabled ? nextTimes(row, { after: new Date(), count: 5 }) : [],
      lastRun: lastRun && runJson(lastRun),
    }
  },
  row: ({ lastRun, nextTimes: times, problem, ...row }) => ({
    since: null,
    badge: !row.enabled && 'paused',
    tags: row.file ? [row.file] : [],
    facts: [
      <code>{shortLine(row)}</code>,
      [<code>{row.schedule}</code>, ` ${row.zone}`],
      times[0] && ['next ', <In at={times[0]} />],
      lastRun && (
        <a href={runPath(lastRun)}>
          <RunBadge status={lastRun.status} /> <Ago at={lastRun.createdAt} />
        </a>
      ),
      problem && [`${problem.message} (`, <Ago at={row.dueAt} />, ')'],
    ],
    below: times.length > 0 && <NextTimes times={times} />,
    actions: (
      <PostForm action={`/envs/${row.environmentId}/schedules/${row.id}`} method="PUT">
        <input type="hidden" name="enabled" value={row.enabled ? '0' : '1'} />
        <Button variant="outline" small aria-label={`${pauses(row)} ${row.name}`}>
          {pauses(row)}
        </Button>
      </PostForm>
    ),
    isKept: row.file !== '',
  }),
  create: {
    verb: 'Create',
    form: () => scheduleForm,
    async check(_, input, { row, changes }) {
      const changed = changes.find((name) => name !== 'enabled')
      if (row?.file && changed) throw conflictField(changed, whereSet(row))
      const { schedule, enabled } = input
      const time = { schedule, zone: input.zone ?? 'UTC' }
      const isSame = row && Bun.deepEquals(wordsOf(row.command), wordsOf(input.command))
      const command = isSame ? row.command : input.command // a form has a list of words as a line
      return { columns: { command, nextAt: enabled === false ? null : nextTime(time, new Date()) } }
    },
  },
  change: {
    shown: (row) => ({ command: commandLine(row) }),
  },
  acts: {
    run: {
      button: 'Run now',
      note: 'Run its command now; it waits its turn as at a due time',
      json: run,
      creates: true,
      run({ db, jobs }, c, row) {
        const work = () => insert(db, getScheduleIn(db, row.id)!, userOf(c).email)
        const begun = asWriter(db, work)
        if (begun.problem) throw new AppError('conflict', begun.problem.message)
        follow(jobs, begun.replaced ?? [])
        const started = findRun(db, { id: begun.runId!, environmentId: row.environmentId })
        return { to: runPath(started), said: 'Command queued.', json: () => runJson(started) }
      },
    },
  },
  remove: {
    verb: 'Delete',
    warning: 'A run of it that hasn’t ended continues.',
    run({ db }, row) {
      if (row.file) throw new AppError('conflict', `This schedule ${whereSet(row)}`)
      deleteRow(db, schedules, row.id, 'schedule')
    },
  },
  stored: ({ scheduler }) => scheduler.wake(),
})

const pauses = ({ enabled }: Pick<Schedule, 'enabled'>) => (enabled ? 'Pause' : 'Resume')
