import { z } from 'zod'
import { freezes } from '../db/schema.ts'
import { getOverlapping, isToCome } from '../environments/freeze-store.ts'
import type { Freeze } from '../environments/freeze-store.ts'
import type { HeadDeps } from '../environments/head.ts'
import { ofEnvironment } from '../environments/parent.tsx'
import { conflictField, invalidField } from '../platform/errors.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { lineField, moment, timeFields } from '../web/labelled-fields.ts'
import { readMoment } from '../web/moment.ts'
import { At, In } from '../web/times.tsx'
import { inUtc } from './frozen.ts'

export const freezeForm = z.object({
  from: moment('From', 'Leave empty for now.').nullish(),
  until: moment('Until'),
  zone: timeFields.zone,
  reason: lineField('Reason', { max: 200, placeholder: 'Christmas' }),
})

export const freezeJson = rowJson('Freeze', freezes, ['environmentId', 'from', 'until', 'reason'])

const minute = 60_000

/** Milliseconds until the latest end. */
const longest = 366 * 24 * 60 * minute

/** Times in which nothing is deployed to an environment. */
export const freeze = resource({
  kind: 'freeze',
  plural: 'the freezes of an environment',
  path: '/envs/:envId/freezes',
  title: 'Freezes',
  part: 'Environments',
  table: freezes,
  owner: freezes.environmentId,
  where: isToCome,
  parent: ofEnvironment('deployments'),
  most: 'freezes',
  json: freezeJson,
  about:
    'Deployments that start by themselves, such as after a push, wait until a freeze ends. To start one meanwhile you need a note that says why it can’t wait. Rollbacks don’t wait.',
  empty: 'Create one for a time in which nothing may change.',
  row: ({ from, until, reason }) => ({
    ...{ name: reason, since: null },
    badge: from.getTime() <= Date.now() && 'frozen',
    facts: [
      ['from ', <At at={from} />],
      ['until ', <At at={until} />, ', ', <In at={until} />],
    ],
  }),
  refuse(db, { id, ownerId: environmentId, values }) {
    const { from, until } = values as Pick<Freeze, 'from' | 'until'>
    const other = getOverlapping(db, { id, environmentId, from, until })
    if (other)
      throw conflictField(
        'from',
        `overlaps the freeze from ${inUtc(other.from)} until ${inUtc(other.until)}. Change that one.`,
      )
  },
  create: {
    verb: 'Create',
    details: ({ from, until }) => ({ from: inUtc(from), until: inUtc(until) }),
    form: (_: HeadDeps & { scheduler: Scheduler }) => freezeForm,
    async check(_, input, { row }) {
      const now = Date.now()
      const at = (text: string) => readMoment(text, input.zone ?? 'UTC')!
      const asked = input.from ? at(input.from) : new Date(now)
      const until = at(input.until)
      const isSame = row && Math.abs(row.from.getTime() - asked.getTime()) < minute // a form has no seconds
      const from = isSame ? row.from : asked
      if (!isSame && now - from.getTime() > minute)
        throw invalidField('from', 'must not be in the past.')
      if (until.getTime() <= now) throw invalidField('until', 'must be in the future.')
      if (until <= from) throw invalidField('until', 'must be after the start.')
      if (until.getTime() - now > longest) throw invalidField('until', 'must be within a year.')
      return { columns: { from, until } }
    },
  },
  change: {
    shown: ({ from, until }) => ({ from: local(from), until: local(until), zone: 'UTC' }),
  },
  remove: { verb: 'Remove', warning: 'What waits for its end is deployed.' },
  stored: ({ scheduler }) => scheduler.wake(),
})

/** For a field of a browser, without a zone. */
const local = (at: Date) => at.toISOString().slice(0, 16)
