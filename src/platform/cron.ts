import type * as Croner from 'croner'

/** Loaded when first needed: few servers have anything at times. */
const croner = () => require('croner') as typeof Croner

/** A cron expression, in the wall-clock time of an IANA zone. */
export type CronTime = { schedule: string; zone: string }

const fields = /^\s*\S+(\s+\S+){4}\s*$/
const nicknames = /^@(hourly|daily|midnight|weekly|monthly|yearly|annually)$/i

/**
 * As Vixie cron does when clocks are changed: what has fixed hours runs once, when they were skipped right after
 * that; what repeats, such as each half hour, follows the time that passes.
 */
const cronOf = ({ schedule, zone }: CronTime) =>
  new (croner().Cron)(schedule, {
    mode: '5-part',
    fixedTimeRule: 'no-wildcard',
    timezone: zone,
    paused: true,
  })

/** Null when it never comes again, or is one that an earlier version accepted. */
export const nextTime = (time: CronTime, after: Date) =>
  nextTimes(time, { after, count: 1 })[0] ?? null

export function nextTimes(time: CronTime, { after, count }: { after: Date; count: number }) {
  try {
    return cronOf(time).nextRuns(count, after)
  } catch {
    return []
  }
}

/** Why it isn't a cron expression, to follow a field's name; null when it is one. */
export function whyNotCron(schedule: string): string | null {
  if (!fields.test(schedule) && !nicknames.test(schedule))
    return 'must have five fields (minute, hour, day, month, weekday), or be @hourly, @daily, @weekly, @monthly or @yearly.'
  try {
    cronOf({ schedule, zone: 'UTC' })
    return null
  } catch (error) {
    const why = (error as Error).message.replace(/^CronPattern: (Syntax error, )?/, '')
    return `isn’t a cron expression: ${why.replace(/\.?$/, '.')}`
  }
}

/** True for a day that no month has. Finding that out takes tens of milliseconds. */
export const neverComes = (schedule: string) =>
  whyNotCron(schedule) === null && nextTime({ schedule, zone: 'UTC' }, new Date()) === null

export function isZone(zone: string) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return /^[A-Za-z]/.test(zone) // an offset such as +02:00 has no summer time
  } catch {
    return false
  }
}
