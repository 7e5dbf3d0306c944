/** Every recorded action, phrased to stand between the actor's and the object's name. */
export const actions = {
  'login.succeeded': 'logged in',
  'login.failed': 'failed to log in',
  logout: 'logged out',
  'session.ended': 'ended a session on',
  'sessions.ended': 'ended all other sessions',

  'user.registered': 'registered',
  'user.promoted': 'made an admin of',
  'user.demoted': 'made a member of',
  'user.disabled': 'disabled',
  'user.enabled': 'enabled',
  'user.deleted': 'deleted the user',
  'profile.changed': 'changed the name to',
  'email.changed': 'changed the e-mail address to',
  'password.changed': 'changed the password',
  'password.reset': 'reset the password of',
  'identity.linked': 'linked the account',
  'identity.unlinked': 'unlinked the account',
  'invite.created': 'created an invitation',
  'invite.revoked': 'revoked an invitation',
  'token.created': 'created the API token',
  'token.revoked': 'revoked the API token',
  'device.allowed': 'logged in the computer',

  'source.added': 'added the git source',
  'source.changed': 'changed the git source',
  'source.removed': 'removed the git source',
  'registry.added': 'added the registry',
  'registry.changed': 'changed the login of the registry',
  'registry.removed': 'removed the registry',
  'server.added': 'added the server',
  'server.expected': 'made a code for a server',
  'server.withdrawn': 'withdrew the code for a server',
  'server.changed': 'changed the server',
  'server.drain': 'drained the server',
  'server.activate': 'activated the server',
  'server.removed': 'removed the server',
  'target.added': 'added the backup target',
  'target.changed': 'changed the backup target',
  'target.test': 'tested the backup target',
  'target.removed': 'removed the backup target',
  'channel.added': 'added the channel',
  'channel.changed': 'changed the channel',
  'channel.test': 'sent a test to the channel',
  'channel.removed': 'removed the channel',
  'event.sent': 'sent again',
  'webhook.registered': 'registered the webhook of',
  'webhook.removed': 'removed the webhook of',
  'webhook.secret_shown': 'viewed the webhook secret of',
  'webhook.secret_changed': 'changed the webhook secret of',
  'image.checked': 'checked for a new image of',
  'delivery.replayed': 'replayed a delivery to',

  'project.created': 'created the project',
  'project.changed': 'changed the project',
  'project.deleted': 'deleted the project',
  'previews.changed': 'changed the previews of',
  'preview.approved': 'approved a commit of a fork in',
  'deployment.planned': 'planned a deployment to',
  'deployment.unplanned': 'cancelled the planned deployment to',
  'freeze.created': 'created the freeze',
  'freeze.changed': 'changed the freeze',
  'freeze.removed': 'ended the freeze',
  'environment.created': 'created the environment',
  'environment.changed': 'changed the environment',
  'environment.deleted': 'deleted the environment',
  'environment.started': 'started the environment',
  'environment.restarted': 'restarted the environment',
  'environment.moved': 'moved to another server the environment',
  'environment.left_deleted': 'deleted what a move left of the environment',
  'environment.stopped': 'stopped the environment',
  'environment.cancelled': 'cancelled a start or stop of the environment',
  'variable.created': 'set the variable',
  'variable.changed': 'changed the variable',
  'variable.deleted': 'deleted the variable',
  'link.created': 'linked the service',
  'link.changed': 'changed the link to the service',
  'link.deleted': 'removed the link to the service',
  'domain.added': 'added the domain',
  'domain.changed': 'changed the domain',
  'domain.deleted': 'deleted the domain',
  'domain.checked': 'checked the domain',
  'deployment.triggered': 'deployed',
  'deployment.rolled_back': 'rolled back',
  'deployment.promoted': 'promoted a version in',
  'deployment.share_promoted': 'gave all requests to a deployment of',
  'deployment.cancelled': 'cancelled a deployment of',
  'deployment.kept': 'ended the watch of a deployment of',
  'run.started': 'ran a command in',
  'run.cancelled': 'cancelled a command in',
  'run.attached': 'attached to a command in',
  'run.detached': 'detached from a command in',
  'schedule.created': 'created the schedule',
  'schedule.changed': 'changed the schedule',
  'schedule.run': 'ran the schedule',
  'schedule.deleted': 'deleted the schedule',
  'drain.created': 'created the log drain',
  'drain.changed': 'changed the log drain',
  'drain.test': 'tested the log drain',
  'drain.deleted': 'deleted the log drain',
  'service.created': 'created the service',
  'service.changed': 'changed the service',
  'service.restarted': 'restarted the service',
  'service.stopped': 'stopped the service',
  'service.moved': 'moved to another server the service',
  'service.left_deleted': 'deleted what a move left of the service',
  'service.cancelled': 'cancelled a start of the service',
  'service.deleted': 'deleted the service',
  'service.secrets_shown': 'viewed the secrets of the service',
  'service.allowed': 'allowed host access for the service',
  'service.disallowed': 'revoked host access of the service',
  'backup.started': 'backed up',
  'backup.cancelled': 'cancelled a backup of',
  'backup.proved': 'tested a backup of',
  'backup.downloaded': 'downloaded a backup of',
  'backup.restored': 'restored a backup of',
  'backup.deleted': 'deleted a backup of',
  'backups.planned': 'planned the backups of',
  'backups.unplanned': 'removed the backup plan of',
  'container.stopped': 'stopped the container',
  'container.restarted': 'restarted the container',
  'terminal.opened': 'opened a terminal in the container',
  'terminal.closed': 'closed a terminal in the container',
  'engine.pruned': 'cleaned up Docker',
  'clean_up.cancelled': 'cancelled the clean-up',
  'clean_up.scheduled': 'scheduled the daily clean-up',
} as const

export type Action = keyof typeof actions

export const actionNames = Object.keys(actions) as Action[]

export type ObjectKind =
  | 'user'
  | 'session'
  | 'identity'
  | 'invite'
  | 'token'
  | 'device'
  | 'source'
  | 'registry'
  | 'server'
  | 'target'
  | 'channel'
  | 'event'
  | 'delivery'
  | 'project'
  | 'environment'
  | 'variable'
  | 'link'
  | 'domain'
  | 'deployment'
  | 'run'
  | 'schedule'
  | 'freeze'
  | 'drain'
  | 'service'
  | 'container'
  | 'backup'
