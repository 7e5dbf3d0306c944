import type { EventRow } from './store.ts'

type Kind = EventRow['kind']

/** What people call each kind of event, in the order of the form. */
export const kindNames: Record<Kind, string> = {
  deployment_failed: 'Deployment failed',
  deployment_recovered: 'Deployment works again',
  deployment_succeeded: 'Deployment succeeded',
  deployment_reverted: 'Went back to the version before',
  crash_loop: 'Keeps crashing',
  out_of_memory: 'Ran out of memory',
  unhealthy: 'Unhealthy',
  schedule_failed: 'Scheduled command failed',
  backup_failed: 'Backup failed',
  backup_overdue: 'Backup overdue',
  backup_unproven: 'Backup can’t be restored or tested',
  certificate_failing: 'Certificate isn’t renewed',
  login_new: 'Login from a new browser',
  token_created: 'API token created',
  disk_low: 'Server: disk almost full',
  memory_low: 'Server: memory almost used up',
  server_away: 'Server: another one is away',
  davit_version: 'Server: new version of Davit',
  admin_granted: 'Server: new admin',
  account_mail_failed: 'Server: invitation or password reset not mailed',
}

export const serverKinds: readonly Kind[] = [
  'disk_low',
  'memory_low',
  'server_away',
  'davit_version',
  'admin_granted',
  'account_mail_failed',
]

/** Ticked in a new channel: all that someone may have to do something about, and its end. */
export const usualKinds = (Object.keys(kindNames) as Kind[]).filter(
  (kind) => kind !== 'deployment_succeeded',
)
