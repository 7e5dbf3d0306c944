import type { Job } from '../jobs/store.ts'

/** Actions on all of an environment, and their names while they run. */
export const appSteps = {
  'start-app': 'starting',
  'restart-app': 'restarting',
  'stop-app': 'stopping',
  'relocate-app': 'moving',
} as const

export type AppJob = keyof typeof appSteps
export const appJobs = Object.keys(appSteps) as AppJob[]
export type AppStep = (typeof appSteps)[AppJob]

export const isAppJob = (kind: Job['kind']): kind is AppJob => kind in appSteps

export const stepOfJob = ({ kind }: Job): AppStep | null => (isAppJob(kind) ? appSteps[kind] : null)
