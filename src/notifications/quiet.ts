import { nextTime } from '../platform/cron.ts'

/** Hours in which nothing is sent, such as `22:00-07:00`, in the time of an IANA zone. */
export type Quiet = { quiet: string | null; zone: string }

const hours = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/

/** Why it isn't a time of quiet, to follow a field's name; null when it is one. */
export function whyNotQuiet(quiet: string): string | null {
  const found = hours.exec(quiet)
  if (!found) return 'must be two times such as 22:00-07:00.'
  const { from, to } = timesOf(quiet)
  return from === to ? 'must end at another time than it begins.' : null
}

/** When the quiet hours end that have begun by then, both in milliseconds; null outside of them. */
export function quietEnd({ quiet, zone }: Quiet, at: number): number | null {
  if (quiet === null) return null
  const { from, to, begin, end } = timesOf(quiet)
  const minute = minuteOfDay(zone, at)
  const isQuiet = from < to ? minute >= from && minute < to : minute >= from || minute < to
  if (!isQuiet) return null
  const next = (schedule: string) => nextTime({ schedule, zone }, new Date(at))?.getTime() ?? null
  const [begins, ends] = [next(begin), next(end)]
  // in an hour that comes again, when clocks go back, they have ended
  return begins !== null && ends !== null && begins < ends ? null : ends
}

function timesOf(quiet: string) {
  const [, hour, minute, endHour, endMinute] = hours.exec(quiet)!.map(Number)
  return {
    from: hour! * 60 + minute!,
    to: endHour! * 60 + endMinute!,
    begin: `${minute} ${hour} * * *`,
    end: `${endMinute} ${endHour} * * *`,
  }
}

function minuteOfDay(timeZone: string, at: number) {
  const format = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone })
  const [hour, minute] = format.format(at).split(':').map(Number)
  return hour! * 60 + minute!
}
