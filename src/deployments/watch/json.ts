import { z } from 'zod'
import type { Share, Watch } from '../../db/schema.ts'
import { id, time } from '../../web/operation.ts'
import { unwatchedReasons, watchEnds } from '../store.ts'

const figures = () =>
  z.object({
    requests: z.int(),
    errors: z.int(),
    /** In milliseconds; null without requests. */
    p50: z.number().nullable(),
    p95: z.number().nullable(),
  })

/** Percent of the requests; sticky if visitors stay with a version. */
const share = () => z.object({ percent: z.int(), sticky: z.boolean() })

export const shareJson = (share: Share | null | undefined) =>
  share ? { percent: share.percent, sticky: share.isSticky } : null

/** What the API shows of it. */
export const watchJson = ({ share, before, end, why, requests, lines, figures }: Watch) => ({
  ...{ before, share: shareJson(share), end, why, requests, lines, figures },
})

const watch = () =>
  z.object({
    /** The deployment that requests go back to. */
    before: id,
    /** The share of the requests that it has, or had until it was taken back; null for all. */
    share: share().nullable(),
    /** How it ended: `stays` when it should have gone back, but couldn't. */
    end: z.enum(watchEnds).nullable(),
    /** Why it stays. */
    why: z.string().nullable(),
    /** The requests that failed, by status, method and path without its query. */
    requests: z.array(
      z.object({ status: z.int(), method: z.string(), path: z.string(), count: z.int() }),
    ),
    lines: z.array(z.string()),
    /**
     * In the hour before the switch, or at the same time as a share; and from the switch to the end, or until
     * now in the response for one deployment: in lists it is null while the version is watched.
     */
    figures: z.object({ before: figures(), after: figures().nullable() }),
  })

/** Of a deployment. */
export const watchFields = () => ({
  /** Until when requests can go back to the deployment before it; null when it isn't watched. */
  watchUntil: time.nullable(),
  /** Null if it never was. */
  watch: watch().nullable(),
  /** The share of the requests that it was deployed to; null for all. */
  share: share().nullable(),
  /** Why it wasn't; null for one that was, or that didn't go live. */
  unwatched: z.enum(unwatchedReasons).nullable(),
})
