import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { diskShares, diskSpace } from '../containers/clean-up/disk.ts'
import type { DiskShares } from '../containers/clean-up/disk.ts'
import { getSchedule } from '../containers/clean-up/schedule-store.ts'
import type { DiskUse, Docker } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
import { bytes, counted } from '../web/units.ts'
import { openCurrent } from './current.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { readLogGrowth } from './store.ts'

const day = 86_400_000

/** Growth within these milliseconds is compared with the free space. */
const looksBack = 7 * day

/** A shorter history says nothing about the days to come. */
const leastHistory = 2 * day

/** A disk that could be full sooner is a finding. */
const leastLeft = 14 * day

export async function checkDiskUse(config: Config, docker: Docker): Promise<Finding[]> {
  const logs = join(config.dataDir, 'logs.db')
  using opened = existsSync(logs) ? openCurrent(config) : null
  if (!opened) return []
  const { db, instanceId } = opened
  using file = new Database(logs, { readonly: true })
  const signal = AbortSignal.timeout(25_000) // Docker scans every layer, which can take longer
  const use = await docker.diskUse({ signal }).catch(() => null)
  if (!use) return [ok('use', 'Docker didn’t count in time what its disk has')]
  const shares = diskShares({ db, logDb: { $client: file } }, use)
  const now = Date.now()
  const added = growthOf({
    images: use.images.filter(({ labels }) => readLabels(labels).instanceId === instanceId),
    logs: readLogGrowth(file, now - looksBack),
    now,
  })
  const space = await diskSpace({ docker, config }).catch(() => null)
  const isCleaned = getSchedule(db).enabled
  return [
    ok('use', inOrder(shares) + largestVolume(use)),
    ...(added ? [judgeGrowth(added, { free: space?.free ?? null, isCleaned })] : []),
  ]
}

const inOrder = (shares: DiskShares) =>
  Object.entries(shares)
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, size]) => `${what === 'buildCache' ? 'build cache' : what} ${bytes(size)}`)
    .join(', ')

function largestVolume({ volumes }: DiskUse) {
  const [largest] = volumes.toSorted((a, b) => (b.size ?? 0) - (a.size ?? 0))
  return largest?.size ? `; the largest volume is ${largest.name}, ${bytes(largest.size)}` : ''
}

/** Bytes that were added within `time` milliseconds and still exist. */
export type Growth = { images: number; logs: number; time: number }

type DiskHistory = {
  images: Pick<DiskUse['images'][number], 'createdAt' | 'size' | 'sharedSize'>[]
  logs: { bytes: number; oldest: number | null }
  now: number
}

/** Null while there is too little history. */
export function growthOf({ images, logs, now }: DiskHistory): Growth | null {
  const oldest = Math.min(
    ...images.map(({ createdAt }) => createdAt.getTime()),
    logs.oldest ?? Infinity,
  )
  const time = Math.min(looksBack, now - oldest)
  if (time < leastHistory) return null
  const recent = images.filter(({ createdAt }) => now - createdAt.getTime() < looksBack)
  const own = recent.reduce((sum, { size, sharedSize }) => sum + size - sharedSize, 0)
  return { images: own, logs: logs.bytes, time }
}

/** Estimates when the disk is full. That date is the earliest, because a clean-up frees an unknown amount. */
export function judgeGrowth(
  { images, logs, time }: Growth,
  { free, isCleaned }: { free: number | null; isCleaned: boolean },
): Finding {
  const days = Math.round(time / day)
  const is = `in ${days} days images grew by ${bytes(images)}, logs by ${bytes(logs)}`
  if (free === null || images + logs === 0) return ok('growth', is)
  const left = (free / (images + logs)) * time
  if (left > 365 * day) return ok('growth', `${is}: the disk lasts for more than a year`)
  const until = `${is}: at that rate the disk is full in ${counted(Math.floor(left / day), 'day')} at the earliest`
  return left > leastLeft || isCleaned
    ? ok('growth', until)
    : wrong('growth', until, 'Turn on the daily clean-up under Settings, Clean-up.')
}
