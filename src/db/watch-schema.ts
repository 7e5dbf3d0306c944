import type { RollbackReason } from './project-schema.ts'

/** What a version did in a time. */
export type VersionFigures = {
  requests: number
  /** Responses with status 5xx. */
  errors: number
  /** Milliseconds; null without requests. */
  p50: number | null
  p95: number | null
}

/** Failed requests that are alike. A path is without its query. */
export type FailedRequests = { status: number; method: string; path: string; count: number }

export type WatchVerdict = { code: string; message: string; hint: string }

/**
 * `stays` if it should have gone back but couldn't; `replaced` when a deployment began, `interrupted` when that
 * failed, or the app was restarted, and `stopped` with the app, or when its container was stopped; `cancelled` if it
 * had a share of the requests, and wasn't promoted.
 */
export const watchEnds = [
  'over',
  'kept',
  'replaced',
  'interrupted',
  'stopped',
  'reverted',
  'stays',
  'cancelled',
] as const
export type WatchEnd = (typeof watchEnds)[number]

/** Why a deployment that went live isn't watched. `stop-first` when the version before had to stop before it started. */
export const unwatchedReasons = [
  'off',
  'worker',
  'compose',
  'processes',
  'own-port',
  'no-edge',
  'first',
  'stop-first',
] as const
export type UnwatchedReason = (typeof unwatchedReasons)[number]

/** The share of the requests that a new version gets, from 1 to 50 %. */
export type Share = {
  percent: number
  /** True when visitors stay with a version, by a cookie. */
  isSticky: boolean
}

/** True while a version has a share of the requests; also of what the API shows. */
export const hasShare = ({
  watch,
  watchUntil,
}: {
  watch: { share?: unknown } | null
  watchUntil: unknown
}) => watchUntil !== null && watch?.share != null

/** A deployment whose requests can go back to the one before it, or could. */
export type Watch = {
  /** The deployment before it. */
  before: string
  /** In milliseconds since 1970. */
  since: number
  seconds: number
  on: RollbackReason[]
  /** With its number at the edge; null or missing for all requests. */
  share?: (Share & { slot: number }) | null
  /** Stored before requests go back, so that a killed process's decision is carried out by the next. */
  verdict: WatchVerdict | null
  /** When they went back, in milliseconds since 1970. Stored with the verdict, as that is carried out later. */
  wentBackAt?: number | undefined
  /** Null while it goes on. */
  end: WatchEnd | null
  /** Why it stays although it failed. */
  why: string | null
  /** Its failed requests, and the last lines of the container that told. */
  requests: FailedRequests[]
  lines: string[]
  /** False from going back until both are known, and people were told. */
  isTold?: boolean
  /** `before` is of the hour before the switch. `after` is stored with the end. */
  figures: { before: VersionFigures; after: VersionFigures | null }
}
