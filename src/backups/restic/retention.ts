import type { StoredSnapshot } from './snapshots.ts'

/** How many of the last backups to keep, and of how many days, weeks and months the last one each. */
export type Keep = { last: number; daily: number; weekly: number; monthly: number }

type Options = {
  keep: Keep
  /** Backups with one of these tags are kept in any case. */
  keepTags: string[]
  /** In which days begin and end. */
  zone?: string | undefined
}

/** Ids of the snapshots whose backup needn't be kept. All snapshots of a backup stay or go together. */
export function expired(snapshots: StoredSnapshot[], { keep, keepTags, zone = 'UTC' }: Options) {
  const backups = Map.groupBy(snapshots, backupOf).values().toArray()
  // the ids of backups grow, also when the clock was put back, and their times don't
  const newestFirst = backups.toSorted((a, b) => (backupOf(a[0]!) < backupOf(b[0]!) ? 1 : -1))
  // the newest is kept in any case, as restic does: no plan may leave nothing
  const isKept = (backup: StoredSnapshot[], at: number) =>
    at === 0 || backup.some(({ tags }) => keepTags.some((tag) => tags.includes(tag)))
  const kept = new Set(newestFirst.filter(isKept))
  for (const [rule, count] of Object.entries(keep) as [keyof Keep, number][]) {
    const seen = new Set<string>()
    for (const backup of newestFirst) {
      const period = periodOf[rule](backup, zone)
      if (seen.has(period)) continue
      if (seen.size === count) break
      seen.add(period)
      kept.add(backup)
    }
  }
  return newestFirst
    .filter((backup) => !kept.has(backup))
    .flatMap((backup) => backup.map(({ id }) => id))
}

const backupOf = ({ tags, id }: StoredSnapshot) =>
  tags.find((tag) => tag.startsWith('backup=')) ?? id

const timeOf = (backup: StoredSnapshot[]) => Math.min(...backup.map(({ at }) => at.getTime()))

const periodOf: Record<keyof Keep, (backup: StoredSnapshot[], zone: string) => string> = {
  last: (backup) => backup[0]!.id,
  daily: (backup, zone) => dayOf(backup, zone),
  weekly: (backup, zone) => mondayBefore(dayOf(backup, zone)),
  monthly: (backup, zone) => dayOf(backup, zone).slice(0, 7),
}

/** Such as `2026-11-26`. */
const dayOf = (backup: StoredSnapshot[], zone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(timeOf(backup))

function mondayBefore(day: string) {
  const date = new Date(`${day}T00:00Z`)
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}
